"""What is done on every node of a cluster at once; here each node is the embedded server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from tasks.errors import ServerGone, StatementFailed, StatementTimeout
from tasks.launchers.server import Server
from tasks.session import PostgresSession

ASLEEP = "select count(*) from pg_stat_activity where query = 'select pg_sleep(3)' and state = 'active'"


@pytest.fixture
def session(server_of: Callable[[str], Server]) -> Iterator[PostgresSession]:
    """A session on a cluster of two nodes."""
    url = server_of("embedded").url
    opened = PostgresSession(url, timeout=20, nodes=[url, url])
    yield opened
    opened.close()


def test_every_node_runs_it_at_the_same_time(session: PostgresSession, embedded: PostgresSession) -> None:
    work = threading.Thread(target=session.on_each_node, args=("select pg_sleep(3)",))
    work.start()
    most = 0
    while work.is_alive() and most < 2:
        most = max(most, embedded.value(ASLEEP))
    work.join()
    assert most == 2
    assert [statement.sql for statement in session.statements] == ["select pg_sleep(3)"]


def test_without_nodes_the_session_runs_it_itself(embedded: PostgresSession) -> None:
    embedded.on_each_node("create temp table here (i int)")
    assert embedded.value("select count(*) from here") == 0


def test_what_a_node_refuses_is_told(session: PostgresSession) -> None:
    with pytest.raises(StatementFailed, match="division by zero"):
        session.on_each_node("select 1 / 0")
    session.on_each_node("select 1")


def test_a_node_keeps_to_the_limit_of_a_statement(server_of: Callable[[str], Server]) -> None:
    url = server_of("embedded").url
    session = PostgresSession(url, timeout=0.2, nodes=[url])
    with pytest.raises(StatementTimeout, match="statement timeout"):
        session.on_each_node("select pg_sleep(20)")
    session.close()


def test_a_node_that_dies_is_a_server_that_is_gone(session: PostgresSession) -> None:
    with pytest.raises(ServerGone, match="terminating connection"):
        session.on_each_node("select pg_terminate_backend(pg_backend_pid())")


def test_a_stop_ends_what_the_nodes_do(session: PostgresSession, embedded: PostgresSession) -> None:
    told: list[str] = []

    def work() -> None:
        with pytest.raises(StatementFailed) as refused:
            session.on_each_node("select pg_sleep(3)")
        told.append(str(refused.value))

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive() and embedded.value(ASLEEP) < 2:
        pass
    session.stop()
    thread.join()
    assert told == ["canceling statement due to user request"]
