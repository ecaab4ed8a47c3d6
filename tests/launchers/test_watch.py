"""A postmaster that dies alone: what it has started would live on, and whoever waits for that would wait."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from tasks.launchers.connection import answer, cancel, connect
from tasks.launchers.launched import LaunchedServer
from tasks.launchers.place import Place
from tasks.launchers.process import started, wait_until
from tasks.launchers.registry import launch
from tasks.launchers.server import Owner
from tests.launchers.conftest import EMBEDDED

BUSY = "select count(*) from (select generate_series(1, 100000000000)) as g"
"""No wait in it at which a backend would look whether its postmaster lives, and nothing that it keeps."""
WORKING = "select count(*) from pg_stat_activity where query = %s and state = 'active'"


@pytest.fixture
def server(place: Place) -> Iterator[LaunchedServer]:
    with launch(EMBEDDED, place, Owner.run()) as launched:
        assert isinstance(launched, LaunchedServer)
        yield launched


class Waiting(threading.Thread):
    """Waits for the end of a statement that has none, and keeps how it ended."""

    def __init__(self, server: LaunchedServer) -> None:
        super().__init__(daemon=True)
        self.connection = connect(server.url, 5)
        self.error: psycopg.Error | None = None
        self.start()
        with connect(server.url, 5) as other:
            assert wait_until(lambda: other.execute(WORKING, [BUSY]).fetchone() == (1,), 20)

    def run(self) -> None:
        try:
            self.connection.execute(BUSY)
        except psycopg.Error as error:
            self.error = error


def test_whoever_waits_for_a_backend_is_told_that_its_postmaster_died(server: LaunchedServer) -> None:
    waiting = Waiting(server)
    family = {pid: born for pid in server.processes() if (born := started(pid))}
    os.kill(next(iter(family)), signal.SIGKILL)
    waiting.join(20)
    assert isinstance(waiting.error, psycopg.OperationalError)
    assert waiting.connection.closed
    assert wait_until(lambda: not any(started(pid) == born for pid, born in family.items()), 10)
    server.revive()
    assert answer(server.url, "select 1") == 1


def test_a_server_that_we_restart_is_watched_anew_and_left_alone(server: LaunchedServer) -> None:
    server.restart({"work_mem": "5MB"})
    pid = server.pid
    time.sleep(1.5)
    assert server.pid == pid
    assert answer(server.url, "show work_mem") == "5MB"
    waiting = Waiting(server)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    waiting.join(20)
    assert waiting.connection.closed


def test_a_server_that_takes_no_request_to_cancel_is_cut_off(
    server: LaunchedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped, it neither takes the request nor refuses it; its backend works on."""
    monkeypatch.setattr("tasks.launchers.connection.CANCEL_SECONDS", 0.5)
    waiting = Waiting(server)
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    cancel(waiting.connection)
    waiting.join(20)
    os.kill(server.pid, signal.SIGCONT)
    assert isinstance(waiting.error, psycopg.OperationalError)
    assert waiting.connection.closed


def test_a_server_that_answers_cancels_and_keeps_the_line(server: LaunchedServer) -> None:
    waiting = Waiting(server)
    cancel(waiting.connection)
    waiting.join(20)
    assert isinstance(waiting.error, psycopg.errors.QueryCanceled)
    assert waiting.connection.execute("select 1").fetchone() == (1,)
