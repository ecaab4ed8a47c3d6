"""Runs that nobody measured: plausible figures with every status, for tests of what is made of a run."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

from experiments.metrics import METRICS
from experiments.model import (
    Block,
    Cell,
    CellResult,
    Experiment,
    Factor,
    Level,
    Levels,
    Matrix,
    Measurement,
    Published,
    Request,
    Target,
    Verdict,
)
from warehouse.ledger import RunLedger

START = datetime(2026, 11, 30, 2, 15, tzinfo=UTC)
MEGABYTE = 1024.0**2
LINEAGES = {"embedded": ("postgresql",), "duckdb": ("duckdb",)}
UNSUPPORTED = "compression lz4: this server was built without lz4"
FAILURE = (
    'step index_build: could not resize shared memory segment "<b>/PostgreSQL.42</b>" & more: No space left on device'
)


@dataclass(frozen=True)
class Factors:
    """The levels of one target, reload factors apart from the index."""

    reload: Mapping[str, Sequence[Level]]
    index: Sequence[Level]


MATRIX = {
    "embedded": Factors(
        {"compression": ("pglz", "lz4"), "toast": ("default", "external"), "fillfactor": (100, 70)},
        ("none", "btree(c2)", "brin(c2)", "hash(c2)"),
    ),
    "duckdb": Factors({"blocksize": ("16kB", "256kB"), "compression": ("none", "auto", "zstd")}, ("none", "art(c2)")),
}
# What a form of 20,000 rows weighs and takes: table and TOAST bytes, load and scan seconds.
SHAPES: Mapping[tuple[Level, ...], tuple[float, float, float, float]] = {
    ("default", 100): (2.6 * MEGABYTE, 0, 0.21, 0.0062),
    ("default", 70): (3.7 * MEGABYTE, 0, 0.22, 0.0071),
    ("external", 100): (1.3 * MEGABYTE, 106 * MEGABYTE, 1.05, 0.0041),
    ("external", 70): (1.9 * MEGABYTE, 106 * MEGABYTE, 1.11, 0.0046),
    ("16kB", "none"): (84.5 * MEGABYTE, 0, 0.62, 0.0011),
    ("256kB", "none"): (82.0 * MEGABYTE, 0, 0.51, 0.0009),
    ("16kB", "auto"): (54.0 * MEGABYTE, 0, 0.88, 0.0010),
    ("256kB", "auto"): (58.5 * MEGABYTE, 0, 0.41, 0.0010),
    ("16kB", "zstd"): (5.2 * MEGABYTE, 0, 0.33, 0.0012),
    ("256kB", "zstd"): (4.1 * MEGABYTE, 0, 0.29, 0.0011),
}
# Index bytes, build seconds, and the share of a scan that a lookup takes.
INDEXES: Mapping[Level, tuple[float, float, float, str]] = {
    "none": (0, 0, 1.0, "Seq Scan"),
    "btree(c2)": (0.34 * MEGABYTE, 0.011, 0.012, "Bitmap Heap Scan, Bitmap Index Scan"),
    "brin(c2)": (0.023 * MEGABYTE, 0.006, 0.93, "Seq Scan"),
    "hash(c2)": (0.78 * MEGABYTE, 0.016, 0.009, "Index Scan"),
    "art(c2)": (1.1 * MEGABYTE, 0.012, 0.31, "INDEX_SCAN"),
}
FACTS: Mapping[str, Any] = {
    "host": "bench-01",
    "kernel": "6.8.0-45-generic",
    "cpu_model": "AMD EPYC 7B13",
    "cpu_count": 2,
    "memory_bytes": 8 * 1024**3,
    "cgroup_memory": "max",
    "filesystem": "ext4",
    "disk_bytes": 120 * 1024**3,
    "disk_free_bytes": 71 * 1024**3,
    "python": "3.12.4",
    "packages": {"storage-matrix": "0.1.0", "duckdb": "2.0.1", "psycopg": "3.3.9"},
    "git_commit": "4f2a91c",
    "is_ours": True,
}
ENGINES: Mapping[str, Mapping[str, Any]] = {
    "embedded": {
        "dialect": "postgresql",
        "engine": "PostgreSQL 18.6",
        "settings": {"shared_buffers": "256MB", "jit": "off", "max_parallel_workers_per_gather": "0"},
    },
    "duckdb": {"dialect": "duckdb", "engine": "DuckDB v2.0.1", "settings": {"threads": "1"}},
}
STUDY = "A study that does not exist"


def write_run(home: Path, verdicts: Sequence[Verdict] = ()) -> RunLedger:
    """A run of the storage matrix on two targets: 16 cells that cannot be, one that failed, one that timed out."""
    blocks, unsupported = _plan()
    request = _request(_experiment("storage_matrix", _storage_factors(), _published()), ("embedded", "duckdb"))
    ledger = RunLedger.create(home, request, Matrix(blocks, unsupported), LINEAGES, START)
    environments = {target: ledger.write_environment(target, FACTS | ENGINES[target]) for target in ENGINES}
    clock = Clock()
    for block in blocks:
        for cell in block.cells:
            result = replace(_measured(cell, clock), environment_id=environments[cell.target])
            ledger.write_cell(result)
    ledger.write_verdicts(verdicts or VERDICTS)
    ledger.finish(
        "failed",
        {"set_up": 2.1, "prefect_start": 11.8, "noop_cell": 0.0061, "cells": 41.3, "load": 0.6, "expectations": 5.2},
    )
    return ledger


def write_unlucky_run(home: Path) -> RunLedger:
    """The same run: the failed cell was measured again, with values missing, and one target was not checkpointed."""
    ledger = write_run(home)
    failed = next(cell for cell in ledger.cells() if cell.status == "failed")
    refused = Measurement(
        "size", "compression_ratio", "ratio", None, "f()", failed.started_at, reason="permission denied"
    )
    unseen = replace(refused, metric="cpu_time", unit="seconds")
    measured = (*failed.measurements, refused, unseen)
    again = replace(failed, status="ok", reason=None, sqlstate=None, attempt=2, measurements=measured)
    shared = {"checkpoint": "no checkpoint: the target is not exclusive"}
    environment = ledger.write_environment("embedded", FACTS | ENGINES["embedded"] | shared)
    ledger.write_cell(replace(again, environment_id=environment))
    return ledger


def write_series(home: Path) -> RunLedger:
    """A run in rounds, whose steps have names of their own: updates, counts and a VACUUM in between."""
    factors = (Factor("fillfactor", {"*": (100, 50)}), Factor("vacuum", {"*": ("none", "plain")}))
    cells = [
        _cell("embedded", {"fillfactor": fillfactor, "vacuum": vacuum}, f"f{fillfactor}{vacuum}")
        for fillfactor, vacuum in product((100, 50), ("none", "plain"))
    ]
    blocks = tuple(Block(cell.block_id, cell.target, 1, cell.levels, (cell,)) for cell in cells)
    request = _request(_experiment("vacuum_bloat", factors, ()), ("embedded",))
    ledger = RunLedger.create(home, request, Matrix(blocks, ()), LINEAGES, START)
    environment = ledger.write_environment("embedded", FACTS | ENGINES["embedded"])
    clock = Clock()
    for cell in cells:
        started = clock.moment
        measurements = tuple(_rounds(cell.levels, clock))
        ledger.write_cell(
            CellResult(cell, "ok", started, clock.moment, environment_id=environment, measurements=measurements)
        )
    ledger.finish("ok", {"cells": 12.0})
    return ledger


class Clock:
    """Time that passes with every measurement, and noise that is the same in every test."""

    def __init__(self) -> None:
        self._now = START
        self._random = random.Random(7)

    @property
    def moment(self) -> str:
        """Now."""
        return self._now.isoformat()

    def noisy(self, value: float, spread: float = 0.06) -> float:
        """The value as a benchmark would see it: never faster than it can be, now and then much slower."""
        outlier = 1.6 if self._random.random() < 0.03 else 1.0
        return value * (1 + abs(self._random.gauss(0, spread))) * outlier

    def measure(
        self, step: str, metric: str, value: float | None, method: str = "client clock", **more: Any
    ) -> Measurement:
        """One measurement, a moment later."""
        self._now += timedelta(milliseconds=40)
        return Measurement(step, metric, METRICS[metric].unit, value, method, self.moment, **more)


def _storage_factors() -> tuple[Factor, ...]:
    names = ("blocksize", "compression", "toast", "fillfactor")
    levels = {
        name: {
            LINEAGES[target][0]: tuple(matrix.reload[name])
            for target, matrix in MATRIX.items()
            if name in matrix.reload
        }
        for name in names
    }
    index = {LINEAGES[target][0]: tuple(matrix.index) for target, matrix in MATRIX.items()}
    return (*(Factor(name, levels[name]) for name in names), Factor("index", index, in_place=True))


def _experiment(name: str, factors: tuple[Factor, ...], published: tuple[Published, ...]) -> Experiment:
    question = "How does the storage form change load time, size and query time?"
    return Experiment(
        name=name,
        question=question,
        parameters={"rows": 20_000, "data_seed": 1},
        profiles={"quick": {"rows": 20_000}},
        columns=(),
        key="id",
        row_bytes=4200,
        source=None,
        values={},
        factors=factors,
        steps=(),
        expectations=(),
        baseline={"toast": "default", "fillfactor": 100},
        published=published,
        sql={},
        spec_hash="0123456789ab",
    )


def _request(experiment: Experiment, targets: Sequence[str]) -> Request:
    places = tuple(Target(name, "file" if name == "duckdb" else "local", LINEAGES[name][0]) for name in targets)
    return Request(experiment, places, "quick", experiment.parameters, {}, None, 20261130, 600.0)


def _plan() -> tuple[tuple[Block, ...], tuple[Cell, ...]]:
    blocks: list[Block] = []
    unsupported: list[Cell] = []
    for target, matrix in MATRIX.items():
        for number, combination in enumerate(product(*matrix.reload.values())):
            levels = dict(zip(matrix.reload, combination, strict=True))
            block_id = f"{target}-{number}"
            cells = tuple(_cell(target, {**levels, "index": index}, block_id) for index in matrix.index)
            if "lz4" in combination:
                unsupported += [replace(cell, status="unsupported", reason=UNSUPPORTED) for cell in cells]
            else:
                blocks.append(Block(block_id, target, 1, levels, cells))
    noop = Cell("0" * 12, "0" * 12, "embedded", "postgresql", {}, "noop", role="noop")
    return (*blocks, Block("noop", "embedded", 1, {}, (noop,))), tuple(unsupported)


def _cell(target: str, levels: Levels, block_id: str) -> Cell:
    identity = f"{random.Random(repr((target, sorted(levels.items())))).getrandbits(48):012x}"
    return Cell(identity, identity[::-1], target, LINEAGES[target][0], levels, block_id)


def _measured(cell: Cell, clock: Clock) -> CellResult:
    started = clock.moment
    if cell.role == "noop":
        overhead = clock.measure("noop", "cpu_time", 0.0061)
        return CellResult(cell, "ok", started, clock.moment, measurements=(overhead,))
    if (
        cell.levels.get("toast") == "external"
        and cell.levels["fillfactor"] == 70
        and cell.levels["index"] == "hash(c2)"
    ):
        return CellResult(cell, "failed", started, clock.moment, reason=FAILURE, sqlstate="53100")
    if (
        cell.levels.get("blocksize") == "16kB"
        and cell.levels["compression"] == "auto"
        and cell.levels["index"] != "none"
    ):
        reason = "step lookup: no answer within 600 s"
        return CellResult(cell, "timeout", started, clock.moment, reason=reason, sqlstate="57014")
    return CellResult(cell, "ok", started, clock.moment, measurements=tuple(_samples(cell, clock)))


def _samples(cell: Cell, clock: Clock) -> Iterator[Measurement]:
    names = ("toast", "fillfactor") if cell.target == "embedded" else ("blocksize", "compression")
    table, toast, load, scan = SHAPES[tuple(cell.levels[name] for name in names)]
    index, build, share, nodes = INDEXES[cell.levels["index"]]
    if cell.levels["index"] == "none":
        yield from _load(clock, load, table + toast)
        yield from _query(clock, "group_by", scan * 1.4)
    else:
        seconds = clock.noisy(build)
        yield clock.measure("index_build", "index_build_time", seconds, clock="client")
        yield clock.measure("index_build", "index_durable_time", seconds + 0.004, clock="client")
    yield from _query(clock, "lookup", scan * share + 0.0002)
    yield clock.measure("lookup", "plan_nodes", None, "EXPLAIN ANALYZE", text_value=nodes)
    parts = {"table_bytes": table, "toast_bytes": toast, "index_bytes": index, "auxiliary_bytes": 0.03 * MEGABYTE}
    for metric, value in {**parts, "total_bytes": sum(parts.values())}.items():
        yield clock.measure("size", metric, round(value), "pg_table_size and the like")


def _load(clock: Clock, seconds: float, size: float) -> Iterator[Measurement]:
    committed = clock.noisy(seconds)
    yield clock.measure("canary", "canary_cpu_time", clock.noisy(0.0049, 0.02))
    yield clock.measure("load", "commit_time", committed, "statement and commit", clock="client")
    yield clock.measure("load", "load_time", committed * 1.15, "statement, commit and checkpoint", clock="client")
    yield clock.measure("load", "wal_bytes", round(size * 1.04), "insert position")
    yield clock.measure("load", "cpu_time", committed * 0.8, "processes of the server")


def _query(clock: Clock, step: str, seconds: float) -> Iterator[Measurement]:
    method = "statement and fetch, hot cache"
    warm_up = clock.noisy(seconds * 1.8)
    yield clock.measure(step, "query_time", warm_up, method, repetition=1, is_warmup=True, clock="client")
    for repetition in (1, 2, 3):
        yield clock.measure(step, "query_time", clock.noisy(seconds), method, repetition=repetition, clock="client")
    yield clock.measure(step, "execution_time", seconds * 0.8, "EXPLAIN ANALYZE", clock="server")


def _rounds(levels: Levels, clock: Clock) -> Iterator[Measurement]:
    size = 675 * MEGABYTE * 100 / int(levels["fillfactor"])
    yield clock.measure("load", "load_time", clock.noisy(6.1), clock="client")
    for number in range(9):
        if levels["vacuum"] == "plain" and number in (3, 6):
            yield clock.measure("vacuum", "vacuum_time", clock.noisy(1.9), clock="client", round=number)
        elif number:
            size += 168 * MEGABYTE * int(levels["fillfactor"]) / 100
        yield clock.measure(
            "count", "query_time", clock.noisy(size / 1e9), clock="client", round=number, is_warmup=True
        )
        for repetition in (1, 2, 3):
            seconds = clock.noisy(size / 1.6e9)
            yield clock.measure("count", "query_time", seconds, clock="client", round=number, repetition=repetition)
        yield clock.measure("size", "total_bytes", round(size), round=number)
        yield clock.measure("size", "dead_tuples", number * 1e5, round=number)


def _published() -> tuple[Published, ...]:
    figures = {("default", 100): (0.31e9, 11.2), ("default", 70): (0.44e9, 11.9), ("external", 100): (13.1e9, 58.0)}
    return tuple(
        Published(
            STUDY, "PostgreSQL 16", "quick", levels, step, metric, METRICS[metric].unit, value, "psql \\timing", None
        )
        for (toast, fillfactor), (size, load) in figures.items()
        for levels in ({"compression": "pglz", "toast": toast, "fillfactor": fillfactor, "index": "none"},)
        for step, metric, value in (("size", "total_bytes", size), ("load", "load_time", load))
    )


VERDICTS = (
    Verdict(
        "compressed_below_plain",
        "A compressed form is smaller than the same form without compression",
        "critical",
        "pass",
        "",
        "all 8 rows meet it",
    ),
    Verdict(
        "index_not_slower",
        "A lookup through an index that reads under 5 % of the pages is not slower than the scan",
        "warning",
        "fail",
        '[{"target": "embedded", "levels": {"toast": "default", "index": "btree(c2)"}, "ratio": 1.31}]',
        "1 of 6 rows break it",
    ),
    Verdict(
        "no_cell_lost",
        "Every planned cell has a result",
        "critical",
        "inconclusive",
        "",
        "26 of 28 promised rows are there, and these cells gave no result: duckdb: 16kB zstd art(c2) (timeout)",
    ),
    Verdict(
        "append_optimized_below_heap",
        "Compressed append-optimized or column storage is smaller than heap",
        "critical",
        "not_applicable",
        "",
        "no planned cell can feed this check",
    ),
    Verdict(
        "broken", "A check that cannot be carried out", "info", "error", "", "the check itself broke: no such column"
    ),
)
