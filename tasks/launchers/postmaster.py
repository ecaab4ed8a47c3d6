"""One postmaster that we launched: its configuration, start, stop, and what its log says when it will not start."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tasks.launchers.complaint import ignored, is_told, reason
from tasks.launchers.process import Account, family, send, started, wait_until
from tasks.launchers.record import ServerFolder
from tasks.launchers.shared_memory import remove_segment

START_SECONDS = 300
"""Long, since a start after a crash replays the WAL since the last checkpoint, and we allow much of that."""
FAST_SECONDS = 60
KILL_SECONDS = 10


class StartFailed(Exception):
    """The postmaster did not come up; the text is its own reason, in one line.

    ``is_told`` where it gave one: it refuses what it was asked for. Without one it was killed, or is still at it.
    """

    def __init__(self, reason: str, *, is_told: bool = True) -> None:
        super().__init__(reason)
        self.is_told = is_told


@dataclass
class Postmaster:
    """A data directory and the process that serves it.

    Our configuration file lies outside the data directory, which belongs to the server's user, and includes the one
    that initdb wrote: so root never writes into a directory in which somebody else could place a link.
    """

    folder: ServerFolder
    account: Account
    programs: Path
    data: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[str] = ()
    ignored: Mapping[str, str] = field(default_factory=dict)
    """Settings that it started without, and its words."""
    _seen: tuple[int, str] | None = None

    @property
    def name(self) -> str:
        return self.data.name

    @property
    def configuration(self) -> Path:
        return self.folder.path / f"{self.name}.conf"

    @property
    def log(self) -> Path:
        return self.folder.path / f"{self.name}.log"

    def configure(self, settings: Mapping[str, str]) -> None:
        """Write the settings; they count from the next start on."""
        lines = [f"include {_quoted(str(self.data / 'postgresql.conf'))}"]
        lines += [f"{name} = {_quoted(value)}" for name, value in settings.items()]
        partial = self.configuration.with_suffix(".new")
        partial.write_text("\n".join(lines) + "\n")
        partial.chmod(0o644)
        partial.replace(self.configuration)

    def forget_altered(self) -> None:
        """Take back what ALTER SYSTEM has set: a step does that, and may have been killed before it undid it."""
        altered = self.data / "postgresql.auto.conf"
        if not altered.exists() or all(line.startswith("#") for line in altered.read_text().splitlines()):
            return
        # Its own user empties it: without the file the server complains, which would be told as a reason.
        self.account.run(["cp", "/dev/null", altered], self.folder.path)
        if (pid := self.pid()) is not None:
            send([pid], signal.SIGHUP)

    def start(self) -> None:
        """Return when it accepts connections; StartFailed tells why it does not."""
        self._drop_stale_lock()
        begin = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            result = self.account.run(self.starter(), self.folder.path, self.environment, output=log)
        lines = self._lines(begin)
        if result.returncode != 0:
            raise StartFailed(reason(lines), is_told=is_told(lines))
        self.ignored = ignored(lines)

    def starter(self) -> list[str | Path]:
        """The command that starts it and waits until it accepts connections."""
        options = shlex.join(["-c", f"config_file={self.configuration}", *self.options])
        return [self.programs / "pg_ctl", "start", "-w", "-t", str(START_SECONDS), "-D", self.data, "-o", options]

    def stop(self) -> None:
        """Fast shutdown, with its checkpoint: the data is used again."""
        pid = self.pid()
        if pid is None:
            return
        born = started(pid)
        send([pid], signal.SIGINT)
        if not wait_until(lambda: started(pid) != born, FAST_SECONDS):
            kill(self.processes())

    def pid(self) -> int | None:
        """The postmaster, if the one that its data directory names is alive and works there."""
        seen = self._seen  # another thread may ask, too
        if seen is None or started(seen[0]) != seen[1]:
            seen = self._seen = self._look()
        return seen[0] if seen else None

    def processes(self) -> list[int]:
        pid = self.pid()
        return family(pid) if pid else []

    def kill_leftovers(self) -> None:
        """End what still works in the data directory of a postmaster that has died."""
        kill([pid for pid in self.folder.processes() if _works_in(pid, self.data)])

    def _look(self) -> tuple[int, str] | None:
        pid = named_pid(self.data / "postmaster.pid")
        if pid is None or pid not in self.folder.processes():
            return None
        born = started(pid)
        return (pid, born) if born else None

    def _drop_stale_lock(self) -> None:
        """The lock files of a postmaster that was killed keep the next one from starting while anything has its number.

        Its backends still hold its shared memory: they have to go first.
        """
        stale = named_pid(self.data / "postmaster.pid")
        if stale is None or self.pid() is not None:
            return
        self.kill_leftovers()
        remove_segment(self.data / "postmaster.pid", self.account)
        for lock in [self.data / "postmaster.pid", *self.folder.path.glob("socket/.s.PGSQL.*.lock")]:
            if named_pid(lock) == stale:
                lock.unlink()

    def _lines(self, begin: int) -> list[str]:
        with self.log.open("rb") as log:
            log.seek(begin)
            return log.read().decode(errors="replace").splitlines()


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"


def _works_in(pid: int, data: Path) -> bool:
    import psutil

    try:
        return Path(psutil.Process(pid).cwd()) == data.resolve()
    except psutil.Error:
        return False


def named_pid(lock: Path) -> int | None:
    """The process that a lock file names; only the first line is a number."""
    try:
        return int(lock.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None


def kill(pids: Sequence[int]) -> list[int]:
    """SIGKILL; returns those that are still there after a while (in an uninterruptible wait for a disk)."""
    born = {pid: started(pid) for pid in pids}
    send(pids, signal.SIGKILL)

    def left() -> list[int]:
        return [pid for pid, start in born.items() if start is not None and started(pid) == start]

    wait_until(lambda: not left(), KILL_SECONDS)
    return left()


def end(folder: ServerFolder) -> list[int]:
    """End all processes of a server whose files go away: nothing to save, so at once. Returns those that would not.

    SIGQUIT first, so that a postmaster gives its shared memory and semaphores back.
    """
    processes = folder.processes()
    postmasters = {named_pid(lock) for lock in folder.path.glob("*/postmaster.pid")} & set(processes)
    send([pid for pid in postmasters if pid], signal.SIGQUIT)
    if postmasters:
        wait_until(lambda: not any(started(pid) for pid in processes), KILL_SECONDS)
    survivors: list[int] = []
    while not survivors and (found := folder.processes()):  # again for those that a dying one had just started
        survivors = kill(found)
    for lock in folder.path.glob("*/postmaster.pid"):
        remove_segment(lock, folder.record.account)
    return survivors


def discard(folder: ServerFolder) -> list[int]:
    """End a server and delete its files. While a process stays, so do they, and the next command tries again."""
    survivors = end(folder)
    if survivors:
        folder.release()
    else:
        folder.remove()
    return survivors
