"""Change rows without changing what they say, and make sure that they still say it."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext
from tasks.integrity import check_rows
from tasks.steps.statement import timed_statement


def run(step: Step, context: CellContext) -> None:
    """Time sql/<name>.sql; then digest the rows, in a series only when it has looked at them.

    The digest reads the whole table: it would set the hint bits that the first query after a change is to be seen
    setting.
    """
    timed_statement(step, context, "update_time")
    if context.series.round is None:
        check_rows(step, context)
    else:
        context.series.changed = step
