"""How a run was measured, from its own rows: methods, samples, overhead, drift of the host, and the environment."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.formatting import digits, humanise
from warehouse.medians import words
from warehouse.selecting import Row, rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

METHODS = """
with per_cell as (
    select m.step, m.metric, m.clock, m.method, m.cell_id, any_value(c.target) as target,
        count(*) filter (not m.is_warmup) as samples, count(*) filter (m.is_warmup) as warmups,
        min(m.measured_at) as first
    from measurement m
    join cell c using (run_id, cell_id, replicate)
    where c.role = 'result' and c.status = 'ok' and m.status = 'ok' and m.node is null
    group by m.step, m.metric, m.clock, m.method, m.cell_id
)
select step, metric, method, clock, string_agg(distinct target, ', ' order by target) as targets, count(*) as cells,
    min(samples) as fewest, max(samples) as most, max(warmups) as warmups
from per_cell
group by step, metric, method, clock
order by min(first), metric
"""
OVERHEAD = """
select coalesce(
    any_value(cast(r.timings->>'noop_cell' as double)),
    any_value(epoch(c.finished_at - c.started_at)))
from cell c
join run r using (run_id)
where c.role = 'noop' and c.status = 'ok'
"""
CANARIES = """
select metric, unit, median(value) as middle, min(value) as low, max(value) as high, count(*) as count
from measurement
where metric in ('canary_cpu_time', 'canary_disk_time') and value is not null
group by metric, unit
order by metric
"""
ENVIRONMENTS = """
select environment_id, target, facts
from environment
order by (select min(position) from planned_cell where planned_cell.target = environment.target), environment_id
"""
NOT_TAKEN = """
with missing as (
    select c.target, m.metric, m.reason, count(distinct m.cell_id) as cells
    from measurement m
    join cell c using (run_id, cell_id, replicate)
    where c.role = 'result' and c.status = 'ok' and m.status = 'ok' and m.node is null
        and m.value is null and m.text_value is null and m.reason is not null
    group by c.target, m.metric, m.reason
)
select target, reason, list(metric order by metric) as metrics, max(cells) as cells
from missing
group by target, reason
order by target, cells desc, reason
"""
NO_CHECKPOINT = """
select distinct target, facts->>'checkpoint' as reason
from environment
where starts_with(reason, 'no checkpoint')
order by target
"""
# Facts that a reader looks for first, in this order; the others follow.
FIRST_FACTS = ("engine", "dialect", "cpu_model", "cpu_count", "memory_bytes", "filesystem", "disk_bytes", "kernel")


@dataclass(frozen=True)
class Environment:
    """The circumstances of the cells of a target: plain facts, and groups of them such as settings."""

    environment_id: str
    target: str
    facts: dict[str, str]
    groups: dict[str, dict[str, str]]

    @property
    def engine(self) -> str:
        """Engine and version without where it was built."""
        return self.facts.get("engine", "engine unknown").partition(" on ")[0]


def methods(connection: DuckDBPyConnection) -> list[Row]:
    """How each metric of each step was taken, and how often in a cell."""
    return rows(connection, METHODS)


def overhead(connection: DuckDBPyConnection) -> float | None:
    """Seconds that the cell without any step took."""
    row = connection.execute(OVERHEAD).fetchone()
    return row[0] if row else None


def canaries(connection: DuckDBPyConnection) -> list[Row]:
    """The fixed work beside the blocks: its middle, its range, and how far that reaches."""
    return [{**row, "reach": row["high"] / row["low"]} for row in rows(connection, CANARIES) if row["low"] > 0]


@dataclass(frozen=True)
class Lack:
    """Metrics that cells of a target could not give, and the reason that they share."""

    target: str
    reason: str
    metrics: list[str]
    cells: int


def lacks(connection: DuckDBPyConnection) -> list[Lack]:
    """What was to be measured and could not be, in cells that otherwise went well."""
    return [Lack(**row) for row in rows(connection, NOT_TAKEN)]


def without_checkpoint(connection: DuckDBPyConnection) -> dict[str, str]:
    """The targets whose loads end with their commit, and why there was no CHECKPOINT."""
    return dict(connection.execute(NO_CHECKPOINT).fetchall())


def environments(connection: DuckDBPyConnection) -> list[Environment]:
    """Every environment of the run, facts in the order in which they are looked for."""
    return [
        _environment(environment_id, target, json.loads(facts))
        for environment_id, target, facts in connection.execute(ENVIRONMENTS).fetchall()
    ]


def _environment(environment_id: str, target: str, facts: dict[str, Any]) -> Environment:
    ordered = {name: facts[name] for name in (*FIRST_FACTS, *facts) if facts.get(name) is not None}
    plain = {_label(name): _fact(name, value) for name, value in ordered.items() if not isinstance(value, dict)}
    groups = {
        words(name): {str(key): _fact(key, entry) for key, entry in sorted(value.items())}
        for name, value in ordered.items()
        if isinstance(value, dict)
    }
    return Environment(environment_id, target, plain, groups)


def _label(name: str) -> str:
    return words(name.removesuffix("_bytes"))


def _fact(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and name.endswith("_bytes"):
        return humanise(value, "bytes")
    if isinstance(value, float):
        return digits(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
