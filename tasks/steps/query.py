"""Run a query again and again: warm-ups marked, every sample kept, its plan taken in a pass of its own."""

from __future__ import annotations

from experiments.model import Plan, Step
from tasks.caches import bring_about
from tasks.context import CellContext
from tasks.integrity import result_digest

METHOD = "statement and fetch, {} cache"


def run(step: Step, context: CellContext) -> None:
    """Time sql/<name>.sql by the client; then EXPLAIN ANALYZE it once for the server's time and plan."""
    query = context.step_sql(step)
    context.checkpoint()
    _warm_up(step, context, query)
    for repetition in range(1, (context.repeats or step.options["repeats"]) + 1):
        bring_about(step.options["cache"], context)
        with context.costs(step.name, repetition):
            seconds = context.session.timed(query)[1]
        _record_time(step, context, seconds, repetition)
    _explain(step, context, query)


def _warm_up(step: Step, context: CellContext, query: str) -> None:
    for repetition in range(1, step.options["warmups"] + 1):
        rows, seconds = context.session.timed(query)
        _record_time(step, context, seconds, repetition, is_warmup=True)
        if repetition == 1 and step.options["digest"]:
            context.record(step.name, "result_digest", None, "of the fetched rows", text=result_digest(rows))
            context.record(step.name, "rows", len(rows), "rows fetched")


def _record_time(step: Step, context: CellContext, seconds: float, repetition: int, *, is_warmup: bool = False) -> None:
    method = METHOD.format(step.options["cache"])
    context.record(step.name, "query_time", seconds, method, repetition=repetition, is_warmup=is_warmup, clock="client")


def _explain(step: Step, context: CellContext, query: str) -> None:
    plan = context.dialect.read_plan(context.session.rows(context.dialect.explain_sql(query)))
    context.plans.append(Plan(step.name, plan.plan, plan.plan_hash))
    context.record(step.name, "execution_time", plan.execution_seconds, "EXPLAIN ANALYZE", clock="server")
    if plan.pages is not None:
        context.record(step.name, "pages_accessed", plan.pages, "EXPLAIN BUFFERS, hit and read")
    context.record(step.name, "plan_nodes", None, "EXPLAIN ANALYZE", text=", ".join(plan.node_names))
