"""Run the cells of a block on one loaded table, and say honestly what became of each."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from experiments.matrix import owned_steps, step_is_for
from experiments.model import Block, Cell, CellResult, Experiment, Status, Step, UserError
from experiments.settings import settings_of
from tasks import canary
from tasks.context import CellContext, CellFailed, CellUnsupported, now
from tasks.errors import ServerGone, StatementFailed, StatementTimeout
from tasks.launchers.server import SettingsRefused
from tasks.steps.registry import runner, unmet
from tasks.target_run import TargetRun, place_levels


class End(NamedTuple):
    """How a cell ended."""

    status: Status
    reason: str | None = None
    sqlstate: str | None = None


INTERRUPTED = End("cancelled", "interrupted")


class BlockRun:
    """One pass over a block. ``server_gone`` is set when the server died under it: the caller brings it back.

    ``is_reload`` where the pass before has kept what loading costs.
    """

    def __init__(
        self,
        experiment: Experiment,
        block: Block,
        target: TargetRun,
        seen: dict[str, tuple[str, str]],
        attempt: int,
        *,
        is_reload: bool,
    ) -> None:
        self.experiment = experiment
        self.block = block
        self.target = target
        self.seen = seen
        self.attempt = attempt
        self.server_gone = False
        self._is_reload = is_reload
        self._indexes: list[str] = []
        self._undo: list[str] = []
        self._loaded = False
        self._load_end: End | None = None
        dialect, directory = target.dialect, str(target.server.data_directory)
        self._place = dialect.block_setup(f"b{block.block_id}", directory, block.levels)

    def settle(self) -> None:
        """Have the server run with the settings of the block. Refused, no cell can run."""
        if self.block.cells[0].role == "noop":
            return
        settings = settings_of(self.experiment, self.block.levels, self.target.dialect.lineage)
        try:
            self.target.settle(settings)
        except SettingsRefused as refused:
            self._load_end = End("unsupported", str(refused))
        except ServerGone as gone:
            self.server_gone, self._load_end = True, _end_of(gone)
        except (UserError, StatementFailed) as gone:
            self.target.failure = StatementFailed(str(gone))

    def cancel(self) -> None:
        """From another thread: end what runs now, statement or program, and what the cell would do next."""
        self.target.session.stop()
        if self.target.program is not None:
            self.target.program.terminate()

    def measure(self, cell: Cell, repeats: int | None, keep: Callable[[CellResult], None]) -> CellResult:
        """Run the steps that the cell owns and ``keep`` what came of them, even when a person interrupts."""
        context = self._context(cell, repeats)
        started = now()
        self.target.session.statements.clear()
        try:
            end = self._run(context)
        except KeyboardInterrupt:
            keep(self._result(context, started, INTERRUPTED))
            raise
        result = self._result(context, started, INTERRUPTED if self.target.session.is_stopped else end)
        keep(result)
        return result

    def close(self) -> None:
        """Drop the block's table, and before it what steps made beside it, the last of it first.

        Also where its cells were cancelled: what they left is dropped, but from a server that goes as a whole.
        """
        if self.target.session.is_stopped and self.target.server.is_temporary:
            return
        self.target.session.is_stopped = False
        try:
            for statement in reversed(self._undo):
                with suppress(StatementFailed):
                    self.target.session.execute(statement)
            with suppress(StatementFailed), self.target.session.lightly():
                for statement in self._place.teardown:
                    self.target.session.execute(statement)
        except ServerGone:
            self.server_gone = True
        for file in self._place.files:
            Path(file).unlink(missing_ok=True)

    def _context(self, cell: Cell, repeats: int | None) -> CellContext:
        target = self.target
        names = self.experiment.files if cell.role == "result" else ()
        files = {name: target.file(self.experiment, name, cell.levels) for name in names}
        values = {
            **target.values,
            **{name: str(file.server_path) for name, file in files.items()},
            **place_levels(target.dialect, cell.levels, self._place.table, self.experiment),
        }
        return CellContext(
            self.experiment,
            cell,
            target,
            self._place.table,
            values,
            repeats,
            self.seen,
            self._indexes,
            files,
            undo=self._undo,
        )

    def _run(self, context: CellContext) -> End:
        if self.server_gone:
            return self._load_end or End("failed", "the server died earlier in this block")
        if context.cell.role == "noop":
            return End("ok")
        if self.target.failure is not None:
            return _end_of(self.target.failure)
        if self._load_end is not None:
            return self._load_end
        if not self._loaded:
            self._record_canary(context, "before the block")
        end = self._run_steps(context)
        if context.cell is self.block.cells[-1]:
            self._record_canary(context, "after the block")
        return end

    def _run_steps(self, context: CellContext) -> End:
        loading = not self._loaded
        step = None
        steps = owned_steps(self.experiment, context.cell.levels, self.target.dialect.lineage, loading=loading)
        if loading and (lack := self._lack(context)) is not None:
            return End("unsupported", lack)
        try:
            if loading:
                for file in context.files.values():
                    file.make()
                with self.target.session.lightly():
                    for statement in self._place.setup:
                        self.target.session.execute(statement)
            for step in steps:
                self._run_step(step, context)
        except (CellFailed, CellUnsupported, StatementFailed, ServerGone, UserError) as error:
            self.server_gone = self.target.has_died(error)
            end = _end_of(ServerGone(str(error)) if self.server_gone else error, step)
            # Without its load a block has nothing that a later cell could measure.
            if loading and (step is None or step.at == "load") and not self.server_gone:
                self._load_end = end
            return end
        finally:
            self._loaded = True
        return End("ok")

    def _lack(self, context: CellContext) -> str | None:
        """What the target lacks for a step of the cell, those of its series among them."""
        levels, lineage = context.cell.levels, self.target.dialect.lineage
        steps = (step for step in self.experiment.steps if step_is_for(step, lineage, levels))
        return next(filter(None, (unmet(step, context) for step in steps)), None)

    def _run_step(self, step: Step, context: CellContext) -> None:
        """What an earlier pass has recorded of the load is not recorded again: this one only brings the rows back."""
        measured, planned = len(context.measurements), len(context.plans)
        self.target.session.deadline = time.monotonic() + self.target.timeout
        try:
            runner(step.kind)(step, context)
        finally:
            self.target.session.deadline = None
        if self._is_reload and step.at == "load":
            del context.measurements[measured:], context.plans[planned:]

    def _record_canary(self, context: CellContext, when: str) -> None:
        """What a fixed piece of work takes now: drift over a run means that something else used the host."""
        context.record("canary", "canary_cpu_time", canary.cpu_seconds(), f"SHA-256 of 8 MiB, {when}", clock="client")
        if self.target.server.data_directory is not None and self.target.server.is_ours:
            seconds = canary.disk_seconds(self.target.server.data_directory)
            context.record("canary", "canary_disk_time", seconds, f"1 MiB written and synced, {when}", clock="client")

    def _result(self, context: CellContext, started: str, end: End) -> CellResult:
        return CellResult(
            context.cell,
            end.status,
            started,
            now(),
            self.attempt,
            end.reason,
            end.sqlstate,
            reloaded=self._is_reload,
            environment_id=self.target.environment_id,
            measurements=tuple(context.measurements),
            plans=tuple(context.plans),
            statements=tuple(self.target.session.statements),
        )


def _end_of(error: Exception, step: Step | None = None) -> End:
    where = f"step {step.name}: " if step is not None else ""
    status: Status = "failed"
    if isinstance(error, StatementTimeout):
        status = "timeout"
    elif isinstance(error, CellUnsupported):
        status = "unsupported"
    elif isinstance(error, ServerGone):
        where = f"{where}the server died: "
    return End(status, f"{where}{error}", getattr(error, "sqlstate", None))
