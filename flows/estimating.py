"""Roughly what a run takes, from the number of rows alone: time, disk and WAL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from experiments.matrix import at_base, step_is_for
from experiments.model import Block, Cell, Level, Levels, Matrix, Request
from experiments.series import TIMES
from experiments.steps import option_in
from tasks.dialects.dialect import Dialect

# Rough on purpose: a laptop's PostgreSQL on the study's rows. Storage form and disk move them by a factor of five.
LOADED_PER_SECOND = 100e6
READ_PER_SECOND = 500e6
# What a cell costs with hardly any rows: connecting statements, checkpoints, canaries.
SECONDS_PER_CELL = 0.2
# Passes over the table that no option sets: settling and statistics after a load; EXPLAIN ANALYZE beside a query.
PASSES_AFTER_LOAD = 3
PASSES_TO_EXPLAIN = 1
# A round of a series: a change, a query until it is stable, some looks at the table.
PASSES_PER_ROUND = 15
SECONDS_PER_ROUND = 0.1


@dataclass(frozen=True)
class Estimate:
    """What one target takes. ``disk_bytes`` is the most that lies there at one time, WAL apart."""

    seconds: float
    disk_bytes: float
    wal_bytes: float


def table_bytes(request: Request, levels: Levels) -> float:
    """A table without compression; 0 where the experiment has no parameter ``rows`` to tell."""
    rows, times = request.parameters.get("rows"), request.experiment.times
    if not isinstance(rows, int | float):
        return 0.0
    return float(rows) * float(levels.get(times, 1) if times else 1) * request.experiment.row_bytes


def disk_bytes(request: Request, blocks: list[Block]) -> float:
    """The source, the files and the largest block, since one is dropped before the next begins; all of one width."""
    source = table_bytes(request, {}) if request.experiment.source and blocks else 0.0
    if request.experiment.files:
        source += sum({table_bytes(request, block.levels) for block in blocks})
    return source + max((table_bytes(request, block.levels) for block in blocks), default=0.0)


def measured_blocks(matrix: Matrix, target: str) -> list[Block]:
    """The blocks of a target that have a table."""
    return [block for block in matrix.blocks if block.target == target and block.cells[0].role == "result"]


def estimate(request: Request, matrix: Matrix, dialects: Mapping[str, Dialect]) -> dict[str, Estimate]:
    """The estimate for each target."""
    return {name: _of_target(request, measured_blocks(matrix, name), dialect) for name, dialect in dialects.items()}


def _of_target(request: Request, blocks: list[Block], dialect: Dialect) -> Estimate:
    loaded = _loads(request, dialect.lineage) * sum(table_bytes(request, block.levels) for block in blocks)
    if request.experiment.source and blocks:
        loaded += table_bytes(request, {})
    seconds = loaded / LOADED_PER_SECOND
    for block in blocks:
        passes = PASSES_AFTER_LOAD + sum(_passes(request, cell, dialect.lineage) for cell in block.cells)
        seconds += passes * table_bytes(request, block.levels) / READ_PER_SECOND
        seconds += sum(SECONDS_PER_CELL + _fixed(request, cell, dialect.lineage) for cell in block.cells)
        rounds = sum(_rounds(request, cell, dialect.lineage) for cell in block.cells)
        seconds += rounds * (
            SECONDS_PER_ROUND + PASSES_PER_ROUND * table_bytes(request, block.levels) / READ_PER_SECOND
        )
    return Estimate(seconds, disk_bytes(request, blocks), loaded if dialect.capabilities.has_wal else 0.0)


def _loads(request: Request, lineage: tuple[str, ...]) -> int:
    """How often a block is loaded: a copy step does it again and again."""
    copies = [step for step in request.experiment.steps if step.kind == "copy" and step_is_for(step, lineage)]
    return sum(request.repeats or step.options["repeats"] for step in copies) or 1


def _passes(request: Request, cell: Cell, lineage: tuple[str, ...]) -> int:
    """How often the queries of a cell read the table, an index being no help."""
    scope = "base" if at_base(request.experiment, cell.levels, lineage) else "change"
    passes = 0
    for step in request.experiment.steps:
        if step.kind == "query" and step.at in ("every", scope) and step_is_for(step, lineage, cell.levels):
            passes += (request.repeats or step.options["repeats"]) + PASSES_TO_EXPLAIN
            passes += int(option_in(step, "warmups", _known(request, cell)))
    return passes


def _known(request: Request, cell: Cell) -> dict[str, Level]:
    return {**request.parameters, **cell.levels}


def _rounds(request: Request, cell: Cell, lineage: tuple[str, ...]) -> int:
    """How many rounds the series of a cell have."""
    rounds = 0
    for step in request.experiment.steps:
        if step.kind == "series" and step_is_for(step, lineage, cell.levels):
            times = (TIMES.value_in(one.times, _known(request, cell)) for one in step.options["rounds"])
            rounds += sum(int(number) for number in times)
    return rounds


def _fixed(request: Request, cell: Cell, lineage: tuple[str, ...]) -> float:
    """The seconds of steps that run for a declared time."""
    steps = [step for step in request.experiment.steps if step_is_for(step, lineage, cell.levels)]
    timed = (step for step in steps if "seconds" in step.options)
    return sum(float(option_in(step, "seconds", _known(request, cell))) for step in timed)
