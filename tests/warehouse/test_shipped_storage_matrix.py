"""What storage_matrix expects of embedded PostgreSQL and DuckDB: good data passes, wrong fails, missing is inconclusive."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

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

ROWS = 20_000
MOMENT = "2026-11-30T15:46:00+00:00"
MEGABYTE = 1024**2
Change = Callable[[list[CellResult]], list[CellResult]]


@pytest.fixture(scope="module")
def request_(tmp_path_factory: pytest.TempPathFactory) -> Request:
    home = tmp_path_factory.mktemp("home")
    dialects = lineages()
    targets = load_targets(home, os.environ, (), dialects).pick(("embedded", "duckdb"))
    return build_request(find_experiment("storage_matrix", home, dialects), targets, sets=(f"rows={ROWS}",), seed=1)


@pytest.fixture
def judged(request_: Request, tmp_path: Path) -> Callable[[Change], dict[str, Verdict]]:
    """The verdicts, by name, on a run that a good server would give, after ``change``."""

    def verdicts(change: Change) -> dict[str, Verdict]:
        dialects = {"embedded": dialect_named("postgresql"), "duckdb": dialect_named("duckdb")}
        matrix = expand(request_, dialects)
        ledger = RunLedger.create(
            tmp_path, request_, matrix, {name: dialect.lineage for name, dialect in dialects.items()}
        )
        good = [result(cell, cell is block.cells[0]) for block in matrix.blocks for cell in block.cells]
        for kept in change(good):
            ledger.write_cell(kept)
        run = ledger.run()
        database = run_database(ledger.directory)
        return {verdict.expectation: verdict for verdict in judge(database, run.expectations, run.frames)}

    return verdicts


def result(cell: Cell, loads: bool) -> CellResult:
    """What a good server gives: compression shrinks, an index saves pages and time, all rows are the same."""
    return CellResult(cell, "ok", MOMENT, MOMENT, measurements=tuple(_measurements(cell, loads)))


def _measurements(cell: Cell, loads: bool) -> Iterator[Measurement]:
    if cell.role == "noop":
        return
    indexed = cell.levels["index"] != "none"
    if loads:
        yield measured("load", "rows", ROWS)
        yield measured("load", "row_digest", None, f"{ROWS}:1:2:3:4")
    plain = cell.levels.get("toast") == "external" or cell.levels.get("compression") == "none"
    table = (100 if plain else 3) * MEGABYTE
    yield measured("size", "table_bytes", table)
    yield measured("size", "index_bytes", MEGABYTE if indexed else 0)
    yield measured("size", "total_bytes", table + (MEGABYTE if indexed else 0))
    yield measured("lookup", "query_time", 0.0005 if indexed else 0.006)
    yield measured("lookup", "pages_accessed", 4 if indexed else 400)
    yield measured("lookup", "result_digest", None, "2:77")


def measured(step: str, metric: str, value: float | None, text: str | None = None) -> Measurement:
    return Measurement(step, metric, METRICS[metric].unit, value, "synthetic", MOMENT, text_value=text)


def with_values(metric: str, value: float | None, *, text: str | None = None, step: str | None = None) -> Change:
    """Give every measurement of ``metric``, be it of ``step`` alone, another value; None takes it away."""

    def change(results: list[CellResult]) -> list[CellResult]:
        return [replace(one, measurements=tuple(_changed(one))) for one in results]

    def _changed(one: CellResult) -> Iterator[Measurement]:
        for measurement in one.measurements:
            if measurement.metric != metric or (step is not None and measurement.step != step):
                yield measurement
            elif value is not None or text is not None:
                yield replace(measurement, value=value, text_value=text)

    return change


def last_of(metric: str, text: str) -> Change:
    """Give only the last measurement of ``metric`` another text."""

    def change(results: list[CellResult]) -> list[CellResult]:
        last = max(n for n, one in enumerate(results) if any(m.metric == metric for m in one.measurements))
        changed = tuple(replace(m, text_value=text) if m.metric == metric else m for m in results[last].measurements)
        return [replace(one, measurements=changed) if n == last else one for n, one in enumerate(results)]

    return change


def slow_index(results: list[CellResult]) -> list[CellResult]:
    def changed(one: CellResult) -> CellResult:
        if one.cell.levels.get("index", "none") == "none":
            return one
        return replace(
            one,
            measurements=tuple(replace(m, value=0.05) if m.metric == "query_time" else m for m in one.measurements),
        )

    return [changed(one) for one in results]


def no_pages(results: list[CellResult]) -> list[CellResult]:
    """The plan of one indexed cell was not read."""
    lost = next(one for one in results if one.cell.levels.get("index") == "brin(c2)")
    kept = tuple(m for m in lost.measurements if m.metric != "pages_accessed")
    return [replace(one, measurements=kept) if one is lost else one for one in results]


def one_failed(results: list[CellResult]) -> list[CellResult]:
    return [replace(results[0], status="failed", reason="no space left"), *results[1:]]


def one_lost(results: list[CellResult]) -> list[CellResult]:
    return results[1:]


WRONG: dict[str, Change] = {
    "compressed_below_heap": with_values("total_bytes", 300.0 * MEGABYTE),
    "compressed_below_uncompressed": with_values("total_bytes", 100.0 * MEGABYTE),
    "index_not_slower": slow_index,
    "digests_agree": last_of("row_digest", f"{ROWS}:9:9:9:9"),
    "row_counts": with_values("rows", ROWS - 1.0, step="load"),
    "cells_ended_well": one_failed,
}
MISSING: dict[str, Change] = {
    "compressed_below_heap": with_values("total_bytes", None),
    "compressed_below_uncompressed": with_values("total_bytes", None),
    "index_not_slower": with_values("query_time", None),
    "digests_agree": with_values("result_digest", None),
    "row_counts": with_values("rows", None, step="load"),
    "cells_ended_well": one_lost,
}


def test_a_good_run_passes_all(judged: Callable[[Change], dict[str, Verdict]]) -> None:
    verdicts = judged(lambda results: results)
    assert {name: verdicts[name].outcome for name in WRONG} == dict.fromkeys(WRONG, "pass")


@pytest.mark.parametrize("name", WRONG)
def test_wrong_data_fails(judged: Callable[[Change], dict[str, Verdict]], name: str) -> None:
    assert judged(WRONG[name])[name].outcome == "fail"


def test_an_index_whose_pages_nobody_counted_is_a_gap(judged: Callable[[Change], dict[str, Verdict]]) -> None:
    assert judged(no_pages)["index_not_slower"].outcome == "inconclusive"


@pytest.mark.parametrize("name", MISSING)
def test_missing_data_is_inconclusive(judged: Callable[[Change], dict[str, Verdict]], name: str) -> None:
    assert judged(MISSING[name])[name].outcome == "inconclusive"
