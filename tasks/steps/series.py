"""Rounds of other steps on the same table: what each does to it, then what is looked at."""

from __future__ import annotations

from experiments.matrix import step_is_for
from experiments.model import Round, Step
from experiments.series import TIMES
from tasks.context import CellContext
from tasks.integrity import check_rows
from tasks.steps.registry import runner

AS_IT_IS = "nothing"


def run(step: Step, context: CellContext) -> None:
    """Run every round; the rows are checked once the rounds of a kind are over."""
    try:
        for one in step.options["rounds"]:
            for turn in range(1, TIMES.value_in(one.times, context.values) + 1):
                context.series.turn = turn
                _run_round(step, one, context)
            if context.series.changed is not None:
                check_rows(context.series.changed, context)
                context.series.changed = None
    finally:
        context.series.round = None


def _run_round(series: Step, one: Round, context: CellContext) -> None:
    context.series.round = context.series.next_round
    context.series.next_round += 1
    context.record(series.name, "action", None, "declared", text=", ".join(one.do) or AS_IT_IS)
    for name in (*one.do, *one.watch):
        step = next(step for step in context.experiment.steps if step.name == name)
        if step_is_for(step, context.dialect.lineage, context.cell.levels):
            runner(step.kind)(step, context)
