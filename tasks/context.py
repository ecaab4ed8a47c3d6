"""What a step sees of its cell: SQL to render, a session to run it on, and a place for its measurements."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from experiments.metrics import METRICS
from experiments.model import Cell, Experiment, Measurement, Plan, Status, Step
from experiments.sqlfiles import rendered_sql
from experiments.steps import option_in
from tasks.errors import StatementFailed
from tasks.meters import metered

if TYPE_CHECKING:
    from tasks.datafiles import RowFile
    from tasks.dialects.dialect import Dialect
    from tasks.launchers.server import Server
    from tasks.session import Session
    from tasks.target_run import TargetRun


class CellFailed(Exception):
    """The cell broke one of our own rules (wrong storage, wrong rows); the message says which."""


IDLE_WAL_SHARE = 0.01


class Counted(TypedDict):
    """Which repetition and which round of a series a cost belongs to."""

    repetition: int
    round: int | None


WalPositions = dict[str | None, tuple[float, float | None]]


@dataclass
class SeriesState:
    """Where a cell is in its series: the round that runs, the next one, and how often it has done what it does.

    ``changed`` is the step whose change of the rows is still to be checked.
    """

    round: int | None = None
    next_round: int = 0
    turn: int = 1
    changed: Step | None = None

    @property
    def placeholders(self) -> dict[str, object]:
        """What SQL of a step in a series may name."""
        return {} if self.round is None else {"round": self.round, "turn": self.turn}


class CellUnsupported(Exception):
    """This target cannot run the cell, as only the running of it could tell; the message has the server's reason."""


def now() -> str:
    """The time of day as the ledger writes it."""
    return datetime.now(UTC).isoformat()


@dataclass
class CellContext:
    """One attempt at one cell.

    ``seen`` is the run's memory of digests (name -> digest and who made it first); ``indexes`` names the indexes that
    the block's table carries, ``undo`` has statements for the end of the block that take back what steps made beside
    the table; ``repeats`` overrides what query steps declare.
    """

    experiment: Experiment
    cell: Cell
    target: TargetRun
    table: str
    values: Mapping[str, object]
    repeats: int | None
    seen: dict[str, tuple[str, str]]
    indexes: list[str]
    files: Mapping[str, RowFile] = field(default_factory=dict)
    measurements: list[Measurement] = field(default_factory=list)
    plans: list[Plan] = field(default_factory=list)
    undo: list[str] = field(default_factory=list)
    series: SeriesState = field(default_factory=SeriesState)

    @property
    def dialect(self) -> Dialect:
        """The target's dialect, as probed."""
        return self.target.dialect

    @property
    def session(self) -> Session:
        """The target's session; another one after a restart."""
        return self.target.session

    @property
    def server(self) -> Server:
        """The target's server."""
        return self.target.server

    def step_sql(self, step: Step) -> str:
        """The SQL file of a step, rendered; the step's own options may stand in it too."""
        return self.sql(step.options["sql"], {**step.options, **self.series.placeholders})

    def option(self, step: Step, key: str) -> Any:
        """An option of a step; where it names a factor or parameter, the value in this cell."""
        return option_in(step, key, self.values)

    def sql(self, name: str, options: Mapping[str, object] | None = None) -> str:
        """The experiment's SQL file of that name, for this dialect, rendered for this cell."""
        return rendered_sql(self.experiment, name, self.dialect.lineage, {**self.values, **(options or {})})

    def file(self, name: str | None) -> RowFile:
        """A file of the experiment; the only one for None."""
        return self.files[name] if name is not None else next(iter(self.files.values()))

    def record(
        self,
        step: str,
        metric: str,
        value: float | None,
        method: str,
        *,
        repetition: int = 1,
        round: int | None = None,
        is_warmup: bool = False,
        clock: Literal["client", "server"] | None = None,
        node: str | None = None,
        text: str | None = None,
        status: Status = "ok",
        reason: str | None = None,
    ) -> None:
        """Keep one measurement, in the round that runs."""
        unit = METRICS[metric].unit
        measurement = Measurement(
            step, metric, unit, None if value is None else float(value), method, now(), repetition,
            self.series.round if round is None else round, is_warmup, clock, node, text, status, reason,
        )  # fmt: skip
        self.measurements.append(measurement)

    def take_indexes(self) -> list[str]:
        """The names of the indexes on the block's table, which the caller now drops."""
        taken = list(self.indexes)
        self.indexes.clear()
        return taken

    @property
    def checkpointed(self) -> str:
        """What the method of a durable time says: through what checkpoint, or why there is none."""
        return self.target.no_checkpoint or (
            "checkpoint of all nodes at once" if self.server.node_urls else "checkpoint"
        )

    def checkpoint(self) -> float:
        """Make the server write everything out; the seconds it took, 0 where it is not ours to checkpoint."""
        if self.target.no_checkpoint:
            return 0.0
        begun, hinted = time.perf_counter(), self.session.is_hinted
        try:
            self.session.on_each_node(self.dialect.checkpoint_sql(self.table))
        except StatementFailed as error:
            if not self.dialect.is_stumble(str(error)):
                raise
            self.session.on_each_node(self.dialect.checkpoint_sql(self.table))
        self.session.is_settled, self.session.is_hinted = True, hinted
        return time.perf_counter() - begun

    def settle(self) -> None:
        """A checkpoint before the clock starts, unless nothing was changed since the last one."""
        if not self.session.is_settled:
            self.checkpoint()

    @contextmanager
    def scanning(self, *, all_rows: bool = False) -> Iterator[None]:
        """Reads of the block's table. They give changed rows their hint bits, which leaves pages to be written."""
        session = self.session
        with session.lightly():
            yield
        if not session.is_hinted and self.dialect.has_hint_bits(self.cell.levels):
            session.is_settled, session.is_hinted = False, all_rows

    @contextmanager
    def costs(self, step: str, repetition: int = 1, round: int | None = None) -> Iterator[None]:
        """Record WAL, CPU and bytes of what runs inside, as costs of ``step``."""
        before, undo = self._wal_positions(), self._undo()
        with metered(self.target.processes) as reading:
            yield
        counted: Counted = {"repetition": repetition, "round": round}
        if undo is not None:
            self.record(step, "undo_bytes", _less(self._undo(), undo), "undo inserted, after less before", **counted)
        self._record_wal(step, before, self._wal_positions(), counted)
        usage = reading.usage
        method, unseen = "the server's processes, /proc", None
        if usage.cpu_seconds is None:
            unseen = "the server's processes, or some of them, cannot be seen"
        self.record(step, "cpu_time", usage.cpu_seconds, method, reason=unseen, **counted)
        self.record(step, "read_bytes", usage.read_bytes, method, reason=unseen, **counted)
        self.record(step, "write_bytes", usage.write_bytes, method, reason=unseen, **counted)

    def _record_wal(self, step: str, before: WalPositions, after: WalPositions, counted: Counted) -> None:
        nodes = {node: (after[node][0] - before[node][0], _less(after[node][1], before[node][1])) for node in after}
        if nodes and None not in nodes:
            nodes[None] = (sum(wal for wal, _ in nodes.values()), None)
        for node, (wal, images) in nodes.items():
            self.record(step, "wal_bytes", wal, "insert LSN, after less before", node=node, **counted)
            if images is not None:
                method = "pg_stat_wal, after less before"
                self.record(step, "wal_full_page_images", images, method, node=node, **counted)

    def judge_wal(self, step: str, seconds: float, repetition: int = 1) -> None:
        """Say of a load's WAL what makes it doubtful: none at all, or much that the idle server would have written."""
        judged = (step, "wal_bytes", None, repetition)
        for n, measurement in enumerate(self.measurements):
            if (measurement.step, measurement.metric, measurement.node, measurement.repetition) == judged:
                self.measurements[n] = replace(measurement, reason=self._wal_doubt(measurement.value or 0.0, seconds))

    def _wal_doubt(self, wal: float, seconds: float) -> str | None:
        if wal == 0:
            return self.dialect.zero_wal_reason(self.cell.levels) or "no WAL for a logged load: not to be believed"
        idle = (self.target.idle_wal or 0.0) * seconds
        return f"of it the idle server would have written {idle / wal:.0%}" if idle > IDLE_WAL_SHARE * wal else None

    def _undo(self) -> float | None:
        statement = self.dialect.undo_sql()
        if statement is None:
            return None
        with self.session.lightly():
            return float(self.session.value(statement))

    def _wal_positions(self) -> WalPositions:
        statement = self.dialect.wal_sql()
        if statement is None:
            return {}
        with self.session.lightly():
            if (flush := self.dialect.wal_flush_sql()) is not None:
                self.session.execute(flush)
            return {node: (float(position), images) for node, position, images in self.session.rows(statement)}


def _less(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else float(after - before)
