"""Roughly what a run takes, from the number of rows alone: time, disk and WAL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from experiments.matrix import at_base, step_is_for
from experiments.model import Block, Cell, Matrix, Request
from tasks.dialects.dialect import Dialect

# Rough on purpose: a laptop's PostgreSQL on the study's rows. Storage form and disk move them by a factor of five.
LOADED_PER_SECOND = 100e6
READ_PER_SECOND = 500e6
# What a cell costs with hardly any rows: connecting statements, checkpoints, canaries.
SECONDS_PER_CELL = 0.2
# Passes over the table that no option sets: settling and statistics after a load; EXPLAIN ANALYZE beside a query.
PASSES_AFTER_LOAD = 3
PASSES_TO_EXPLAIN = 1


@dataclass(frozen=True)
class Estimate:
    """What one target takes. ``disk_bytes`` is the most that lies there at one time, WAL apart."""

    seconds: float
    disk_bytes: float
    wal_bytes: float


def table_bytes(request: Request) -> float:
    """One table without compression; 0 where the experiment has no parameter ``rows`` to tell."""
    rows = request.parameters.get("rows")
    return float(rows) * request.experiment.row_bytes if isinstance(rows, int | float) else 0.0


def disk_bytes(request: Request) -> float:
    """The source and one block: blocks are dropped before the next one begins. The source is taken to be as wide."""
    return table_bytes(request) * (2 if request.experiment.source else 1)


def estimate(request: Request, matrix: Matrix, dialects: Mapping[str, Dialect]) -> dict[str, Estimate]:
    """The estimate for each target."""
    return {
        name: _of_target(request, [block for block in matrix.blocks if block.target == name], dialect)
        for name, dialect in dialects.items()
    }


def _of_target(request: Request, blocks: list[Block], dialect: Dialect) -> Estimate:
    measured = [block for block in blocks if block.cells[0].role == "result"]
    cells = [cell for block in measured for cell in block.cells]
    loads = len(measured) + (1 if request.experiment.source else 0)
    read = PASSES_AFTER_LOAD * len(measured) + sum(_passes(request, cell, dialect.lineage) for cell in cells)
    one = table_bytes(request)
    seconds = loads * one / LOADED_PER_SECOND + read * one / READ_PER_SECOND + len(cells) * SECONDS_PER_CELL
    wal = loads * one if dialect.capabilities.has_wal else 0.0
    return Estimate(seconds, disk_bytes(request) if measured else 0.0, wal)


def _passes(request: Request, cell: Cell, lineage: tuple[str, ...]) -> int:
    """How often the queries of a cell read the table, an index being no help."""
    scope = "base" if at_base(request.experiment, cell.levels, lineage) else "change"
    passes = 0
    for step in request.experiment.steps:
        if step.kind == "query" and step.at in ("every", scope) and step_is_for(step, lineage):
            passes += (request.repeats or step.options["repeats"]) + step.options["warmups"] + PASSES_TO_EXPLAIN
    return passes
