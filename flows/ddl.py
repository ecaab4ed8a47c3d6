"""The SQL of a block, rendered without a server: what a run would send to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.matrix import owned_steps
from experiments.model import Block, Cell, Request, Step
from experiments.sqlfiles import rendered_sql
from experiments.steps import option_in
from experiments.template import Fragment
from tasks.datafiles import RowFile
from tasks.dialects.dialect import Dialect
from tasks.target_run import place_levels


@dataclass
class BlockSql:
    """The statements of one block, with files in the working directory.

    ``looked_up`` stands for the values that only a run can read from the rows.
    """

    request: Request
    dialect: Dialect
    block: Block
    looked_up: Mapping[str, object] = field(default_factory=dict)
    in_series: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.place = self.dialect.block_setup(f"b{self.block.block_id}", ".", self.block.levels)
        self.source = self.dialect.block_setup("source", ".", {})

    @property
    def table(self) -> str:
        """The block's table."""
        return self.place.table

    def sql(self, name: str, cell: Cell, options: Mapping[str, object] | None = None) -> str:
        """A SQL file of the experiment as ``cell`` runs it, without its semicolon."""
        experiment = self.request.experiment
        values = {
            **self.values(cell),
            "source": Fragment(self.source.table),
            **place_levels(self.dialect, cell.levels, self.table, experiment),
            **(options or {}),
        }
        return rendered_sql(experiment, name, self.dialect.lineage, values).strip().rstrip(";")

    def step_sql(self, step: Step, cell: Cell) -> str:
        """The SQL file of a step; its options may stand in it too."""
        return self.sql(step.options["sql"], cell, {**step.options, **self.in_series})

    def option(self, step: Step, key: str, cell: Cell) -> Any:
        """An option of a step; where it names a factor or parameter, the value in this cell."""
        return option_in(step, key, self.values(cell))

    def values(self, cell: Cell) -> dict[str, object]:
        """Everything that the experiment or the cell gives a name and a value."""
        files = {name: str(self.file(name, cell).path) for name in self.request.experiment.files}
        return {**self.request.parameters, **self.looked_up, **files, **cell.levels}

    def file(self, name: str | None, cell: Cell) -> RowFile:
        """A file of the experiment, the only one for None, as if it were made in the working directory."""
        experiment = self.request.experiment
        chosen = next(iter(experiment.files)) if name is None else name
        return RowFile.of(experiment, chosen, {**self.request.parameters, **cell.levels}, Path())

    def steps(self, cell: Cell, *, loading: bool) -> list[Step]:
        """The steps that ``cell`` owns, those of the load too if it is the one that loads."""
        return owned_steps(self.request.experiment, cell.levels, self.dialect.lineage, loading=loading)

    def create(self, step: Step, cell: Cell) -> Iterator[str]:
        """What makes the table in its storage form."""
        yield self.step_sql(step, cell)
        yield from self.dialect.after_create(self.table, self.request.experiment.columns, cell.levels)

    def index(self, step: Step, cell: Cell) -> Iterator[str]:
        """What builds the index of a level."""
        level = cell.levels.get(step.options["factor"])
        if level is not None and level != self.dialect.index_base_level:
            statement = self.dialect.create_index_sql(self.table, level, f"{step.name}_index")
            yield f"{statement}{self.dialect.index_options(cell.levels)}"

    def children(self, step: Step, cell: Cell) -> Iterator[str]:
        """What makes the tables below it: the first, and how many more there are."""
        count = self.option(step, "count", cell)
        first = self.dialect.child_sql(self.table, 0)
        if first is not None:
            yield f"-- the first of {count}\n{first}"

    def ddl(self) -> list[str]:
        """Every statement that shapes the storage of the block, in the order in which a run sends it."""
        shapes = {"create": self.create, "index": self.index, "children": self.children}
        statements = list(self.place.setup)
        for position, cell in enumerate(self.block.cells):
            for step in self.steps(cell, loading=position == 0):
                if step.kind in shapes:
                    statements += shapes[step.kind](step, cell)
        return statements
