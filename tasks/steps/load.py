"""Load the table, durably, and make sure that the rows and the storage are the ones asked for."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext
from tasks.integrity import check_rows, check_storage


def run(step: Step, context: CellContext) -> None:
    """Time sql/<name>.sql to its commit and on through CHECKPOINT; both times are kept."""
    statement = context.step_sql(step)
    context.checkpoint()
    with context.costs(step.name):
        committed = context.session.timed(statement)[1]
        durable = committed + context.checkpoint()
    context.record(step.name, "commit_time", committed, "statement and commit", clock="client")
    context.record(step.name, "load_time", durable, "statement, commit and checkpoint", clock="client")
    check_rows(step, context)
    check_storage(context)
