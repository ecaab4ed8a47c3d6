"""Read the table's size, split by part and by node, and how large the values of a column are as stored."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext
from tasks.dialects.contract import SizeQuery
from tasks.errors import StatementFailed

VALUE_METHOD = "mean of the first thousand rows"


def run(step: Step, context: CellContext) -> None:
    """Record each part with the function that gave it, after a checkpoint."""
    context.settle()
    with context.session.lightly():
        for size in context.dialect.sizes(context.table):
            _record_size(step, context, size)
        if step.options["column"] is not None:
            _record_values(step, context, step.options["column"])


def _record_size(step: Step, context: CellContext, size: SizeQuery) -> None:
    try:
        rows = context.session.rows(size.sql)
    except StatementFailed as refused:
        if size.absent is None:
            raise
        # Without the place in the statement that the server quotes.
        said = str(refused).partition(" LINE ")[0]
        context.record(step.name, size.metric, None, size.method, reason=said)
        return
    for node, value in rows:
        reason = size.absent if value is None else None
        context.record(step.name, size.metric, value, size.method, node=node, reason=reason)
    if size.metric == "table_bytes":
        _record_skew(step, context, [float(value) for node, value in rows if node is not None])


def _record_skew(step: Step, context: CellContext, shares: list[float]) -> None:
    """How much more the fullest node has than its due share."""
    if any(shares):
        skew = max(shares) * len(shares) / sum(shares) - 1
        context.record(step.name, "skew", skew, "table_bytes by segment: largest over mean, less one")


def _record_values(step: Step, context: CellContext, name: str) -> None:
    column = next(one for one in context.experiment.columns if one.name == name)
    statement = context.dialect.column_size_sql(context.table, column)
    if statement is None:
        told = f"{context.dialect.name} does not store values one by one"
        context.record(step.name, "column_bytes", None, "pg_column_size", reason=told)
        return
    stored, whole = context.session.rows(statement)[0]
    reason = None if stored is not None else f"{name} has no value"
    context.record(step.name, "column_bytes", stored, f"pg_column_size({name}), {VALUE_METHOD}", reason=reason)
    context.record(step.name, "value_bytes", whole, f"octet_length({name}), {VALUE_METHOD}", reason=reason)
