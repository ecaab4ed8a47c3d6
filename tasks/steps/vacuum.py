"""VACUUM of one kind or another: to settle a table before it is measured, or as what is measured."""

from __future__ import annotations

import time

from experiments.model import Step
from tasks.context import CellContext, CellUnsupported
from tasks.dialects.contract import Autovacuum
from tasks.errors import StatementTimeout

POLL_SECONDS = 0.05
PATIENCE_SECONDS = 30
"""It looks at a database once a second: what it has not begun by then, it sees no reason to do."""
METHOD = "autovacuum, from being allowed to its end"


def run(step: Step, context: CellContext) -> None:
    """Time the VACUUM that ``mode`` says; an engine that keeps no dead rows has nothing to do."""
    mode = context.option(step, "mode")
    if mode == "none" or (mode == "settle" and not context.dialect.has_hint_bits(context.cell.levels)):
        return
    if mode == "autovacuum":
        _let_autovacuum_loose(step, context)
        return
    statement = context.dialect.vacuum_sql(context.table, full=mode == "VACUUM FULL")
    if statement is None:
        return
    if context.series.round is not None:
        context.settle()
    with context.costs(step.name):
        seconds = context.session.timed(statement)[1]
        context.session.is_hinted = True
    context.record(step.name, "vacuum_time", seconds, "VACUUM" if mode == "settle" else mode, clock="client")


def _let_autovacuum_loose(step: Step, context: CellContext) -> None:
    """Time how long it takes from being allowed until autovacuum has been at the table once."""
    autovacuum = context.dialect.autovacuum(context.table)
    if autovacuum is None:
        raise CellUnsupported(f"{context.dialect.name} has no autovacuum for this table")
    session, is_on = context.session, bool(context.session.value(autovacuum.is_on))
    if not is_on and not context.server.is_ours:
        raise CellUnsupported("autovacuum is off on this server, and not ours to switch on")
    context.settle()
    calling_back = (autovacuum.forbid, *(() if is_on else autovacuum.stop))
    # A session that has died, or is out of time, cannot call it back now: then it is done at the end of the block.
    context.undo += reversed(calling_back)
    try:
        with context.costs(step.name):
            seconds = _waited(autovacuum, context, is_on)
    finally:
        for statement in calling_back:
            session.execute(statement)
    del context.undo[-len(calling_back) :]
    reason = None
    if seconds is None:
        dead = session.value(autovacuum.dead_tuples)
        reason = f"autovacuum did not come within {PATIENCE_SECONDS} s: the server has counted {dead} dead tuples"
    context.record(step.name, "vacuum_time", seconds, METHOD, clock="client", reason=reason)


def _waited(autovacuum: Autovacuum, context: CellContext, is_on: bool) -> float | None:
    """The seconds until it has been there; None where it does not come.

    It looks at the counters of the server, so what the session has counted must be among them.
    """
    session = context.session
    if (flush := context.dialect.wal_flush_sql()) is not None:
        session.execute(flush)
    visits, started = session.value(autovacuum.visits), time.perf_counter()
    for statement in (autovacuum.allow, *(() if is_on else autovacuum.start)):
        session.execute(statement)
    while session.value(autovacuum.visits) == visits:
        waited = time.perf_counter() - started
        if waited > context.target.timeout:
            raise StatementTimeout(f"autovacuum did not end within {context.target.timeout:g} s")
        if waited > PATIENCE_SECONDS and not session.value(autovacuum.is_at_work):
            return None
        time.sleep(POLL_SECONDS)
    return time.perf_counter() - started
