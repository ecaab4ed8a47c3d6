"""Values that the experiment's own SQL asks the engine for: rows of metric and value."""

from __future__ import annotations

from experiments.model import Step
from tasks.context import CellContext, CellFailed
from tasks.errors import StatementFailed
from tasks.extensions import missing

# Not supported, no such function, wrong kind of relation, not allowed: this server cannot tell, whatever we do.
CANNOT = ("0A000", "42883", "42809", "42501")


def run(step: Step, context: CellContext) -> None:
    """Record what sql/<name>.sql gives; a metric that the server cannot tell is missing, with the reason."""
    names = step.options["metrics"]
    reason = missing(context, step.options["extensions"])
    if reason is not None:
        _record_missing(step, context, names, reason)
        return
    try:
        with context.session.lightly():
            found: dict[str, float | None] = dict(context.session.rows(context.step_sql(step)))
    except StatementFailed as error:
        if error.sqlstate not in CANNOT:
            raise
        _record_missing(step, context, names, str(error))
        return
    for name in found.keys() - set(names):
        raise CellFailed(f"step {step.name}: its SQL gives {name}, which is not among its metrics")
    for name in names:
        method = f"sql/{step.options['sql']}.sql"
        value = found.get(name)
        context.record(step.name, name, value, method, reason=None if value is not None else "the SQL gave no value")


def _record_missing(step: Step, context: CellContext, names: tuple[str, ...], reason: str) -> None:
    for name in names:
        context.record(step.name, name, None, "not measured", status="unsupported", reason=reason)
