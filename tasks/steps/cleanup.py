"""Work that a pgbench step has put off: timed, and counted against the transactions that were spared it."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext, CellFailed

METHOD = "transactions over pgbench's own time and the cleanup's"


def run(step: Step, context: CellContext) -> None:
    """Time sql/<name>.sql; record tps_including_cleanup for the pgbench step that it comes ``after``."""
    statement = context.step_sql(step)
    context.settle()
    with context.costs(step.name):
        seconds = context.session.timed(statement)[1]
    context.record(step.name, "cleanup_time", seconds, "statement and commit", clock="client")
    before = step.options["after"]
    transactions, tps = (_recorded(context, before, metric) for metric in ("transactions", "tps"))
    rate = transactions / (transactions / tps + seconds) if transactions and tps else 0.0
    context.record(before, "tps_including_cleanup", rate, METHOD, clock="client")


def _recorded(context: CellContext, step: str, metric: str) -> float:
    """What that step has recorded in this cell as a whole, not in an interval of its progress."""
    for one in reversed(context.measurements):
        if one.step == step and one.metric == metric and one.round == context.series.round and one.value is not None:
            return one.value
    raise CellFailed(f"no {metric} of step {step} in this cell to count the cleanup against")
