"""The short directory below which server files and sockets lie, apart from the home.

A home may be long, or closed to the server's unprivileged user; a socket's path is limited to 107 bytes.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from experiments.model import UserError

DATA = "STORAGE_MATRIX_DATA"
NOTE = "home"
"""The file in a place that names its home."""


@dataclass(frozen=True)
class Place:
    """Where the servers of one home live: ``root`` belongs to the user, ``folder`` below it to the home."""

    home: Path
    root: Path
    folder: Path
    environ: Mapping[str, str] = field(repr=False, compare=False)

    @classmethod
    def of(cls, home: Path, environ: Mapping[str, str]) -> Place:
        home = home.absolute()
        root = Path(environ.get(DATA) or f"/var/tmp/storage-matrix-{os.geteuid()}").absolute()
        digest = hashlib.sha256(os.fsencode(os.path.realpath(home))).hexdigest()
        return cls(home, root, root / digest[:8], environ)

    def prepare(self) -> None:
        """Make the directories that are missing, and refuse those that another user could swap under us.

        /var/tmp is everybody's: a name that we could guess may be somebody else's directory or link by now.
        """
        _make(self.root)
        _check_root(self.root, is_default=not self.environ.get(DATA))
        _make(self.folder)
        _check_ours(self.folder)
        note = self.folder / NOTE
        if not note.exists():
            note.write_bytes(os.fsencode(self.home) + b"\n")

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Held while a server's folder is made or judged, so that a new one is never taken for an orphan."""
        descriptor = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def host_alone(self, wait: Callable[[str], None]) -> Iterator[None]:
        """Held while cells are measured: of a user's runs on this host one at a time. ``wait`` is told who measures."""
        self.prepare()
        descriptor = os.open(self.root / "measuring.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                wait(os.fsdecode(os.pread(descriptor, 4096, 0)) or "another run")
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, os.fsencode(f"the run of process {os.getpid()} in {self.home}"), 0)
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def bringing_up(self) -> Iterator[None]:
        """Held from the look for a user's server until it is up, so that two commands do not start one each."""
        self.prepare()
        with (self.folder / NOTE).open("rb") as note:
            fcntl.flock(note, fcntl.LOCK_EX)
            yield

    def neighbours(self) -> Iterator[Place]:
        """The places of every home below the same root: a killed run may leave a server and no home to go back to."""
        try:
            entries = list(os.scandir(self.root))
        except OSError:
            return
        for entry in entries:
            if len(entry.name) == len(self.folder.name) and _is_ours(Path(entry.path)):
                yield Place(_recorded_home(Path(entry.path)), self.root, Path(entry.path), self.environ)


def _make(path: Path) -> None:
    """Entered by the server's user when we are root, by nobody but us otherwise; an existing one stays as it is."""
    try:
        path.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        return
    except OSError as error:
        raise UserError(f"{path}: cannot make the directory for server files ({error.strerror}); set ${DATA}") from None
    if os.geteuid() == 0:
        path.chmod(0o711)


def _check_root(root: Path, is_default: bool) -> None:
    """The user's own choice may be shared or a link; the default in /var/tmp must be ours."""
    if is_default:
        _check_ours(root)
    if not root.is_dir() or not os.access(root, os.W_OK | os.X_OK):
        raise UserError(f"{root}: server files cannot be written there; set ${DATA} to a directory that is yours")
    mode = root.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise UserError(f"{root}: anybody may replace files there; set ${DATA} to a directory that is yours")


def _check_ours(path: Path) -> None:
    if not _is_ours(path):
        raise UserError(f"{path}: not a directory of this user, so not used for server files; set ${DATA} to one")


def _is_ours(path: Path) -> bool:
    found = os.lstat(path)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _recorded_home(folder: Path) -> Path:
    try:
        return Path(os.fsdecode((folder / NOTE).read_bytes().rstrip(b"\n")))
    except OSError:
        return Path()
