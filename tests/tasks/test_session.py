"""What every session does around a statement, whichever driver runs it."""

from __future__ import annotations

import time

import pytest
from sqlalchemy.engine import URL

from tasks.errors import ServerGone, StatementFailed, StatementTimeout
from tasks.session import DuckDBSession, PostgresSession


def test_a_session_that_was_stopped_refuses_what_follows(duck: DuckDBSession) -> None:
    duck.stop()
    with pytest.raises(StatementFailed, match="interrupted"):
        duck.execute("select 1")
    duck.is_stopped = False
    assert duck.value("select 1") == 1


def test_no_statement_begins_after_the_limit_of_its_step(duck: DuckDBSession) -> None:
    duck.deadline = time.monotonic() - 1
    with pytest.raises(StatementTimeout, match="did not end within the limit of a step"):
        duck.execute("select 1")
    assert duck.statements == []
    duck.deadline = None
    assert duck.value("select 1") == 1


def test_what_is_light_leaves_a_session_settled(duck: DuckDBSession) -> None:
    duck.is_settled = duck.is_hinted = True
    with duck.lightly():
        duck.execute("select 1")
    assert (duck.is_settled, duck.is_hinted) == (True, True)
    duck.execute("select 1")
    assert (duck.is_settled, duck.is_hinted) == (False, False)


def test_a_server_that_does_not_take_us_is_gone() -> None:
    nobody = URL.create("postgresql+psycopg", "me", None, "127.0.0.1", 1, "db")
    with pytest.raises(ServerGone, match="Connection refused"):
        PostgresSession(nobody, timeout=1)
