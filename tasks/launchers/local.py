"""Launcher ``local``: a throw-away server from any ``bin`` directory of the PostgreSQL family, the wheel's included."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from experiments.model import Target
from tasks.launchers.build import Build, check_reach, find_programs, reachable
from tasks.launchers.launched import (
    SUPERUSER,
    LaunchedServer,
    make_directory,
    make_password,
    make_sockets,
    merged,
    password,
    socket_url,
    sockets,
    write_private,
)
from tasks.launchers.place import Place
from tasks.launchers.postmaster import Postmaster, discard
from tasks.launchers.process import account_for
from tasks.launchers.record import ServerFolder
from tasks.launchers.server import Owner
from tasks.launchers.settings import POSTGRESQL, machine_memory, measuring, sized

PORT = 5432


class LocalServer(LaunchedServer):
    """One postmaster on a private socket."""

    def __init__(self, target: Target, folder: ServerFolder) -> None:
        node = Postmaster(folder, folder.record.account, Path(folder.record.programs or ""), folder.path / "data")
        super().__init__(target, folder, [node])
        self.url = socket_url(folder, PORT)

    def configure(self) -> None:
        self.nodes[0].configure({**self.settings, "unix_socket_directories": str(sockets(self.folder))})


def launch(
    target: Target, place: Place, owner: Owner, settings: Mapping[str, str], secrets: Mapping[str, str]
) -> LocalServer:
    """initdb and start: about a second with the wheel's programs."""
    account = account_for(target.name, target.options.get("os_user"), place.environ)
    found = find_programs(target, target.options.get("bin", "embedded"), place.environ)
    folder = ServerFolder.create(place, target, account)
    try:
        check_reach(folder)
        build = Build(reachable(found, place, folder), account)
        folder.save(programs=str(build.programs))
        make_sockets(folder)
        make_password(folder)
        _initdb(target, folder, build)
        asked = merged(target.options.get("settings", {}), settings)
        folder.save(settings=merged(_measuring(folder, build), asked))
        server = LocalServer(target, folder)
        server.begin(owner, asked)
    except BaseException:
        discard(folder)
        raise
    return server


def attach(target: Target, folder: ServerFolder) -> LocalServer:
    """The server that ``target up`` left in a folder."""
    return LocalServer(target, folder)


def _measuring(folder: ServerFolder, build: Build) -> dict[str, str]:
    free = shutil.disk_usage(folder.path).free
    return {**measuring(POSTGRESQL, build.known_settings), **sized(machine_memory(), free)}


def _initdb(target: Target, folder: ServerFolder, build: Build) -> None:
    """Locale C: the same order of text on every engine. No checksums: their hint-bit WAL would blur the first scan."""
    wanted = {"--no-instructions": [], "--no-data-checksums": [], "--no-sync": [], "--wal-segsize": ["64"]}
    optional = ["=".join([name, *value]) for name, value in wanted.items() if name in build.initdb_options]
    data = make_directory(folder.path / "data", build.account)
    secret = write_private(folder.path / "password", password(folder), build.account)
    method = "scram-sha-256" if build.major >= 10 else "md5"
    words: list[str | Path] = [
        "-D",
        data,
        "-U",
        SUPERUSER,
        "-E",
        "UTF8",
        "--locale=C",
        "-A",
        method,
        f"--pwfile={secret}",
        *optional,
    ]
    try:
        build.initdb(target, folder.path, words)
    finally:
        secret.unlink()
