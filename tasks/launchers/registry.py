"""Launcher names and their modules, imported when a target asks for one."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol, cast

from experiments.model import Target, UserError
from tasks.launchers.place import Place
from tasks.launchers.record import ServerFolder, hashes_of, held, user_folder
from tasks.launchers.server import Owner, Server

LAUNCHERS = {
    "local": "tasks.launchers.local",
    "file": "tasks.launchers.file",
    "dsn": "tasks.launchers.dsn",
    "greenplum": "tasks.launchers.greenplum",
    "opengauss": "tasks.launchers.opengauss",
}
NOTHING: Mapping[str, str] = {}


class Launcher(Protocol):
    """What a launcher module offers. ``attach`` is missing where nothing can be left running."""

    def launch(
        self, target: Target, place: Place, owner: Owner, settings: Mapping[str, str], secrets: Mapping[str, str]
    ) -> Server: ...

    def attach(self, target: Target, folder: ServerFolder) -> Server: ...


def launcher(target: Target) -> Launcher:
    if target.launcher not in LAUNCHERS:
        known = ", ".join(LAUNCHERS)
        raise UserError(f'target "{target.name}": no launcher "{target.launcher}"; there are {known}')
    return cast("Launcher", import_module(LAUNCHERS[target.launcher]))


def launch(
    target: Target,
    place: Place,
    owner: Owner,
    settings: Mapping[str, str] = NOTHING,
    secrets: Mapping[str, str] = NOTHING,
) -> Server:
    """A new server. ``secrets`` are URLs given on the command line, by target name."""
    return launcher(target).launch(target, place, owner, settings, secrets)


def find_user_server(target: Target, place: Place) -> Server | None:
    """The server that ``target up`` started, up again if it was down, with its own settings; None if there is none.

    What ``target up --set`` said holds until ``target down``: a run that says nothing of it takes the server as it is.
    """
    path = user_folder(place, target)
    if path is None:
        return None
    folder = held(path, target)
    try:
        options, declared = hashes_of(target)
        if folder.record.declared_hash != declared or (
            target.declared is not None and folder.record.options_hash != options
        ):
            raise UserError(
                f'target "{target.name}": it is up with other options; storage-matrix target down {target.name}', 4
            )
        server = launcher(target).attach(target, folder)
        server.restore()
        server.revive()
    except BaseException:
        folder.release()
        raise
    return server


def acquire(
    target: Target,
    place: Place,
    owner: Owner,
    settings: Mapping[str, str] = NOTHING,
    secrets: Mapping[str, str] = NOTHING,
) -> Server:
    """What a run works on: the user's server if there is one, else a new one. ``close`` gives either back."""
    server = find_user_server(target, place)
    if server is None:
        return launch(target, place, owner, settings, secrets)
    if settings:
        try:
            server.restart(settings)
        except BaseException:
            server.close()
            raise
    return server
