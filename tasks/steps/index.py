"""Apply an in-place index level to the loaded table: drop the level before, build this one."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext


def run(step: Step, context: CellContext) -> None:
    """Time CREATE INDEX, and on through CHECKPOINT. The base level builds nothing."""
    level = str(context.cell.levels.get(step.options.get("factor", "index"), context.dialect.index_base_level))
    with context.session.lightly():
        for index in context.take_indexes():
            context.session.execute(context.dialect.drop_index_sql(context.table, index))
    if level == context.dialect.index_base_level:
        return
    name = f"{step.name}_index"
    options = context.dialect.index_options(context.cell.levels)
    statement = f"{context.dialect.create_index_sql(context.table, level, name)}{options}"
    context.settle()
    hinted = context.session.is_hinted
    with context.costs(step.name):
        built = context.session.timed(statement)[1]
        context.session.is_hinted = hinted
        context.indexes.append(name)
        durable = built + context.checkpoint()
    context.record(step.name, "index_build_time", built, "CREATE INDEX", clock="client")
    context.record(step.name, "index_durable_time", durable, f"CREATE INDEX and {context.checkpointed}", clock="client")
