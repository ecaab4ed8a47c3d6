"""One run from its targets' start to its report, in the order in which things happen; knows nothing of Prefect."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from experiments.matrix import expand
from experiments.model import Block, Cell, CellResult, Matrix, Request, UserError, Verdict
from experiments.targets import Secrets
from flows.home import report_file
from flows.planning import check_disk
from tasks.block import BlockRun
from tasks.errors import ServerGone, StatementFailed
from tasks.launchers.place import Place
from tasks.launchers.registry import acquire
from tasks.launchers.server import Owner
from tasks.target_run import TargetRun
from warehouse.ledger import RunLedger, RunStatus

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from warehouse.publishing import Publication


class Watcher(Protocol):
    """Who is told how the run goes: the terminal, or Prefect's log."""

    def phase(self, text: str) -> None: ...

    def planned(self, cells: int) -> None: ...

    def measuring(self, cell: Cell) -> None: ...

    def measured(self, result: CellResult) -> None: ...


@dataclass
class Timings:
    """Wall seconds by phase of the run."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def of(self, phase: str) -> Iterator[None]:
        """Add what passes inside to ``phase``."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - started


def side_by_side(works: Sequence[Callable[[], None]], cancel: Callable[[], None]) -> None:
    """Do all ``works`` at once, a single one in this thread; an error in one, or an interrupt, cancels the others."""
    if len(works) == 1:
        works[0]()
        return
    with ThreadPoolExecutor(len(works)) as pool:
        futures = [pool.submit(copy_context().run, work) for work in works]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:
            cancel()
            raise


@contextmanager
def reached(target: str, doing: str) -> Iterator[None]:
    """A server that dies before the first cell is out of reach."""
    try:
        yield
    except ServerGone as error:
        raise UserError(f'target "{target}": {doing}: the server died: {error}', exit_code=4) from None
    except StatementFailed as error:
        raise UserError(f'target "{target}": {doing}: {error}', exit_code=4) from None


class Engine:
    """The state of one run: ``open``, ``run``, ``close``, ``finish``; ``close`` in every case."""

    def __init__(self, request: Request, home: Path, secrets: Secrets, watcher: Watcher) -> None:
        self.request = request
        self.home = home
        self.secrets = secrets
        self.watcher = watcher
        self.timings = Timings()
        self.matrix = Matrix((), ())
        self.report: Path
        self.database: DuckDBPyConnection
        self.publication: Publication
        self.results: list[CellResult] = []
        self.verdicts: list[Verdict] = []
        self._targets: dict[str, TargetRun] = {}
        self._seen: dict[str, tuple[str, str]] = {}
        self._ledger: RunLedger | None = None
        self._running: dict[str, BlockRun] = {}
        self._is_cancelled = False

    @property
    def ledger(self) -> RunLedger:
        """The run's ledger; there is one from ``open`` on."""
        assert self._ledger is not None
        return self._ledger

    def open(self) -> None:
        """Start or reach every target, find out what it supports, plan, and make the rows."""
        with self.timings.of("set_up"):
            self._reach_targets()
            dialects = {name: run.dialect for name, run in self._targets.items()}
            self.matrix = expand(self.request, dialects)
            free = {name: run.server.free_bytes() for name, run in self._targets.items()}
            check_disk(self.request, self.matrix, free)
            lineages = {name: dialect.lineage for name, dialect in dialects.items()}
            self._ledger = RunLedger.create(self.home, self.request, self.matrix, lineages)
            for run in self._targets.values():
                self.watcher.phase(f"making the rows on {run.target.name}")
                run.note_environment = partial(self._note_environment, run)
                with reached(run.target.name, "making the rows"):
                    self._make_rows(run)

    def _make_rows(self, run: TargetRun) -> None:
        """Twice at most, as with a block; if the server dies both times, no cell of this target can run."""
        for _ in (1, 2):
            try:
                run.make_rows(self.request.experiment, self.request.parameters)
                run.note_environment()
                return
            except ServerGone as gone:
                reason = gone
            self._revive(run)
            if run.failure is not None:
                return
            run.make_room()
        run.failure = StatementFailed(f"making the rows: the server died: {reason}")

    def _note_environment(self, run: TargetRun) -> None:
        """From here on its cells are measured in this environment; other settings make another one."""
        run.environment_id = self.ledger.write_environment(run.target.name, run.environment())

    def _reach_targets(self) -> None:
        place = Place.of(self.home, os.environ)
        for target in self.request.targets:
            self.watcher.phase(f"reaching {target.name}")
            server = acquire(target, place, Owner.run(), secrets=self.secrets)
            try:
                with reached(target.name, "looking at what it supports"):
                    self._targets[target.name] = TargetRun(target, server, self.request.timeout, self.home / "data")
            except BaseException:
                server.close()
                raise

    def blocks(self) -> list[Block]:
        """The blocks in the order in which they run: shuffled by the order seed."""
        blocks = list(self.matrix.blocks)
        random.Random(self.request.seed).shuffle(blocks)
        return blocks

    def run(self, measure: Callable[[Cell], object]) -> None:
        """Have every cell measured by ``measure``, which calls ``measure_cell`` inside a Prefect task.

        One cell at a time on a host; other hosts are at work meanwhile, each in a thread of its own.
        """
        hosts: dict[str, list[Block]] = {}
        for block in self.blocks():
            hosts.setdefault(self._targets[block.target].server.host, []).append(block)
        works = [partial(self._run_blocks, blocks, measure) for blocks in hosts.values()]
        with Place.of(self.home, os.environ).host_alone(self._wait):
            self.watcher.planned(sum(len(block.cells) for block in self.matrix.blocks))
            with self.timings.of("cells"):
                side_by_side(works, self._cancel)

    def _wait(self, holder: str) -> None:
        self.watcher.phase(f"waiting for the end of the cells of {holder}: this host measures one cell at a time")

    def _run_blocks(self, blocks: list[Block], measure: Callable[[Cell], object]) -> None:
        for block in blocks:
            if not self._is_cancelled:
                self._run_block(block, measure)

    def _cancel(self) -> None:
        """What runs on any host ends now, and nothing more begins."""
        self._is_cancelled = True
        for running in list(self._running.values()):
            running.cancel()

    def _run_block(self, block: Block, measure: Callable[[Cell], object]) -> None:
        """Two passes at most: the second, on a fresh load, for what a dying server left undone."""
        undone = block.cells
        for attempt in (1, 2):
            undone = self._pass(block, undone, attempt, measure)
            if not undone:
                return

    def _pass(
        self, block: Block, cells: tuple[Cell, ...], attempt: int, measure: Callable[[Cell], object]
    ) -> tuple[Cell, ...]:
        """Measure ``cells`` in order; those that the server's death left undone come back from the first pass."""
        target = self._targets[block.target]
        is_reload = attempt > 1 and cells[0] is not block.cells[0]
        running = BlockRun(self.request.experiment, block, target, self._seen, attempt, is_reload=is_reload)
        self._running[block.target] = running
        running.settle()
        undone: tuple[Cell, ...] = ()
        for position, cell in enumerate(cells):
            if self._is_cancelled:
                break
            self.watcher.measuring(cell)
            started = time.perf_counter()
            measure(cell)
            if cell.role == "noop":
                self.timings.seconds["noop_cell"] = time.perf_counter() - started
            if running.server_gone and attempt == 1:
                undone = cells[position:]
                break
        if not running.server_gone:
            running.close()
        if running.server_gone:
            self._revive(target)
            running.close()
        del self._running[block.target]
        return undone

    def _revive(self, target: TargetRun) -> None:
        self.watcher.phase(f"the server of {target.target.name} died; bringing it back")
        try:
            target.server.revive()
            target.reconnect()
        except (UserError, StatementFailed, ServerGone) as error:
            target.failure = StatementFailed(f"the server did not come back: {error}", None)

    def cell(self, cell_id: str) -> Cell:
        """The planned cell of that id, which names its target too, in a block that runs now."""
        running = [cell for one in list(self._running.values()) for cell in one.block.cells]
        return next(cell for cell in running if cell.cell_id == cell_id)

    def measure_cell(self, cell: Cell) -> CellResult:
        """Measure the cell and write it to the ledger: the body of the Prefect task."""
        return self._running[cell.target].measure(cell, self.request.repeats, self._keep)

    def _keep(self, result: CellResult) -> None:
        self.ledger.write_cell(result)
        self.results.append(result)
        self.watcher.measured(result)

    def close(self) -> None:
        """Leave every target: run-owned servers stop, our schema goes."""
        while self._targets:
            self._targets.popitem()[1].close()

    def finish(self, *, interrupted: bool = False) -> None:
        """Judge, close the ledger, report and publish. An interrupted run is not judged: it promised more."""
        from warehouse.publishing import publish

        if not interrupted:
            self._judge()
        self.ledger.finish(self._status(interrupted), self.timings.seconds)
        self._report()
        self.watcher.phase("publishing the warehouse")
        with self.timings.of("publish"):
            self.publication = publish(self.home)

    def _judge(self) -> None:
        from warehouse.expectations import judge
        from warehouse.loading import run_database

        self.watcher.phase("loading the results")
        with self.timings.of("load"):
            connection = run_database(self.ledger.directory)
        self.watcher.phase("judging")
        with self.timings.of("expectations"):
            run = self.ledger.run()
            self.verdicts = judge(connection, run.expectations, run.frames)
        connection.close()
        self.ledger.write_verdicts(self.verdicts)

    def _report(self) -> None:
        from warehouse.loading import run_database
        from warehouse.report import write_report

        self.watcher.phase("writing the report")
        with self.timings.of("report"):
            self.database = run_database(self.ledger.directory)
            self.report = write_report(self.database, report_file(self.home, self.ledger.run_id))

    def _status(self, interrupted: bool) -> RunStatus:
        if interrupted:
            return "interrupted"
        return "failed" if any(result.status in ("failed", "timeout") for result in self.results) else "ok"
