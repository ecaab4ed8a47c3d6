"""A family of tables below the cell's table, made and dropped in batches, with locks for those who read all of it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from experiments.model import Step
from tasks.context import CellContext, CellUnsupported
from tasks.dialects.dialect import child_name
from tasks.launchers.server import SettingsRefused

SETTING = "max_locks_per_transaction"
SPARE = 16
"""Locks that a session needs beside those of the family: catalogs, the transaction itself."""


def unmet(context: CellContext) -> str | None:
    """Without inheritance there is no family."""
    if context.dialect.child_sql(context.table, 0) is None:
        return f"{context.dialect.name} has no tables that inherit from another one"
    return None


def run(step: Step, context: CellContext) -> None:
    """Make ``count`` children; what undoes it is left for the end of the block."""
    count, per_batch = context.option(step, "count"), step.options["per_batch"]
    raised = make_room_for_locks(count, context.option(step, "readers"), context)
    seconds = 0.0
    with context.costs(step.name):
        for numbers in _batches(count, per_batch):
            names = [child_name(context.table, number) for number in numbers]
            context.undo.append("; ".join(context.dialect.drop_table_sql(name) for name in names))
            made = [context.dialect.child_sql(context.table, number) or "" for number in numbers]
            seconds += context.session.timed("; ".join(made))[1]
    method = f"in transactions of {per_batch} tables{raised}"
    context.record(step.name, "create_time", seconds, method, clock="client")


def _batches(count: int, per_batch: int) -> Iterator[range]:
    return (range(first, min(first + per_batch, count)) for first in range(0, count, per_batch))


def locks_needed(count: int, readers: int, indexes: int) -> int:
    """Locks that ``readers`` hold together while each reads the parent: on every table and every index of it."""
    return readers * ((count + 1) * (1 + indexes) + SPARE)


def make_room_for_locks(count: int, readers: int, context: CellContext) -> str:
    """Have the server run with a lock table that is large enough, and say so where it was not.

    Raises ``CellUnsupported`` where that is not possible.
    """
    statement = context.dialect.locks_sql()
    if statement is None:
        return ""
    each, sessions = context.session.rows(statement)[0]
    needed = locks_needed(count, readers, len(context.indexes))
    if needed <= each * sessions:
        return ""
    wanted = math.ceil(needed / sessions)
    why = (
        f"{count:,} tables with {len(context.indexes)} index(es) each, read by {readers} session(s) at once, need"
        f" {needed:,} locks; {SETTING} = {each} for {sessions} sessions gives {each * sessions:,}:"
        f" set {SETTING} to {wanted} at least"
    )
    if not context.server.is_ours:
        raise CellUnsupported(why)
    try:
        context.target.settle({**context.target.settings, SETTING: str(wanted)})
    except SettingsRefused as refused:
        raise CellUnsupported(f"{why}: {refused}") from None
    return f", with {SETTING} = {wanted}"
