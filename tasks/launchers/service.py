"""The commands ``target check``, ``target up`` and ``target down``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from experiments.model import Target, UserError
from tasks.launchers.place import Place
from tasks.launchers.postmaster import discard
from tasks.launchers.record import held, user_folder
from tasks.launchers.registry import NOTHING, find_user_server, launch, launcher
from tasks.launchers.server import Owner, Server


@dataclass(frozen=True)
class Reach:
    """A target that answers: its server, its own version text, and whether it was running before we asked."""

    server: Server
    version: str
    was_up: bool


@contextmanager
def check(target: Target, place: Place, owner: Owner, secrets: Mapping[str, str] = NOTHING) -> Iterator[Reach]:
    """Reach a target, starting a server for the time of the check where none is up."""
    found = find_user_server(target, place)
    with found or launch(target, place, owner, secrets=secrets) as server:
        yield Reach(server, server.version(), was_up=found is not None or not server.is_ours)


def up(target: Target, place: Place, secrets: Mapping[str, str] = NOTHING) -> Server:
    """Start a server that stays until ``down``; one that is up already with the same options is returned as it is.

    Nobody holds it afterwards. Raises ``UserError`` with exit code 4 where it is up with others.
    """
    with (
        place.bringing_up(),
        find_user_server(target, place) or launch(target, place, Owner.user(), secrets=secrets) as server,
    ):
        return server


def down(target: Target, place: Place) -> str:
    """Stop the user's server and remove its files."""
    launcher(target)
    path = user_folder(place, target)
    if path is None:
        raise UserError(f'target "{target.name}": not up; storage-matrix target up {target.name} starts it')
    survivors = discard(held(path, target))
    if survivors:
        raise UserError(f'target "{target.name}": processes {survivors} do not end; their files stay in {path}', 4)
    return f'target "{target.name}": stopped, files removed'
