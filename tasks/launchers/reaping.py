"""Find the servers whose run is gone (kill -9, power, a closed terminal) and take them down, with their files."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from tasks.launchers.place import Place
from tasks.launchers.record import RECORD, ServerFolder, folders, take


def reap_orphans(place: Place) -> list[str]:
    """Stop and remove what killed runs left behind; one sentence for each. Cheap where there is nothing.

    A server is an orphan when nobody holds its folder and its owner, by number and start time, is gone. Its
    processes are recognised by user, program and working directory; whatever does not match is not touched.
    """
    told = []
    for neighbour in place.neighbours():
        for path in folders(neighbour):
            folder = _orphan(neighbour, path)
            if folder is not None:
                told.append(_reap(folder))
    return told


def _orphan(place: Place, path: Path) -> ServerFolder | None:
    with place.lock():
        folder = take(path)
        if folder is None:
            _remove_unborn(path)
            return None
    if folder.record.owner.is_alive():
        folder.release()
        return None
    return folder


def _remove_unborn(path: Path) -> None:
    """A folder that was made, and its maker killed before the record was there: no program ever ran in it."""
    with suppress(FileNotFoundError):  # its run is just removing it
        if set(os.listdir(path)) <= {f"{RECORD}.new"} and path.stat().st_uid == os.geteuid():
            shutil.rmtree(path, ignore_errors=True)


def _reap(folder: ServerFolder) -> str:
    from tasks.launchers.postmaster import discard

    record, path = folder.record, folder.path
    owner = f"run of process {record.owner.pid}, which is gone"
    survivors = discard(folder)
    if survivors:
        return f'target "{record.target}": server of a {owner}; its processes {survivors} do not end; see {path}'
    return f'target "{record.target}": stopped and removed the server of a {owner}'
