"""The medians of a run by target, step and metric, and what these measures are called in a heading."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from experiments.metrics import METRICS
from warehouse.selecting import Row, rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# What a reader wants to see first of an experiment of any kind, in this order.
MAIN_METRICS = (
    "load_time",
    "query_time",
    "statement_time",
    "update_time",
    "index_build_time",
    "vacuum_time",
    "cleanup_time",
    "tps",
    "tps_including_cleanup",
    "latency_mean",
    "total_bytes",
)
MORE_METRICS = (
    "wal_bytes",
    "rows_per_second",
    "bytes_per_second",
    "undo_bytes",
    "dead_tuples",
    "pending_pages",
    "failed_share",
)

# Of a series the last round stands for the cell, unless there is a value for the whole. Only the client's clock, so
# that a column compares like with like.
MEDIANS = """
select cell_id, step, metric, unit, median, n, interval_low, interval_high, is_base, round
from summary
where target = ? and node is null and coalesce(clock, 'client') = 'client' and list_contains(?, metric)
qualify row_number() over (partition by cell_id, step, metric order by round desc nulls first) = 1
order by list_position(?, metric), measured_at
"""


SPEED_UPS = """
select cell_id, times_better from against_baseline
where target = ? and step = ? and metric = ? and clock = 'client' and node is null and round is null
    and times_better is not null
"""
NAMES = {"total_bytes": "size", "wal_bytes": "WAL"}


class Measure(NamedTuple):
    """A metric of a step."""

    step: str
    metric: str

    @property
    def unit(self) -> str:
        """Unit of its values."""
        return METRICS[self.metric].unit


def medians(
    connection: DuckDBPyConnection, target: str, metrics: tuple[str, ...] = MAIN_METRICS
) -> dict[Measure, list[Row]]:
    """The rows of ``summary`` by measure, in the order of ``metrics``."""
    found: dict[Measure, list[Row]] = {}
    for row in rows(connection, MEDIANS, [target, list(metrics), list(metrics)]):
        found.setdefault(Measure(row["step"], row["metric"]), []).append(row)
    return found


def speed_ups(connection: DuckDBPyConnection, target: str, measure: Measure) -> dict[str, str]:
    """How many times faster than the experiment's baseline each cell is; empty where there is none to compare with."""
    found = rows(connection, SPEED_UPS, [target, measure.step, measure.metric])
    return {row["cell_id"]: f"{row['times_better']:.2f}x" for row in found} if len(found) > 1 else {}


def title(measure: Measure, among: Collection[Measure]) -> str:
    """What a measure is called: the query's step alone, ``load``, ``size``; with its step where several share it."""
    if measure.metric == "query_time":
        return words(measure.step)
    name = NAMES.get(measure.metric, words(measure.metric.removesuffix("_time").removesuffix("_bytes")))
    if sum(other.metric == measure.metric for other in among) == 1:
        return name
    is_what_the_step_is_for = measure.unit == "seconds" and measure.metric in MAIN_METRICS
    return words(measure.step) if is_what_the_step_is_for else f"{name} ({words(measure.step)})"


def words(name: str) -> str:
    """A snake_case name as words."""
    return name.replace("_", " ")
