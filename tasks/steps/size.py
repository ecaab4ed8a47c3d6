"""Read the table's size, split by part."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext


def run(step: Step, context: CellContext) -> None:
    """Record each part with the function that gave it, after a checkpoint."""
    context.checkpoint()
    for size in context.dialect.sizes(context.table):
        for node, value in context.session.rows(size.sql):
            context.record(step.name, size.metric, value, size.method, node=node)
