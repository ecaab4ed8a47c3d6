"""The best and the worst cell in each measure, and what cannot be told from the best."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.metrics import METRICS
from warehouse.labels import Names
from warehouse.medians import Measure, medians, title
from warehouse.selecting import Row

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@dataclass(frozen=True)
class Extremes:
    """Best and worst in one measure on one target.

    ``ties`` are the cells whose interval touches that of the best, or lies within the metric's noise floor;
    ``cells`` counts all that were compared, ``samples`` is the smallest number of samples behind any of their medians.
    """

    target: str
    measure: str
    unit: str
    best: str
    value: float
    ties: tuple[str, ...]
    worst: str
    worst_value: float
    cells: int
    samples: int

    @property
    def undecided(self) -> bool:
        """Whether all cells are as good as the best."""
        return len(self.ties) == self.cells - 1

    @property
    def unrepeated(self) -> bool:
        """Whether a time was taken once in some cell: then nothing tells how far it would have varied."""
        return self.samples == 1 and self.unit != "bytes"

    @property
    def spread(self) -> float | None:
        """The larger of best and worst over the smaller; None where that is 0."""
        low, high = sorted((self.value, self.worst_value))
        return high / low if low > 0 else None


def extremes(connection: DuckDBPyConnection, names: Names) -> list[Extremes]:
    """Best and worst by target and measure, where more than one cell has a value and one direction is better."""
    return [found for target in names.targets for found in _on_target(connection, names, target)]


def _on_target(connection: DuckDBPyConnection, names: Names, target: str) -> Iterator[Extremes]:
    measured = medians(connection, target)
    for measure, found in measured.items():
        # A storage form's size is that without an index; times are compared over all index levels.
        compared = [row for row in found if row["is_base"]] if measure.metric == "total_bytes" else found
        if len(compared) > 1 and METRICS[measure.metric].direction != "none":
            yield _extremes(names, target, measure, title(measure, measured), compared)


def _extremes(names: Names, target: str, measure: Measure, called: str, compared: list[Row]) -> Extremes:
    metric = METRICS[measure.metric]
    ordered = sorted(compared, key=lambda row: row["median"], reverse=metric.direction == "higher")
    best, worst = ordered[0], ordered[-1]
    return Extremes(
        target=target,
        measure=called,
        unit=metric.unit,
        best=names.cells[best["cell_id"]].whole,
        value=best["median"],
        ties=tuple(names.cells[row["cell_id"]].whole for row in ordered[1:] if _touch(best, row, metric.floor)),
        worst=names.cells[worst["cell_id"]].whole,
        worst_value=worst["median"],
        cells=len(compared),
        samples=min(row["n"] for row in compared),
    )


def _touch(one: Row, other: Row, floor: float) -> bool:
    gap = max(one["interval_low"], other["interval_low"]) - min(one["interval_high"], other["interval_high"])
    return bool(gap <= floor)
