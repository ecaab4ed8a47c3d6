"""The Prefect flows: ``storage-matrix`` for the study's matrix, ``experiment`` for any; a task measures each cell."""

from __future__ import annotations

import os
from contextvars import ContextVar

from prefect import flow as prefect_flow
from prefect import get_run_logger, task
from prefect.artifacts import create_link_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE

from experiments.model import Cell, CellResult
from flows.asking import DEFAULT_TARGETS, Ask, home_of_worker, resolve
from flows.ending import sigterm_interrupts
from flows.engine import Engine
from flows.outcome import exit_code
from flows.planning import prepare
from flows.words import cell_in_words
from tasks.launchers.place import Place
from tasks.launchers.reaping import reap_orphans

# The engine of the run at hand: put there by the command line, which opens it while Prefect's API starts, or by the
# flow itself under a worker. Nothing but names and numbers may be a Prefect parameter.
ENGINE: ContextVar[Engine] = ContextVar("ENGINE")


class CellEnded(Exception):
    """A cell that did not end well, as its task's failure; the ledger has the whole story."""


class RunEnded(Exception):
    """A run that did not end well, as its flow's failure."""


@task(name="measure-cell", task_run_name="{label}", cache_policy=NO_CACHE, persist_result=False, retries=0)
def measure_cell(label: str, cell_id: str) -> str:
    """Measure one cell. Cancelling the task cancels its statement on the server."""
    engine = ENGINE.get()
    result = engine.measure_cell(engine.cell(cell_id))
    if result.status not in ("ok", "unsupported"):
        raise CellEnded(f"{result.status}: {result.reason}")
    return result.status


@task(name="ready", tags=["ready"], cache_policy=NO_CACHE, persist_result=False)
def _ready() -> None:
    """Nothing: the first task with a tag takes Prefect 0.5 s in each process, which is not to fall on a cell."""


def _measure(cell: Cell) -> None:
    """One task run. A cell that ends badly is a state, and the next cell goes on; a fault of ours ends the run."""
    tagged = measure_cell.with_options(tags=[cell.target, cell.dialect, cell.role])
    state = tagged(cell_in_words(cell), cell.cell_id, return_state=True)
    if not state.is_completed():
        error = state.result(raise_on_failure=False)
        if not isinstance(error, CellEnded):
            raise error if isinstance(error, BaseException) else RunEnded(f"{cell_in_words(cell)}: {state}")


def _run(ask: Ask, home: str | None) -> str:
    with sigterm_interrupts():
        return _measured(ask, home)


def _measured(ask: Ask, home: str | None) -> str:
    engine = ENGINE.get(None) or _open(ask, home)
    interrupted = True
    try:
        with engine.timings.of("prefect_start"):
            _ready()
        engine.run(_measure)
        interrupted = False
    finally:
        # Servers stop before anything is judged: nothing of ours competes with a measured step on a shared host.
        engine.close()
        engine.finish(interrupted=interrupted)
    _leave_artifacts(engine)
    code = exit_code(engine.results, engine.verdicts)
    if code:
        raise RunEnded(f"run {engine.ledger.run_id} ended with {code}; its report is {engine.report}")
    return engine.ledger.run_id


def _open(ask: Ask, home: str | None) -> Engine:
    """An engine of the flow's own, under a worker."""
    folder = home_of_worker(home)
    request, secrets = resolve(ask, folder, os.environ)
    prepare(request, folder)
    for sentence in reap_orphans(Place.of(folder, os.environ)):
        get_run_logger().warning(sentence)
    engine = Engine(request, folder, secrets, LogWatcher())
    try:
        engine.open()
    except BaseException:
        engine.close()
        raise
    ENGINE.set(engine)
    return engine


class LogWatcher:
    """Tells Prefect's log of the flow run how the run goes."""

    def phase(self, text: str) -> None:
        get_run_logger().info(text)

    def planned(self, cells: int) -> None:
        get_run_logger().info("%d cells to measure", cells)

    def measuring(self, cell: Cell) -> None:
        """Nothing: the task run that begins says it."""

    def measured(self, result: CellResult) -> None:
        if result.status != "ok":
            get_run_logger().warning("%s: %s: %s", cell_in_words(result.cell), result.status, result.reason)


def _leave_artifacts(engine: Engine) -> None:
    """The result table, the verdicts and where the report is, for people who look at Prefect's pages."""
    name = engine.request.experiment.name.replace("_", "-")
    cursor = engine.database.execute("select * exclude (run_id, levels, block_id, cell_id) from storage_matrix")
    columns = [column[0] for column in cursor.description or ()]
    results = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    create_table_artifact(results, key=f"{name}-results", description="One row per block and index level")
    verdicts = [{"claim": v.claim, "outcome": v.outcome, "observed": v.observed} for v in engine.verdicts]
    create_table_artifact(verdicts, key=f"{name}-verdicts", description="What the expectations said")
    create_link_artifact(engine.report.as_uri(), link_text="Report", key=f"{name}-report")


@prefect_flow(name="experiment", validate_parameters=True)
def experiment(
    experiment: str,
    targets: tuple[str, ...] = DEFAULT_TARGETS,
    profile: str | None = None,
    sets: tuple[str, ...] = (),
    only: tuple[str, ...] = (),
    repeats: int | None = None,
    seed: int | None = None,
    timeout: float | None = None,
    home: str | None = None,
) -> str:
    """Run any experiment; the parameters are the options of ``storage-matrix run``. Returns the run's id."""
    return _run(Ask(experiment, targets, profile, sets, only, repeats, seed, timeout), home)


@prefect_flow(name="storage-matrix", validate_parameters=True)
def flow(
    targets: tuple[str, ...] = DEFAULT_TARGETS,
    profile: str | None = None,
    sets: tuple[str, ...] = (),
    only: tuple[str, ...] = (),
    repeats: int | None = None,
    seed: int | None = None,
    timeout: float | None = None,
    home: str | None = None,
) -> str:
    """Run the experiment ``storage_matrix``; parameters as of ``experiment``. Returns the run's id."""
    return _run(Ask("storage_matrix", targets, profile, sets, only, repeats, seed, timeout), home)
