"""Gather the optimizer's statistics, apart from the load."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext


def run(step: Step, context: CellContext) -> None:
    """Time ANALYZE of the table, with the step's own statistics target where it has one.

    It writes a few rows of statistics, nothing that a checkpoint would have to bring to rest.
    """
    target = step.options["target"]
    aim, back = context.dialect.statistics_target_sql(target) if target else ((), ())
    with context.session.lightly():
        for statement in aim:
            context.session.execute(statement)
        seconds = context.session.timed(context.dialect.analyze_sql(context.table))[1]
        for statement in back:
            context.session.execute(statement)
    method = f"ANALYZE, statistics target {target}" if aim else "ANALYZE"
    context.record(step.name, "analyze_time", seconds, method, clock="client")
