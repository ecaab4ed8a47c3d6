"""Autovacuum that was let loose is called back, now or at the end of the block."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.context import CellContext
from tasks.errors import ServerGone
from tests.tasks.test_steps import TABLE, context, run, sent, step

FORBID = f"alter table {TABLE} set (autovacuum_enabled=off)"
CALLING_BACK = [
    FORBID,
    "alter system reset autovacuum",
    "alter system reset autovacuum_naptime",
    "select pg_reload_conf()",
]


def autovacuum(**answers: Any) -> CellContext:
    visits = iter([4, 5])
    counted = {"select pg_stat_get_autovacuum_count": lambda: [(next(visits),)]}
    return context(answers={"select current_setting('autovacuum')": [(False,)], **counted, **answers})


def test_what_was_called_back_is_not_called_back_again() -> None:
    into = autovacuum()
    run(step("vacuum", "vacuum", mode="autovacuum"), into)
    assert sent(into)[-4:] == CALLING_BACK
    assert into.undo == []


def test_a_session_that_died_leaves_it_to_the_end_of_the_block() -> None:
    into = autovacuum(**{FORBID: ServerGone("server closed the connection unexpectedly")})
    with pytest.raises(ServerGone):
        run(step("vacuum", "vacuum", mode="autovacuum"), into)
    assert list(reversed(into.undo)) == CALLING_BACK
