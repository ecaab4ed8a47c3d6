"""The folder of one server and the record in it: who owns it and how its processes are recognised."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from experiments.model import Target, UserError
from tasks.launchers.place import Place
from tasks.launchers.process import Account, inside
from tasks.launchers.server import Owner

RECORD = "server.json"


@dataclass(frozen=True)
class Record:
    """What the next command must know of a server, written before its first program runs.

    ``options_hash`` is of the options that it was started with, ``declared_hash`` of those of its target's declaration.
    ``programs`` is the directory of its programs and ``account`` the user that they run as; ``elsewhere`` is a data
    directory of ours outside the folder. ``settings`` are those of the launch, ``asked`` what a run put on top.
    """

    target: str
    launcher: str
    options_hash: str
    declared_hash: str
    owner: Owner
    account: Account
    programs: str | None = None
    elsewhere: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[int, ...] = ()


class ServerFolder:
    """One server's folder, held: the lock tells others that we live, and the system drops it however we end."""

    def __init__(self, path: Path, record: Record, descriptor: int) -> None:
        self.path = path
        self.record = record
        self._descriptor: int | None = descriptor

    @classmethod
    def create(cls, place: Place, target: Target, account: Account) -> ServerFolder:
        """A new folder that belongs to this run until it is handed over."""
        place.prepare()
        record = Record(target.name, target.launcher, *hashes_of(target), Owner.run(), account)
        slug = re.sub(r"[^a-z0-9]+", "-", target.name.lower())[:12].strip("-") or "server"
        path = place.folder / f"{slug}-{secrets.token_hex(3)}"
        with place.lock():
            path.mkdir(mode=0o700)
            if not account.is_self:
                path.chmod(0o711)
            folder = cls(path, record, _hold(path))
            folder.save()
        return folder

    def save(self, **changes: Any) -> None:
        """Replace the record; a reader sees the old one or the new one."""
        self.record = replace(self.record, **changes)
        partial = self.path / f"{RECORD}.new"
        partial.write_text(json.dumps(asdict(self.record), indent=1) + "\n")
        partial.chmod(0o600)
        partial.replace(self.path / RECORD)

    def processes(self) -> list[int]:
        """The processes of the server that live in this folder."""
        if self.record.programs is None:
            return []
        return inside(self.path, self.record.account.uid, Path(self.record.programs))

    def remove(self) -> None:
        """Delete all files and let go; the server must have ended."""
        if self.record.elsewhere is not None:
            _remove_elsewhere(Path(self.record.elsewhere))
        shutil.rmtree(self.path, ignore_errors=True)
        self.release()

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def hashes_of(target: Target) -> tuple[str, str]:
    """Of its options and of its declared ones: whether a server that is up still is what the target asks for."""
    return _hash(target, target.options), _hash(target, target.options if target.declared is None else target.declared)


def _hash(target: Target, options: Mapping[str, Any]) -> str:
    text = json.dumps([target.launcher, dict(options)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def folders(place: Place) -> Iterator[Path]:
    """Every server's folder of a place; one without a record was cut off while being made."""
    try:
        entries = list(os.scandir(place.folder))
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and re.fullmatch(r"[a-z0-9-]+-[0-9a-f]{6}", entry.name):
            yield Path(entry.path)


def take(path: Path) -> ServerFolder | None:
    """Hold a folder that nobody holds; None where its run lives, or where the record is not one of ours."""
    try:
        descriptor = _hold(path)
    except OSError:
        return None
    record = read(path)
    if record is None:
        os.close(descriptor)
        return None
    return ServerFolder(path, record, descriptor)


def read(path: Path) -> Record | None:
    """The record of a folder; None if there is none or it is not of a form that we know."""
    try:
        told = json.loads((path / RECORD).read_text())
        nested = {"owner": Owner(**told["owner"]), "account": Account(**told["account"]), "ports": tuple(told["ports"])}
        return Record(**told | nested)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _hold(path: Path) -> int:
    """Lock the directory itself: no file to leave behind, and no number that another process could have by now."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _remove_elsewhere(path: Path) -> None:
    """Only a directory that bears our name and is ours: the record is a file, and files can be edited."""
    is_named_so = path.name.startswith("storage-matrix-") and path.is_dir() and not path.is_symlink()
    if is_named_so and path.stat().st_uid == os.geteuid():
        shutil.rmtree(path, ignore_errors=True)


def user_folder(place: Place, target: Target) -> Path | None:
    """Where the server lies that ``target up`` started for this target."""
    for path in folders(place):
        record = read(path)
        if record is not None and record.owner.kind == "user" and record.target == target.name:
            return path
    return None


def held(path: Path, target: Target) -> ServerFolder:
    """Hold a user's server for our use; two runs on it at once would measure each other."""
    folder = take(path)
    if folder is None:
        raise UserError(f'target "{target.name}": its server is in use by another run; wait until that ends', 4)
    return folder
