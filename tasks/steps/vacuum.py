"""Settle the table: hint bits and visibility are set here, so that no timed query pays for them."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext


def run(step: Step, context: CellContext) -> None:
    """Time VACUUM; an engine that keeps no dead rows has nothing to do."""
    statement = context.dialect.vacuum_sql(context.table)
    if statement is None:
        return
    with context.costs(step.name):
        seconds = context.session.timed(statement)[1]
    context.record(step.name, "vacuum_time", seconds, "VACUUM", clock="client")
