"""Short names for the cells of a run: what all storage forms of a target have in common goes without saying."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.model import Levels
from warehouse.rows import in_words

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PLANNED = """
select target, cell_id, any_value(levels), any_value(storage_levels), any_value(storage_form), any_value(in_place),
    bool_and(is_base), min(position)
from planned_cell
where role = 'result' and status = 'planned'
group by target, cell_id
order by min(position)
"""


@dataclass(frozen=True)
class CellName:
    """How a cell is called where there is little room. ``position`` is its place in the declared order."""

    target: str
    form: str
    in_place: str | None
    is_base: bool
    levels: Levels
    position: int

    @property
    def whole(self) -> str:
        """Form and in-place level together, the latter only where it is more than the base."""
        return self.form if self.in_place is None or self.is_base else f"{self.form}, {self.in_place}"


@dataclass(frozen=True)
class Names:
    """The names of all cells that were to run. ``shared`` has the levels that every form of a target has."""

    cells: Mapping[str, CellName]
    shared: Mapping[str, Levels]

    @property
    def targets(self) -> list[str]:
        """The targets in declared order."""
        return list(self.shared)

    def forms(self, target: str) -> list[str]:
        """The storage forms of a target in declared order."""
        return list(dict.fromkeys(name.form for name in self.cells.values() if name.target == target))

    def in_place(self, target: str) -> list[str]:
        """The in-place levels of a target in declared order, the base level first; empty without such factors."""
        named = sorted(
            (name for name in self.cells.values() if name.target == target), key=lambda name: not name.is_base
        )
        return list(dict.fromkeys(name.in_place for name in named if name.in_place))

    def factors(self, target: str) -> dict[str, list[str]]:
        """The factors that vary on a target, with their levels in declared order."""
        found: dict[str, dict[str, None]] = {}
        for name in self.cells.values():
            if name.target == target:
                for factor, level in name.levels.items():
                    found.setdefault(factor, {})[str(level)] = None
        return {factor: list(levels) for factor, levels in found.items() if len(levels) > 1}


def read_names(connection: DuckDBPyConnection) -> Names:
    """The names of the run's cells, in declared order."""
    planned = connection.execute(PLANNED).fetchall()
    targets = dict.fromkeys(str(row[0]) for row in planned)
    shared = {target: _shared(json.loads(row[3]) for row in planned if row[0] == target) for target in targets}
    cells = {}
    for target, cell_id, levels, storage_levels, storage_form, in_place, is_base, position in planned:
        form = _without(json.loads(storage_levels), shared[target]) or storage_form
        cells[cell_id] = CellName(target, form, in_place, is_base, json.loads(levels), position)
    return Names(cells, shared)


def _shared(forms: Iterable[Levels]) -> Levels:
    """The levels that all of several forms have; none where there is only one, which would lose its name."""
    distinct = list({json.dumps(form): form for form in forms}.values())
    if len(distinct) < 2:
        return {}
    first, *others = distinct
    return {factor: level for factor, level in first.items() if all(form.get(factor) == level for form in others)}


def _without(levels: Levels, shared: Levels) -> str:
    return in_words({factor: level for factor, level in levels.items() if factor not in shared})
