"""What became of the cells of a run that gave no result, and what its expectations said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warehouse.formatting import SCALES, humanise, listed, spelled
from warehouse.labels import Names
from warehouse.selecting import Row, rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

UNSUPPORTED = """
select target, coalesce(reason, 'no reason was kept') as reason, count(*) as count, list(levels) as levels
from cell
where role = 'result' and status = 'unsupported'
group by target, reason
order by target, count desc, reason
"""
FAILURES = """
select p.target, coalesce(c.status, 'never ran') as status,
    concat(c.reason, ' (at first ' || c.earlier || ')') as reason, c.sqlstate,
    count(*) as count, list(p.cell_id order by p.position) as cells
from planned_cell p
left join cell c using (run_id, cell_id, replicate)
where p.role = 'result' and p.status = 'planned' and coalesce(c.status, '') not in ('ok', 'unsupported')
group by p.target, c.status, c.reason, c.earlier, c.sqlstate
order by min(p.position)
"""
REPEATED = """
select c.target, 'measured again' as status, c.earlier as reason, count(*) as count,
    list(c.cell_id order by p.position) as cells
from cell c
join planned_cell p using (run_id, cell_id, replicate)
where c.role = 'result' and c.status = 'ok' and c.earlier is not null
group by c.target, c.earlier
order by min(p.position)
"""
VERDICTS = """
select expectation, claim, severity, outcome, observed, detail
from verdict
order by list_position(['fail', 'error', 'inconclusive', 'pass', 'not_applicable'], outcome),
    list_position(['critical', 'warning', 'info'], severity), expectation
"""
COUNTS = """
with ended as (
    select coalesce(c.status, case when p.status = 'unsupported' then p.status else 'never ran' end) as happened
    from planned_cell p
    left join cell c using (run_id, cell_id, replicate)
    where p.role = 'result'
)
select happened, count(*)
from ended
group by happened
order by happened = 'ok' desc, count(*) desc, happened
"""


@dataclass(frozen=True)
class Refusal:
    """Cells of a target that share a status and a reason; ``cells`` says in words which ones they are."""

    target: str
    status: str
    reason: str
    count: int
    cells: str
    sqlstate: str | None = None


def happened(status: str) -> str:
    """A cell's status as the end of a sentence."""
    return "timed out" if status == "timeout" else status


def unsupported(connection: DuckDBPyConnection) -> list[Refusal]:
    """What the targets cannot do, by reason, with the levels that the cells have in common."""
    found = rows(connection, UNSUPPORTED)
    return [Refusal(status="unsupported", cells=_in_common(row.pop("levels")), **row) for row in found]


def failures(connection: DuckDBPyConnection, names: Names) -> list[Refusal]:
    """Cells that failed, timed out, were cancelled or never ran, by what the server said."""
    return _named(rows(connection, FAILURES), names)


def repeated(connection: DuckDBPyConnection, names: Names) -> list[Refusal]:
    """Cells whose result is not that of the first attempt, by how that ended."""
    return _named(rows(connection, REPEATED), names)


def _named(found: list[Row], names: Names) -> list[Refusal]:
    return [Refusal(cells=listed([names.cells[cell].whole for cell in row.pop("cells")], 5), **row) for row in found]


def verdicts(connection: DuckDBPyConnection) -> list[Row]:
    """The verdicts, what needs attention first."""
    return rows(connection, VERDICTS)


def broken_rows(verdict: Row) -> list[str]:
    """The rows that broke a check which failed, in their own words (``told``) or spelled out with their levels."""
    if verdict["outcome"] != "fail" or not verdict["observed"].startswith("[{"):
        return []
    return [str(row.get("told") or spelled(_readable(row))) for row in json.loads(verdict["observed"])]


def _readable(row: Row) -> Row:
    return {name: _told(name, value) for name, value in row.items()}


def _told(name: str, value: Any) -> Any:
    """Levels are spelled out; a column that ends in a unit has its value in it."""
    if isinstance(value, dict):
        return spelled(value)
    unit = name.rpartition("_")[2]
    return humanise(value, unit) if unit in SCALES and isinstance(value, int | float) else value


def cell_counts(connection: DuckDBPyConnection) -> dict[str, int]:
    """How many cells there are by what came of them, those that ended well first; no-op cells do not count."""
    return dict(connection.execute(COUNTS).fetchall())


def _in_common(levels: Sequence[str]) -> str:
    first, *others = [json.loads(text) for text in levels]
    return spelled({name: level for name, level in first.items() if all(other.get(name) == level for other in others)})
