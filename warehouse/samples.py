"""The rows behind the charts: every sample with the name of its cell, and sizes by part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.formatting import humanise
from warehouse.labels import CellName, Names
from warehouse.medians import MAIN_METRICS, Measure
from warehouse.selecting import Row, rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Sizes have a chart of their own, except within a series, which leaves out what a step cost besides time and WAL.
SAMPLES = """
select m.cell_id, m.step, m.metric, m.value, m.repetition, m.round, m.is_warmup, r.action
from measurement m
join cell c using (run_id, cell_id, replicate)
left join series_round r using (run_id, cell_id, replicate, round)
where c.target = ? and c.role = 'result' and c.status = 'ok' and m.status = 'ok' and m.value is not null
    and m.node is null and coalesce(m.clock, 'client') = 'client'
    and case when m.round is null then list_contains(?, m.metric) and m.unit <> 'bytes'
        else m.unit <> 'text' and not list_contains(?, m.metric) end
order by list_position(?, m.metric), m.measured_at
"""
ASIDE = ("rows", "result_rows", "cpu_time", "read_bytes", "write_bytes", "wal_full_page_images")
PARTS = {
    "table_bytes": "table",
    "toast_bytes": "TOAST",
    "index_bytes": "index",
    "auxiliary_bytes": "auxiliary",
    "undo_bytes": "undo",
}
OTHER = "other"
SIZES = """
select cell_id, max_by(median, measured_at) filter (metric = 'total_bytes') as total_bytes, {parts}
from summary
where target = ? and node is null and round is null
group by cell_id
having total_bytes is not null
"""
# Less than this share of the total is rounding, not a part.
NEGLIGIBLE = 0.005


@dataclass(frozen=True)
class Sample:
    """One sample that counts, or a warm-up."""

    cell: CellName
    measure: Measure
    value: float
    repetition: int
    round: int | None
    is_warmup: bool
    action: str | None = None

    @property
    def text(self) -> str:
        """The value as people read it."""
        return humanise(self.value, self.measure.unit)

    @property
    def told(self) -> str:
        """Which sample of its cell it is."""
        did = "" if self.action is None else f" ({self.action})"
        place = "" if self.round is None else f"round {self.round}{did}, "
        return f"{place}warm-up" if self.is_warmup else f"{place}repetition {self.repetition}"


@dataclass(frozen=True)
class Part:
    """One part of the size of a cell; ``total`` is the size of all parts."""

    cell: CellName
    name: str
    value: float
    total: float


def samples(connection: DuckDBPyConnection, names: Names, target: str) -> dict[Measure, list[Sample]]:
    """The samples of a target by measure, the main ones first; those of a series carry their round."""
    found: dict[Measure, list[Sample]] = {}
    for row in rows(connection, SAMPLES, [target, list(MAIN_METRICS), list(ASIDE), list(MAIN_METRICS)]):
        measure = Measure(row.pop("step"), row.pop("metric"))
        found.setdefault(measure, []).append(Sample(names.cells[row.pop("cell_id")], measure, **row))
    return found


def sizes(connection: DuckDBPyConnection, names: Names, target: str) -> list[Part]:
    """The parts of every size that was read outside a series, cells in declared order."""
    parts = ", ".join(f"max_by(median, measured_at) filter (metric = '{metric}') as {metric}" for metric in PARTS)
    found = rows(connection, SIZES.format(parts=parts), [target])
    found.sort(key=lambda row: names.cells[row["cell_id"]].position)
    return [part for row in found for part in _parts(names.cells[row["cell_id"]], row)]


def _parts(cell: CellName, row: Row) -> Iterator[Part]:
    total = row["total_bytes"]
    known = {name: row[metric] for metric, name in PARTS.items() if row[metric]}
    for name, value in known.items():
        yield Part(cell, name, value, total)
    rest = total - sum(known.values())
    if rest > total * NEGLIGIBLE or not known:
        yield Part(cell, OTHER, rest, total)
