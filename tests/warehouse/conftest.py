"""A small run in the study's shape, made of the types that travel: three storage forms, with and without an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import pytest

from experiments.metrics import METRICS
from experiments.model import (
    Block,
    Cell,
    CellResult,
    Column,
    Experiment,
    Factor,
    Levels,
    Matrix,
    Measurement,
    Plan,
    Published,
    Request,
    Statement,
    Step,
    Target,
)
from warehouse.ledger import RunLedger

STARTED = datetime(2026, 11, 30, 15, 45, tzinfo=UTC)
MOMENT = "2026-11-30T15:46:00+00:00"
LINEAGE = ("greenplum6", "greenplum", "postgresql")
INDEX = "btree(c2)"

HEAP: Levels = {"orientation": "heap"}
PLAIN: Levels = {"orientation": "ao_row", "blocksize": "8kB", "compression": "none"}
PACKED: Levels = {"orientation": "ao_row", "blocksize": "8kB", "compression": "zlib:5"}

# Seconds of load, group-by, lookup by scan, index build, lookup by index; bytes without and with the index.
VALUES = {
    "heap": (12.0, 1.8, 1.5, 1.3, 0.037, 44_000_000, 45_000_000),
    "none": (8.1, 0.168, 0.096, 0.356, 0.032, 1_300_000, 1_500_000),
    "zlib:5": (8.0, 0.322, 0.265, 0.441, 0.037, 557_000, 757_000),
}


class MakeRun(Protocol):
    """Write a run to a home's ledger, finished unless ``finish`` is None."""

    def __call__(
        self,
        home: Path,
        results: Sequence[CellResult] | None = None,
        *,
        experiment: Experiment | None = None,
        matrix: Matrix | None = None,
        started: datetime = STARTED,
        finish: Any = "ok",
    ) -> RunLedger: ...


def measured(step: str, metric: str, value: float | None, **more: Any) -> Measurement:
    """A measurement in the metric's own unit."""
    return Measurement(step, metric, METRICS[metric].unit, value, more.pop("method", "synthetic"), MOMENT, **more)


@pytest.fixture(scope="session")
def measure() -> Callable[..., Measurement]:
    """Makes a measurement: ``measure(step, metric, value, **other fields)``."""
    return measured


@pytest.fixture(scope="session")
def experiment() -> Experiment:
    """The study's shape; published figures say the same ratios as the synthetic values, in other absolute numbers."""
    return Experiment(
        name="storage_matrix",
        question="How does the storage form change load time, size and query time?",
        parameters={"rows": 20_000, "data_seed": 1},
        profiles={"quick": {"rows": 20_000}, "published": {"rows": 10_000_000}},
        columns=(Column("id", "integer"), Column("c2", "integer")),
        key="id",
        row_bytes=4200,
        source="source",
        values={},
        factors=(
            Factor("orientation", {"greenplum": ("heap", "ao_row")}),
            Factor("blocksize", {"greenplum": ("8kB",)}),
            Factor("compression", {"greenplum": ("none", "zlib:5")}),
            Factor("index", {"greenplum": ("none", INDEX), "duckdb": ("none", "art(c2)")}, in_place=True),
        ),
        steps=(Step("load", "load", "load"), Step("query", "group_by", "base"), Step("query", "lookup", "every")),
        expectations=(),
        baseline={"orientation": "heap"},
        published=_figures(),
        sql={"load.sql": "select 1", "expect/below_heap.sql": "select 2"},
        spec_hash="5eed00000000",
    )


def _figures() -> tuple[Published, ...]:
    def figure(levels: Levels, step: str, metric: str, value: float, method: str) -> Published:
        unit = METRICS[metric].unit
        return Published("the study", "Greenplum", "published", levels, step, metric, unit, value, method, None)

    size, loaded = "pg_total_relation_size after CREATE INDEX", "INSERT ... SELECT that also makes the rows"
    return (
        figure({**HEAP, "index": INDEX}, "size", "total_bytes", 44e9, size),
        figure({**PACKED, "index": INDEX}, "size", "total_bytes", 0.557e9, size),
        figure({**HEAP, "index": "none"}, "group_by", "query_time", 1.8, "EXPLAIN ANALYZE"),
        figure({**PACKED, "index": "none"}, "group_by", "query_time", 0.322, "EXPLAIN ANALYZE"),
        figure({**HEAP, "index": "none"}, "load", "load_time", 120.0, loaded),
        figure({**PACKED, "index": "none"}, "load", "load_time", 80.0, loaded),
    )


@pytest.fixture(scope="session")
def matrix() -> Matrix:
    """Three blocks of two cells, a no-op cell, and one cell that the target cannot do."""
    blocks = [_block(number, levels) for number, levels in enumerate((HEAP, PLAIN, PACKED), 1)]
    noop = Cell("d00000000000", "c0ffee000000", "gp", "greenplum6", {}, "b00000000000", role="noop")
    refused = Cell(
        "e00000000000",
        "c0ffee000001",
        "gp",
        "greenplum6",
        {"orientation": "ao_row", "blocksize": "8kB", "compression": "rle_type:1", "index": "none"},
        "b99999999999",
        status="unsupported",
        reason="rle_type needs columns",
    )
    return Matrix((*blocks, Block("b00000000000", "gp", 1, {}, (noop,))), (refused,))


def _block(number: int, levels: Levels) -> Block:
    block_id = f"b{number:011d}"
    cells = tuple(
        Cell(f"a{number}{place:010d}", "c0ffee000002", "gp", "greenplum6", {**levels, "index": index}, block_id)
        for place, index in enumerate(("none", INDEX))
    )
    return Block(block_id, "gp", 1, levels, cells)


@pytest.fixture(scope="session")
def results(matrix: Matrix) -> tuple[CellResult, ...]:
    """Every planned cell ended ok."""
    return tuple(_result(cell) for block in matrix.blocks for cell in block.cells)


def _result(cell: Cell) -> CellResult:
    plans = (Plan("lookup", {"Plan": {"Node Type": "Seq Scan"}}, "9a54"),)
    statements = (Statement("select 1", 0.1),)
    return CellResult(
        cell, "ok", MOMENT, MOMENT, measurements=tuple(_measurements(cell)), plans=plans, statements=statements
    )


def _measurements(cell: Cell) -> Iterator[Measurement]:
    if cell.role == "noop":
        yield measured("noop", "cpu_time", 0.01, clock="client")
        return
    form = str(cell.levels.get("compression", "heap"))
    load, group_by, scan, build, lookup, without, with_index = VALUES[form]
    has_index = cell.levels["index"] != "none"
    if has_index:
        yield measured("index_build", "index_build_time", build, clock="client")
    else:
        yield measured("load", "load_time", load, clock="client", method="statement, commit and checkpoint")
        yield measured("load", "wal_bytes", 1000.0)
        yield from _repeated("group_by", group_by)
        yield measured("group_by", "execution_time", group_by * 0.9, clock="server", method="EXPLAIN ANALYZE")
    yield from _repeated("lookup", lookup if has_index else scan)
    yield measured("size", "total_bytes", with_index if has_index else without, method="pg_total_relation_size")


def _repeated(step: str, seconds: float) -> Iterator[Measurement]:
    yield measured(step, "query_time", seconds * 9, clock="client", is_warmup=True)
    for repetition, factor in enumerate((1.1, 1.0, 0.9), 1):
        yield measured(step, "query_time", seconds * factor, clock="client", repetition=repetition)


@pytest.fixture(scope="session")
def make_run(experiment: Experiment, matrix: Matrix, results: tuple[CellResult, ...]) -> MakeRun:
    """Write a run; without arguments the study's shape, every cell ok."""
    default_experiment, default_matrix, default_results = experiment, matrix, results

    def make(
        home: Path,
        results: Sequence[CellResult] | None = None,
        *,
        experiment: Experiment | None = None,
        matrix: Matrix | None = None,
        started: datetime = STARTED,
        finish: Any = "ok",
    ) -> RunLedger:
        request = Request(
            experiment=experiment or default_experiment,
            targets=(Target("gp", "greenplum", "greenplum6"),),
            profile="quick",
            parameters={"rows": 20_000, "data_seed": 1},
            only={},
            repeats=None,
            seed=7,
            timeout=60.0,
        )
        ledger = RunLedger.create(home, request, matrix or default_matrix, {"gp": LINEAGE}, started)
        environment_id = ledger.write_environment("gp", {"engine": "6.24.3", "settings": {"optimizer": "off"}})
        for result in default_results if results is None else results:
            ledger.write_cell(replace(result, environment_id=environment_id))
        if finish is not None:
            ledger.finish(finish, {"cells": 1.5})
        return ledger

    return make


@pytest.fixture
def database() -> Iterator[Callable[[RunLedger], Any]]:
    """Opens a run's database in memory; the connections are closed at the end."""
    from warehouse.loading import run_database

    opened: list[Any] = []

    def open_run(ledger: RunLedger) -> Any:
        opened.append(run_database(ledger.directory))
        return opened[-1]

    yield open_run
    for connection in opened:
        with closing(connection):
            pass
