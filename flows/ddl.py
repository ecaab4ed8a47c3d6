"""The SQL of a block, rendered without a server: what a run would send to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from experiments.matrix import at_base, step_is_for
from experiments.model import Block, Cell, Request, Step
from experiments.sqlfiles import sql_for
from experiments.template import Fragment, render
from tasks.dialects.dialect import Dialect
from tasks.target_run import place_levels


@dataclass
class BlockSql:
    """The statements of one block. ``directory`` is where an engine with a file per block puts it.

    ``values`` stand for what only a run can look up in the rows.
    """

    request: Request
    dialect: Dialect
    block: Block
    directory: str = "."
    values: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.place = self.dialect.block_setup(f"b{self.block.block_id}", self.directory, self.block.levels)
        self.source = self.dialect.block_setup("source", self.directory, {})

    @property
    def table(self) -> str:
        """The block's table."""
        return self.place.table

    def sql(self, name: str, cell: Cell) -> str:
        """A SQL file of the experiment as ``cell`` runs it."""
        experiment = self.request.experiment
        values = {
            **self.request.parameters,
            **self.values,
            "source": Fragment(self.source.table),
            **place_levels(self.dialect, cell.levels, self.table, experiment),
        }
        where = f"{experiment.name}/sql/{name}.sql"
        return render(sql_for(experiment, name, self.dialect.lineage), values, where).strip().rstrip(";")

    def steps(self, cell: Cell, *, loading: bool) -> list[Step]:
        """The steps that ``cell`` owns, those of the load too if it is the one that loads."""
        experiment, lineage = self.request.experiment, self.dialect.lineage
        is_base = at_base(experiment, cell.levels, lineage)
        owned = {"every": True, "load": loading, "base": is_base, "change": not is_base, "series": False}
        return [step for step in experiment.steps if owned.get(step.at) and step_is_for(step, lineage, cell.levels)]

    def create(self, step: Step, cell: Cell) -> Iterator[str]:
        """What makes the table in its storage form."""
        yield self.sql(step.options["sql"], cell)
        yield from self.dialect.after_create(self.table, self.request.experiment.columns, cell.levels)

    def index(self, step: Step, cell: Cell) -> Iterator[str]:
        """What builds the index of an in-place level."""
        level = cell.levels.get(step.options["factor"])
        if level is not None and level != self.dialect.index_base_level:
            statement = self.dialect.create_index_sql(self.table, str(level), f"{step.name}_index")
            yield f"{statement}{self.dialect.index_options(cell.levels)}"

    def ddl(self) -> list[str]:
        """Every statement that shapes the storage of the block, in the order in which a run sends it."""
        shapes = {"create": self.create, "index": self.index}
        statements = list(self.place.setup)
        for position, cell in enumerate(self.block.cells):
            for step in self.steps(cell, loading=position == 0):
                if step.kind in shapes:
                    statements += shapes[step.kind](step, cell)
        return statements
