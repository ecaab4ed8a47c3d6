"""Create the cell's table in the storage form that its levels ask for."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext


def run(step: Step, context: CellContext) -> None:
    """Run sql/<name>.sql and what the dialect must say after it (storage and compression by column)."""
    session, was_settled = context.session, context.session.is_settled
    session.execute(context.step_sql(step))
    for statement in context.dialect.after_create(context.table, context.experiment.columns, context.cell.levels):
        session.execute(statement)
    # An empty table has left the next checkpoint nothing but pages of the catalog.
    session.is_settled = was_settled and not session.rows(f"select 1 from {context.table} limit 1")
