"""The result of a run as a table per target, in text: in the study's shape, or medians by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from warehouse.formatting import NOTHING, humanise
from warehouse.labels import Names
from warehouse.medians import MAIN_METRICS, MORE_METRICS, medians, speed_ups, title
from warehouse.selecting import rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SAME = ""
# A terminal has room for as many columns, where there are fewer of the main measures.
FEW = 5
WITH_STUDY_SHAPE = """
select exists (from storage_matrix where group_by is not null or lookup_scan is not null)
    and not exists (from measurement where metric = 'query_time' and step not in ('group_by', 'lookup'))
"""
"""Its queries and no others: an experiment with a step of the same name has a question of its own."""


@dataclass(frozen=True)
class Line:
    """A row of a result table. ``form`` and what belongs to it are empty where it goes on with the form above."""

    form: str
    values: tuple[str, ...]
    status: str


@dataclass(frozen=True)
class ResultTable:
    """What was measured on one target. ``columns`` are titles; a column named in ``texts`` holds no numbers."""

    target: str
    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    texts: tuple[str, ...] = ()


class StudyColumn(NamedTuple):
    """A column of the study's table: where it comes from; ``unit`` None is text; ``wide`` has no room in a terminal."""

    title: str
    field: str
    unit: str | None
    of_form: bool = False
    wide: bool = False


STUDY_COLUMNS = (
    StudyColumn("load", "load_time", "seconds", of_form=True),
    StudyColumn("load CPU", "load_cpu_time", "seconds", of_form=True, wide=True),
    StudyColumn("load WAL", "load_wal_bytes", "bytes", of_form=True, wide=True),
    StudyColumn("size", "total_bytes", "bytes"),
    StudyColumn("group-by", "group_by", "seconds", of_form=True),
    StudyColumn("lookup by scan", "lookup_scan", "seconds", of_form=True),
    StudyColumn("index", "index_level", None),
    StudyColumn("index build", "index_build", "seconds"),
    StudyColumn("lookup by index", "lookup_index", "seconds"),
    StudyColumn("plan of that lookup", "plan", None, wide=True),
)
STUDY_ROWS = """
select s.*, m.text_value as plan
from storage_matrix s
left join measurement m on m.run_id = s.run_id and m.cell_id = s.cell_id and m.replicate = 1
    and m.step = 'lookup' and m.metric = 'plan_nodes' and s.index_level is not null
where s.target = ?
order by s.position
"""
STATUSES = """
select p.cell_id, coalesce(min(c.status) filter (c.status <> 'ok'), min(c.status), 'never ran')
from planned_cell p
left join cell c using (run_id, cell_id, replicate)
where p.target = ? and p.role = 'result' and p.status = 'planned'
group by p.cell_id
order by min(p.position)
"""


def result_tables(connection: DuckDBPyConnection, names: Names, *, wide: bool = False) -> list[ResultTable]:
    """A table per target that has a result; ``wide`` adds what a terminal has no room for."""
    has_study_shape = connection.execute(WITH_STUDY_SHAPE).fetchone() == (True,)
    made = _study_table if has_study_shape else _median_table
    tables = [made(connection, names, target, wide) for target in names.targets]
    return [table for table in tables if table.columns and table.lines]


def _study_table(connection: DuckDBPyConnection, names: Names, target: str, wide: bool) -> ResultTable:
    found = rows(connection, STUDY_ROWS, [target])
    filled = {name for row in found for name, value in row.items() if value is not None}
    columns = [column for column in STUDY_COLUMNS if not column.wide or (wide and column.field in filled)]
    lines: list[Line] = []
    above = None
    for row in found:
        form = names.cells[row["cell_id"]].form
        goes_on = form == above
        values = [SAME if column.of_form and goes_on else _text(row[column.field], column.unit) for column in columns]
        lines.append(_line(SAME if goes_on else form, values, row["status"]))
        above = form
    texts = tuple(column.title for column in columns if column.unit is None)
    return ResultTable(target, tuple(column.title for column in columns), tuple(lines), texts)


def _median_table(connection: DuckDBPyConnection, names: Names, target: str, wide: bool) -> ResultTable:
    measured = medians(connection, target, MAIN_METRICS + MORE_METRICS)
    if not wide:
        main = sum(measure.metric in MAIN_METRICS for measure in measured)
        measured = dict(list(measured.items())[: max(main, FEW)])
    columns: dict[str, dict[str, str]] = {}
    for measure, found in measured.items():
        columns[title(measure, measured)] = {row["cell_id"]: _text(row["median"], measure.unit) for row in found}
        if measure.metric == "load_time" and (gains := speed_ups(connection, target, measure)):
            columns[f"speed-up of {title(measure, measured)}"] = gains
    lines = []
    for cell_id, status in connection.execute(STATUSES, [target]).fetchall():
        values = [texts.get(cell_id, NOTHING) for texts in columns.values()]
        lines.append(_line(names.cells[cell_id].whole, values, status))
    return ResultTable(target, tuple(columns), tuple(lines))


def _line(form: str, values: list[str], status: str) -> Line:
    """A cell that did not end well says so where its last number lacks, where the eye looks for the result."""
    lacking = [position for position, value in enumerate(values) if value == NOTHING]
    if status != "ok" and lacking:
        values[lacking[-1]] = status
    return Line(form, tuple(values), status)


def _text(value: Any, unit: str | None) -> str:
    return humanise(value, unit) if unit is not None else value or NOTHING
