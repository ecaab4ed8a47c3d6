"""Launcher ``opengauss``: a throw-away server from an installed build, set up by gs_initdb, gs_guc and gs_ctl."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiments.model import Target, UserError
from tasks.dialects.quoting import literal
from tasks.launchers.build import Build, check_reach, embedded_programs, find_programs, keep, reachable, stamp
from tasks.launchers.complaint import last_lines
from tasks.launchers.launched import (
    SUPERUSER,
    LaunchedServer,
    access_rules,
    make_directory,
    make_password,
    make_sockets,
    merged,
    password,
    socket_url,
    sockets,
    write_access_rules,
    write_private,
)
from tasks.launchers.place import Place
from tasks.launchers.ports import free_ports
from tasks.launchers.postmaster import START_SECONDS, Postmaster, StartFailed, discard
from tasks.launchers.process import account_for
from tasks.launchers.record import ServerFolder
from tasks.launchers.server import Owner
from tasks.launchers.settings import OPENGAUSS, machine_memory, measuring, shared_buffers, wal_megabytes

SERVER = "gaussdb"
PROGRAMS = ("gs_initdb", "gs_ctl", "gs_guc", SERVER)
GENERATED = "postgresql.conf.generated"
"""What gs_initdb wrote: each set of settings begins with it, since gs_guc can only set and comment out."""
SEGMENT_MEGABYTES = 16
"""What a file of WAL holds."""
PASSWORD_PREFIX = "Sm-"
"""The server wants three kinds of characters."""
NOISE = ("The gs_guc run with", "Try ")
"""What gs_guc says around its reason."""


@dataclass
class Gaussdb(Postmaster):
    """Its settings stand in its data directory, where gs_guc writes them as the server's own user."""

    def configure(self, settings: Mapping[str, str]) -> None:
        """StartFailed tells what gs_guc refuses, before the server could."""
        self._run("cp", self.data / GENERATED, self.data / "postgresql.conf")
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={literal(value)}")]
        self._run(self.programs / "gs_guc", "set", "-D", self.data, *words)

    def starter(self) -> list[str | Path]:
        return [self.programs / "gs_ctl", "start", "-w", "-t", str(START_SECONDS), "-D", self.data]

    def _run(self, *command: str | Path) -> None:
        result = self.account.run(command, self.folder.path, self.environment)
        if result.returncode != 0:
            raise StartFailed(_complaint(result.stdout.decode(errors="replace")))


class OpenGaussServer(LaunchedServer):
    """One multi-threaded process, on a private socket and, since it insists, on loopback.

    The databases are of compatibility PG. In mode A, the default, '' is NULL and a date has a time of day.
    """

    def __init__(self, target: Target, folder: ServerFolder) -> None:
        programs = Path(folder.record.programs or "")
        environment = _environment(programs)
        node = Gaussdb(folder, folder.record.account, programs, folder.path / "data", environment)
        super().__init__(target, folder, [node])
        self.url = socket_url(folder, folder.record.ports[0])

    def configure(self) -> None:
        own = {
            "port": str(self.folder.record.ports[0]),
            "hba_file": str(access_rules(self.folder)),
            "unix_socket_directory": str(sockets(self.folder)),
        }
        self.nodes[0].configure({**self.settings, **own})

    def client(self) -> tuple[Path, Mapping[str, str]]:
        """Its own gsql reads no password file; the wheel's psql does, and speaks to a server of 9.2."""
        return (embedded_programs() or Path()) / "psql", {}


def launch(
    target: Target, place: Place, owner: Owner, settings: Mapping[str, str], secrets: Mapping[str, str]
) -> OpenGaussServer:
    """Some 15 seconds the first time, for gs_initdb; later servers copy what it made and start in three."""
    account = account_for(target.name, target.options.get("os_user"), place.environ)
    option = target.options.get("gausshome", "$OPENGAUSS_HOME")
    found = find_programs(target, option, place.environ, "bin", PROGRAMS)
    folder = ServerFolder.create(place, target, account)
    try:
        check_reach(folder)
        programs = reachable(found, place, folder, SERVER)
        build = Build(programs, account, _environment(programs), SERVER)
        asked = merged(target.options.get("settings", {}), settings)
        folder.save(programs=str(programs), ports=free_ports(2), settings=merged(_measuring(folder, build), asked))
        make_sockets(folder)
        make_password(folder, PASSWORD_PREFIX)
        _make_data(target, place, folder, build)
        server = OpenGaussServer(target, folder)
        server.begin(owner, asked)
    except BaseException:
        discard(folder)
        raise
    return server


def attach(target: Target, folder: ServerFolder) -> OpenGaussServer:
    """The server that ``target up`` left in a folder."""
    return OpenGaussServer(target, folder)


def _environment(programs: Path) -> Mapping[str, str]:
    """For its own programs only: its libpq breaks other users of the library."""
    return {"GAUSSHOME": str(programs.parent), "LD_LIBRARY_PATH": str(programs.parent / "lib")}


def _measuring(folder: ServerFolder, build: Build) -> dict[str, str]:
    free = shutil.disk_usage(folder.path).free
    return {
        **measuring(OPENGAUSS, build.known_settings),
        "shared_buffers": shared_buffers(machine_memory()),
        "checkpoint_segments": str(wal_megabytes(free) // SEGMENT_MEGABYTES),
    }


def _make_data(target: Target, place: Place, folder: ServerFolder, build: Build) -> None:
    """gs_initdb makes the same files each time; so once for all, and copies from then on."""
    template = place.root / f"template-{stamp(build.programs, SERVER)}-{build.account.uid}"
    if not template.exists():
        keep(_initdb(target, folder, build), template)
    data = _copy(target, folder, template / "data", folder.path / "data")
    _set_password(target, folder, build, data)
    write_access_rules(folder)


def _initdb(target: Target, folder: ServerFolder, build: Build) -> Path:
    """Locale C: the same order of text on every engine. Its password is forgotten: each server gets one of its own."""
    data = make_directory(folder.path / "initdb", build.account)
    secret = write_private(folder.path / "password", f"{PASSWORD_PREFIX}{secrets.token_hex(8)}\n", build.account)
    names = ["--nodename=dn1", f"--username={SUPERUSER}", f"--pwfile={secret}"]
    words = ["-N", "-D", str(data), *names, "--encoding=UTF8", "--locale=C", "--dbcompatibility=PG"]
    result = build.account.run([build.programs / "gs_initdb", *words], folder.path, build.environment)
    secret.unlink()
    if result.returncode != 0:
        raise UserError(f'target "{target.name}": gs_initdb failed: {_complaint(result.stdout.decode())}', 4)
    template = folder.path / "template"
    template.mkdir(mode=0o700)
    template.chmod(folder.path.stat().st_mode)
    copy = _copy(target, folder, data, template / "data")
    build.account.run(["cp", copy / "postgresql.conf", copy / GENERATED], folder.path)
    shutil.rmtree(data)
    return template


def _copy(target: Target, folder: ServerFolder, source: Path, copy: Path) -> Path:
    """Without the 512 MB of zeros in which the server writes pages twice; they become real when they are used."""
    account = folder.record.account
    make_directory(copy, account)
    result = account.run(["cp", "-a", "--sparse=always", f"{source}/.", copy], folder.path)
    if result.returncode != 0:
        raise UserError(f'target "{target.name}": {_complaint(result.stdout.decode(errors="replace"))}', 4)
    return copy


def _set_password(target: Target, folder: ServerFolder, build: Build, data: Path) -> None:
    """By a single-user backend, before anybody could connect; with the md5 of it that libpq asks for."""
    words = ["--single", "-D", str(data), "-c", "password_encryption_type=1", "-c", "shared_buffers=16MB", "postgres"]
    statement = f"alter role {SUPERUSER} password '{password(folder)}'\n"
    result = build.account.run([build.programs / SERVER, *words], folder.path, build.environment, text=statement)
    told = result.stdout.decode(errors="replace")
    if result.returncode != 0 or "ERROR:" in told or "FATAL:" in told:
        raise UserError(f'target "{target.name}": the password could not be set: {_complaint(told)}', 4)


def _complaint(told: str) -> str:
    """What a program says is wrong, in one line; its last lines where nothing is marked as an error."""
    lines = [line.strip() for line in told.splitlines() if line.strip() and not line.startswith(NOISE)]
    errors = [line.partition("ERROR:")[2].strip() for line in lines if "ERROR:" in line]
    return errors[0] if errors else last_lines(lines)
