"""Load the table, durably, and make sure that the rows and the storage are the ones asked for."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext
from tasks.integrity import check_rows, check_storage

STATEMENTS = {"source": "statement", "generated": "statement that also makes the rows"}
"""What was timed, by ``rows_from``: a load of rows that are there is not compared with one that makes them."""


def run(step: Step, context: CellContext) -> None:
    """Time sql/<name>.sql to its commit and on through CHECKPOINT; both times are kept."""
    statement = context.step_sql(step)
    context.settle()
    with context.costs(step.name):
        committed = context.session.timed(statement)[1]
        durable = committed + context.checkpoint()
    context.judge_wal(step.name, durable)
    statement = STATEMENTS[context.option(step, "rows_from")]
    context.record(step.name, "commit_time", committed, f"{statement} and commit", clock="client")
    context.record(step.name, "load_time", durable, f"{statement}, commit and {context.checkpointed}", clock="client")
    check_rows(step, context)
    check_storage(context)
