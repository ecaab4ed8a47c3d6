"""Gather the optimizer's statistics, apart from the load."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext


def run(step: Step, context: CellContext) -> None:
    """Time ANALYZE of the table, or of some of its columns."""
    columns = step.options["columns"]
    seconds = context.session.timed(context.dialect.analyze_sql(context.table, columns))[1]
    method = f"ANALYZE of {', '.join(columns)}" if columns else "ANALYZE"
    context.record(step.name, "analyze_time", seconds, method, clock="client")
