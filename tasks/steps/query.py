"""Run a query again and again: warm-ups marked, every sample kept, its plan taken in a pass of its own."""

from __future__ import annotations

from statistics import median

from experiments.model import Plan, Step
from tasks.caches import bring_about
from tasks.context import CellContext
from tasks.dialects.plans import ReadPlan
from tasks.integrity import result_digest

METHOD = "statement and fetch, {} cache"
PATIENCE = 3
"""A query that does not settle is given up after this many times its repetitions."""


def run(step: Step, context: CellContext) -> None:
    """Time sql/<name>.sql by the client, and EXPLAIN ANALYZE it once for the server's time and plan.

    Without warm-ups that pass comes first, since it warms the caches as well as one.
    """
    query = context.step_sql(step)
    is_stable = bool(step.options["stable_within"])
    explains_first = not is_stable and not context.option(step, "warmups")
    context.settle()
    with context.scanning():
        if step.options["explain"] and explains_first:
            _explain(step, context, query)
        (_run_until_stable if is_stable else _run_repeatedly)(step, context, query)
        if step.options["explain"] and not explains_first:
            _explain(step, context, query)


def _run_repeatedly(step: Step, context: CellContext, query: str) -> None:
    for repetition in range(1, context.option(step, "warmups") + 1):
        _record_time(step, context, context.session.timed(query)[1], repetition, is_warmup=True)
    for repetition in range(1, _repeats(step, context) + 1):
        bring_about(step.options["cache"], context)
        with context.costs(step.name, repetition):
            rows, seconds = context.session.timed(query)
        _record_time(step, context, seconds, repetition)
        if repetition == 1:
            _record_result(step, context, rows)


def _repeats(step: Step, context: CellContext) -> int:
    return int(context.repeats or step.options["repeats"])


def _run_until_stable(step: Step, context: CellContext, query: str) -> None:
    """The first run apart, with its costs; of the others the last ones count, once they lie close together."""
    with context.costs(step.name):
        rows, seconds = context.session.timed(query)
    context.record(step.name, "first_query_time", seconds, "the first after a change", clock="client")
    _record_result(step, context, rows)
    wanted, limit = _repeats(step, context), step.options["stable_within"] / 100
    times: list[float] = []
    while not is_stable(times[-wanted:], wanted, limit) and len(times) < wanted * PATIENCE:
        times.append(context.session.timed(query)[1])
    for repetition, seconds in enumerate(times, 1):
        _record_time(step, context, seconds, repetition, is_warmup=repetition <= len(times) - wanted)


def is_stable(times: list[float], wanted: int, limit: float) -> bool:
    """Whether there are as many times as ``wanted``, none further than ``limit`` (a share) from their median."""
    if len(times) < wanted:
        return False
    middle = median(times)
    return all(abs(time - middle) <= limit * middle for time in times)


def _record_result(step: Step, context: CellContext, rows: list[tuple[object, ...]]) -> None:
    if step.options["digest"]:
        context.record(step.name, "result_digest", None, "of the fetched rows", text=result_digest(rows))
        context.record(step.name, "result_rows", len(rows), "rows fetched")


def _record_time(step: Step, context: CellContext, seconds: float, repetition: int, *, is_warmup: bool = False) -> None:
    method = METHOD.format(step.options["cache"])
    context.record(step.name, "query_time", seconds, method, repetition=repetition, is_warmup=is_warmup, clock="client")


def _explain(step: Step, context: CellContext, query: str) -> None:
    plan = context.dialect.explained(context.session, query)
    context.plans.append(Plan(step.name, plan.plan, plan.plan_hash))
    unknown = "the plan has no time" if plan.execution_seconds is None else None
    context.record(
        step.name, "execution_time", plan.execution_seconds, "EXPLAIN ANALYZE", clock="server", reason=unknown
    )
    if plan.pages is not None:
        context.record(step.name, "pages_accessed", plan.pages, "EXPLAIN BUFFERS, hit and read")
    context.record(step.name, "plan_nodes", None, "EXPLAIN ANALYZE", text=", ".join(plan.node_names))
    _record_cluster(step, context, plan)


def _record_cluster(step: Step, context: CellContext, plan: ReadPlan) -> None:
    """Which optimizer planned, what a slice of the plan took, and which segment was the slowest; if the plan says."""
    if plan.optimizer is not None:
        context.record(step.name, "optimizer", None, "EXPLAIN ANALYZE", text=plan.optimizer)
    if plan.slice_memory is not None:
        context.record(step.name, "slice_memory", plan.slice_memory, "EXPLAIN ANALYZE, most of any slice and segment")
    for share in plan.shares:
        method = "EXPLAIN ANALYZE, lowest scan of the plan"
        context.record(step.name, "scan_rows", share.rows, method, node=share.node)
        context.record(step.name, "scan_time", share.seconds, method, node=share.node, clock="server")
