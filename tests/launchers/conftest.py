"""Homes and data directories of a test's own; nothing of a test stays, neither a file nor a process."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from experiments.model import Target
from tasks.launchers.place import Place
from tasks.launchers.postmaster import Postmaster, discard
from tasks.launchers.process import account_for, send
from tasks.launchers.record import folders, take

ROOT = Path(__file__).parents[2]
DEBIAN = Path("/usr/lib/postgresql/15/bin")
EMBEDDED = Target("embedded", "local", "postgresql", options={"bin": "embedded"})
DUCKDB = Target("duckdb", "file", "duckdb")
PATH = os.pathsep.join([str(ROOT), *(entry for entry in sys.path if entry.endswith("site-packages"))])

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def processes_below(folder: Path) -> list[int]:
    """Whatever has its working directory in a folder; what a test started must not be among it afterwards."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(folder):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


@contextmanager
def sleeper(
    folder: Path | None = None, program: str | Path = "sleep", environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does nothing, in a folder, until the test is over with it."""
    process = subprocess.Popen([program, "60"], cwd=folder, env=os.environ | dict(environment or {}))
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def python_for(user: str | None) -> str:
    """Our interpreter, or one of the same version where the user cannot get to ours."""
    if user is None:
        return sys.executable
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    account = account_for("test", user, {})
    for candidate in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        if account.can("-x", Path(candidate)) and all(account.can("-r", Path(entry)) for entry in PATH.split(":")):
            return candidate
    return pytest.skip(f"{user} can run no {version} with our packages")


def kill_during_insert(segment: Postmaster, *, with_children: bool = True) -> None:
    """kill -9 of a Greenplum segment as soon as its part of an INSERT runs: of the postmaster and all that it started.

    Without its children: they live on, as far as the system is concerned.
    """
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        pids = segment.processes()
        if any("MPPEXEC INSERT" in _title(pid) for pid in pids):
            time.sleep(0.3)
            send(pids if with_children else pids[:1], signal.SIGKILL)
            return
        time.sleep(0.02)


def _title(pid: int) -> str:
    """What a process says that it does; a backend may have ended meanwhile."""
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ""


@contextmanager
def temporary_root() -> Iterator[Path]:
    """Short, since a socket's path is, and entered by the server's user, which pytest's own directory is not."""
    root = Path("/var/tmp") / f"sm-test-{secrets.token_hex(4)}"
    root.mkdir(mode=0o711)
    root.chmod(0o711)
    yield root
    for place in Place.of(root, {"STORAGE_MATRIX_DATA": str(root)}).neighbours():
        for path in folders(place):
            folder = take(path)
            if folder is not None:
                discard(folder)
    left = processes_below(root)
    shutil.rmtree(root, ignore_errors=True)
    assert left == []


@pytest.fixture
def data_root() -> Iterator[Path]:
    with temporary_root() as root:
        yield root


@pytest.fixture
def place(data_root: Path, tmp_path: Path) -> Place:
    return Place.of(tmp_path / "höme with spaces", os.environ | {"STORAGE_MATRIX_DATA": str(data_root)})


@pytest.fixture
def script(data_root: Path, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Run Python in a process of its own, which can be killed, or in the shoes of another user."""
    begun: list[subprocess.Popen[str]] = []

    def run(code: str, user: str | None = None, home: Path = tmp_path / "home") -> subprocess.Popen[str]:
        entry = pwd.getpwnam(user) if user else None
        process = subprocess.Popen(
            [python_for(user), "-c", f"{PRELUDE}\n{code}"],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"STORAGE_MATRIX_DATA": str(data_root), "PYTHONPATH": PATH, "SM_HOME": str(home)},
            cwd="/",
            user=entry.pw_uid if entry else None,
            group=entry.pw_gid if entry else None,
            extra_groups=[] if entry else None,
        )
        begun.append(process)
        return process

    yield run
    for process in begun:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


PRELUDE = """
import os, sys, time
from pathlib import Path
from experiments.model import Target
from tasks.launchers import service
from tasks.launchers.connection import answer
from tasks.launchers.place import Place
from tasks.launchers.reaping import reap_orphans
from tasks.launchers.registry import acquire, find_user_server, launch
from tasks.launchers.server import Owner
place = Place.of(Path(os.environ["SM_HOME"]), os.environ)
embedded = Target("embedded", "local", "postgresql", options={"bin": "embedded"})
"""
