"""Processes are known by number and start time; the server's user gets a plain environment."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from experiments.model import UserError
from tasks.launchers.process import account_for, family, inside, myself, started, wait_until
from tests.launchers.conftest import needs_root, sleeper


def test_a_process_has_one_start_time_and_none_once_it_is_gone() -> None:
    with sleeper() as process:
        first = started(process.pid)
        assert first is not None
        assert started(process.pid) == first
        assert started(os.getpid()) != first
        process.kill()
        assert wait_until(lambda: started(process.pid) is None, 5), "a zombie that nobody waited for is no process"
    assert started(process.pid) is None


@pytest.mark.parametrize("lists", [True, False])
def test_a_family_is_a_process_and_what_descends_from_it(lists: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the kernel's lists of children, and by looking at all processes where it keeps none."""
    monkeypatch.setattr("tasks.launchers.process._lists_children", lambda: lists)
    process = subprocess.Popen(["sh", "-c", "sleep 60 & wait"])
    try:
        assert wait_until(lambda: len(family(process.pid)) == 2, 5)
        assert family(process.pid)[0] == process.pid
    finally:
        for pid in family(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait()
    assert family(process.pid) == []


def test_only_the_programs_of_a_server_that_work_in_its_folder_are_its_processes(tmp_path: Path) -> None:
    folder, programs = tmp_path / "server", tmp_path / "bin"
    folder.mkdir()
    programs.mkdir()
    shutil.copy(shutil.which("sleep") or "", programs / "postgres")
    with (
        sleeper(folder, programs / "postgres") as own,
        sleeper(folder),
        sleeper(tmp_path, programs / "postgres"),
    ):
        assert inside(folder, os.geteuid(), programs) == [own.pid]
        assert inside(folder, os.geteuid() + 1, programs) == []


def test_server_programs_see_neither_our_settings_nor_our_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPORT", "1")
    monkeypatch.setenv("LD_LIBRARY_PATH", "/nowhere")
    told = myself().run(["sh", "-c", "env; ps -o sid= -p $$; umask"], Path("/")).stdout.decode()
    assert "PGPORT" not in told
    assert "/nowhere" not in told
    assert str(os.getsid(0)) not in told.split()
    assert told.split()[-1] == "0077"


def test_an_ordinary_user_runs_servers_as_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    account = account_for("embedded", None, {})
    assert (account.uid, account.is_self) == (4321, True)


@needs_root
def test_root_runs_servers_as_nobody_or_as_the_user_that_is_named() -> None:
    assert account_for("embedded", None, {}).name == "nobody"
    assert account_for("embedded", None, {"STORAGE_MATRIX_OS_USER": "daemon"}).name == "daemon"
    assert account_for("embedded", "bin", {"STORAGE_MATRIX_OS_USER": "daemon"}).name == "bin"
    assert account_for("embedded", None, {}).run(["id", "-un"], Path("/")).stdout == b"nobody\n"
    with pytest.raises(UserError) as error:
        account_for("embedded", "no-such-user", {})
    assert str(error.value) == (
        'target "embedded": no OS user "no-such-user"; name another in os_user or $STORAGE_MATRIX_OS_USER'
    )
    with pytest.raises(UserError) as error:
        account_for("embedded", "root", {})
    assert (
        str(error.value) == 'target "embedded": OS user "root" is root, which servers refuse; name another in os_user'
    )


@needs_root
def test_the_first_directory_that_a_user_cannot_enter_is_named(data_root: Path) -> None:
    account = account_for("embedded", None, {})
    closed = data_root / "closed"
    (closed / "below").mkdir(parents=True)
    closed.chmod(0o700)
    assert account.obstacle(data_root) is None
    assert account.obstacle(closed) == closed
    assert account.obstacle(closed / "below") == closed
