"""Gather the optimizer's statistics, apart from the load."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext


def run(step: Step, context: CellContext) -> None:
    """Time ANALYZE of the table."""
    seconds = context.session.timed(context.dialect.analyze_sql(context.table))[1]
    context.record(step.name, "analyze_time", seconds, "ANALYZE", clock="client")
