"""Time any SQL of the experiment, with what it costs the server."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext


def run(step: Step, context: CellContext) -> None:
    """Time sql/<name>.sql through its commit, after a checkpoint."""
    timed_statement(step, context, "statement_time")


def timed_statement(step: Step, context: CellContext, metric: str) -> None:
    """Run the step's SQL and record its time as ``metric``."""
    statement = context.step_sql(step)
    context.settle()
    with context.costs(step.name):
        seconds = context.session.timed(statement)[1]
    context.record(step.name, metric, seconds, "statement and commit", clock="client")
