"""``storage-matrix run``: the flow in this process, with a Prefect API of its own where the user has none."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.model import CellResult, Request, Verdict
from experiments.targets import Secrets
from flows.engine import Engine, Watcher
from flows.outcome import exit_code
from flows.prefect_api import TemporaryApi, configured_api, settle_environment

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from flows.asking import Ask
    from warehouse.publishing import Publication


@dataclass(frozen=True)
class Finished:
    """What a run leaves behind. ``database`` holds this run alone; ``timings`` are wall seconds by phase."""

    run_id: str
    exit_code: int
    results: list[CellResult]
    verdicts: list[Verdict]
    report: Path
    publication: Publication
    timings: dict[str, float]
    database: DuckDBPyConnection


def run(ask: Ask, request: Request, home: Path, secrets: Secrets, watcher: Watcher) -> Finished:
    """Run ``request`` (what ``ask`` means here) as a Prefect flow.

    Prefect's API takes ten seconds and more to start; the servers start and the rows are made meanwhile.
    Raises ``UserError`` where a target is out of reach, and ``KeyboardInterrupt`` once finished cells are safe.
    """
    settle_environment(home)
    engine = Engine(request, home, secrets, watcher)
    with ExitStack() as stack:
        api = None if configured_api() else stack.enter_context(TemporaryApi())
        stack.callback(engine.close)
        engine.open()
        watcher.phase("starting Prefect")
        with engine.timings.of("prefect_start"):
            from flows import storage_matrix  # noqa: F401  (the import is what takes the time)

            if api is not None:
                api.wait()
        _flow(engine, ask)
    return Finished(
        engine.ledger.run_id,
        exit_code(engine.results, engine.verdicts),
        engine.results,
        engine.verdicts,
        engine.report,
        engine.publication,
        engine.timings.seconds,
        engine.database,
    )


def _flow(engine: Engine, ask: Ask) -> None:
    """The flow with ``ask`` as its parameters: names and numbers, and of a target on the command line only its name."""
    from flows import storage_matrix

    storage_matrix.ENGINE.set(engine)
    parameters = {
        "targets": tuple(target.name for target in engine.request.targets),
        "profile": engine.request.profile,
        "sets": tuple(ask.sets),
        "only": tuple(ask.only),
        "repeats": engine.request.repeats,
        "seed": engine.request.seed,
        "timeout": engine.request.timeout,
        "home": str(engine.home),
    }
    if ask.experiment == "storage_matrix":
        state = storage_matrix.flow(**parameters, return_state=True)
    else:
        state = storage_matrix.experiment(ask.experiment, **parameters, return_state=True)
    error = state.result(raise_on_failure=False)
    if isinstance(error, BaseException) and not isinstance(error, storage_matrix.RunEnded):
        raise error
