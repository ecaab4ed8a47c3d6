"""Runs of a shipped experiment that nobody measured, and what its expectations say of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path

from experiments.matrix import expand
from experiments.metrics import METRICS
from experiments.model import Cell, CellResult, Measurement, Request, Verdict
from experiments.request import build_request
from experiments.spec import find_experiment
from experiments.targets import load_targets
from tasks.dialects.registry import dialect_named, lineages
from warehouse.expectations import judge
from warehouse.ledger import RunLedger
from warehouse.loading import run_database

MOMENT = "2026-11-30T15:46:00+00:00"
Change = Callable[[list[CellResult]], list[CellResult]]
Measured = Callable[[Cell], Iterator[Measurement]]
Chosen = Callable[[Cell, Measurement], bool]


def shipped_request(
    experiment: str, home: Path, profile: str | None = None, targets: Collection[str] = ("embedded",)
) -> Request:
    """A request for a shipped experiment, on embedded PostgreSQL if nothing else is named."""
    dialects = lineages()
    picked = load_targets(home, os.environ, (), dialects).pick(targets)
    return build_request(find_experiment(experiment, home, dialects), picked, profile, seed=1)


def judged_one(request: Request, home: Path, measured: Measured, change: Change, name: str) -> Verdict:
    """The verdict of one expectation; the others would only take time."""
    return judged(request, home, measured, change, (name,))[name]


def judged(
    request: Request, home: Path, measured: Measured, change: Change, only: Collection[str] = ()
) -> dict[str, Verdict]:
    """The verdicts, by name, on a run in which each cell gave what ``measured`` says, after ``change``."""
    dialects = {target.name: dialect_named(target.dialect) for target in request.targets}
    matrix = expand(request, dialects)
    ledger = RunLedger.create(home, request, matrix, {name: dialect.lineage for name, dialect in dialects.items()})
    good = [
        CellResult(cell, "ok", MOMENT, MOMENT, measurements=tuple(measured(cell)) if cell.role == "result" else ())
        for block in matrix.blocks
        for cell in block.cells
    ]
    for kept in change(good):
        ledger.write_cell(kept)
    run = ledger.run()
    with run_database(ledger.directory) as database:
        wanted = [expectation for expectation in run.expectations if not only or expectation.name in only]
        return {verdict.expectation: verdict for verdict in judge(database, wanted, run.frames)}


def one(step: str, metric: str, value: float | None, **more: object) -> Measurement:
    """A measurement in the metric's own unit."""
    return Measurement(step, metric, METRICS[metric].unit, value, "synthetic", MOMENT, **more)  # type: ignore[arg-type]


def as_it_is(results: list[CellResult]) -> list[CellResult]:
    """Nothing changed."""
    return results


def times(factor: float, chosen: Chosen) -> Change:
    """The chosen values times ``factor``."""
    return _each(chosen, lambda found: replace(found, value=(found.value or 0.0) * factor))


def put(value: float | None, chosen: Chosen, text: str | None = None) -> Change:
    """``value`` and ``text`` in the place of the chosen ones."""
    return _each(chosen, lambda found: replace(found, value=value, text_value=text))


def without(chosen: Chosen) -> Change:
    """The chosen measurements were never taken."""
    return _each(chosen, lambda found: None)


def _each(chosen: Chosen, changed: Callable[[Measurement], Measurement | None]) -> Change:
    def change(results: list[CellResult]) -> list[CellResult]:
        return [replace(result, measurements=tuple(_of(result))) for result in results]

    def _of(result: CellResult) -> Iterator[Measurement]:
        for found in result.measurements:
            kept = changed(found) if chosen(result.cell, found) else found
            if kept is not None:
                yield kept

    return change


def in_one_cell(metric: str, change: Change) -> Change:
    """Nothing but the last cell that has ``metric`` changes."""

    def changed(results: list[CellResult]) -> list[CellResult]:
        last = max(n for n, result in enumerate(results) if any(m.metric == metric for m in result.measurements))
        return [*results[:last], *change([results[last]]), *results[last + 1 :]]

    return changed


def first_failed(results: list[CellResult]) -> list[CellResult]:
    """The first cell failed."""
    return [replace(results[0], status="failed", reason="no space left"), *results[1:]]


def first_lost(results: list[CellResult]) -> list[CellResult]:
    """The first cell never ran."""
    return results[1:]
