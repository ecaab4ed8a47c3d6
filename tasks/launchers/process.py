"""Run programs as the unprivileged user of a server, and tell one process from another that reused its number."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from experiments.model import UserError

OS_USER = "STORAGE_MATRIX_OS_USER"
FOLDER = "STORAGE_MATRIX_FOLDER"
"""In the environment of all that we run for a server: the shell by which pg_ctl starts it is known by that alone."""


@dataclass(frozen=True)
class Account:
    """The operating system user that a server runs as; ``is_self`` when that is who we are."""

    name: str
    uid: int
    gid: int
    is_self: bool

    def run(
        self,
        command: Sequence[str | Path],
        folder: Path,
        environment: Mapping[str, str] | None = None,
        output: IO[bytes] | int = subprocess.PIPE,
        text: str = "",
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program in a session of its own: Ctrl-C in the terminal is for us, not for a server.

        The working directory is ``folder``: it is how the processes of a server are recognised later.
        """
        return subprocess.run(
            [str(part) for part in command],
            check=False,
            cwd=folder,
            env=plain_environment() | {FOLDER: str(folder.resolve())} | dict(environment or {}),
            input=text.encode(),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            umask=0o077,
            user=None if self.is_self else self.uid,
            group=None if self.is_self else self.gid,
            extra_groups=None if self.is_self else [],
        )

    def can(self, test: str, path: Path) -> bool:
        """Ask the system, since mode bits alone know nothing of access lists: ``test -x PATH`` as this user."""
        return self.run(["test", test, path], Path("/")).returncode == 0

    def obstacle(self, path: Path) -> Path | None:
        """The first directory on the way to ``path`` that this user cannot enter."""
        if self.can("-x", path):
            return None
        ways = [*reversed(path.parents), path]
        return next((way for way in ways if not self.can("-x", way)), path)


def plain_environment() -> dict[str, str]:
    """What server programs see of our environment: no PG* variable, no locale, no library path of ours."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def account_for(target: str, os_user: str | None, environ: Mapping[str, str]) -> Account:
    """Ourselves; as root (PostgreSQL refuses to run as root) the user of option, environment, or ``nobody``."""
    if os.geteuid() != 0:
        return myself()
    name = os_user or environ.get(OS_USER) or "nobody"
    try:
        entry = pwd.getpwnam(name)
    except KeyError:
        raise UserError(f'target "{target}": no OS user "{name}"; name another in os_user or ${OS_USER}', 4) from None
    if entry.pw_uid == 0:
        raise UserError(
            f'target "{target}": OS user "{name}" is root, which servers refuse; name another in os_user', 4
        )
    return Account(name, entry.pw_uid, entry.pw_gid, is_self=False)


def myself() -> Account:
    """Known by number: a container may run as one that no password file names."""
    return Account(f"uid {os.geteuid()}", os.geteuid(), os.getegid(), is_self=True)


def started(pid: int) -> str | None:
    """When a process started, as an opaque text; None when there is no such process (a zombie is none).

    Together with the number it identifies a process: numbers come back, also after a reboot.
    """
    try:
        state, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return _started_elsewhere(pid) if not Path("/proc/self/stat").exists() else None
    return None if state in "ZX" else f"{rest[18]}@{_boot()}"


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    except OSError:
        return ""


def _started_elsewhere(pid: int) -> str | None:
    """Systems without /proc."""
    import psutil

    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else str(process.create_time())
    except psutil.NoSuchProcess:
        return None


def family(pid: int) -> list[int]:
    """A process and all that descend from it; empty when it is gone."""
    import psutil

    try:
        if _lists_children():
            return [pid, *_descendants(pid)]
        return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    except (psutil.NoSuchProcess, FileNotFoundError, ProcessLookupError):
        return []


def _descendants(pid: int) -> Iterator[int]:
    """By the kernel's own lists: psutil reads every process of the machine, ten milliseconds of each metered step."""
    for task in os.listdir(f"/proc/{pid}/task"):
        with suppress(FileNotFoundError, ProcessLookupError):
            for child in map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split()):
                yield child
                yield from _descendants(child)


@cache
def _lists_children() -> bool:
    return Path(f"/proc/self/task/{os.getpid()}/children").exists()


def inside(folder: Path, uid: int, programs: Path) -> list[int]:
    """The processes of one server: running as ``uid``, with their working directory in ``folder``, and started by us.

    That they are if they run one of ``programs`` or have our word in their environment (which a server's own titles
    overwrite). A shell that somebody opened in the folder is left alone.
    """
    import psutil

    found = []
    where, what = folder.resolve(), programs.resolve()
    for process in psutil.process_iter():
        try:
            is_there = process.uids().real == uid and Path(process.cwd()).is_relative_to(where)
            if is_there and (Path(process.exe()).is_relative_to(what) or process.environ().get(FOLDER) == str(where)):
                found.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return found


def send(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Poll often enough that a start or stop of 0.1 s is not rounded up."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
