"""Create the cell's table in the storage form that its levels ask for."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext


def run(step: Step, context: CellContext) -> None:
    """Run sql/<name>.sql and what the dialect must say after it (storage and compression by column)."""
    context.session.execute(context.step_sql(step))
    for statement in context.dialect.after_create(context.table, context.experiment.columns, context.cell.levels):
        context.session.execute(statement)
