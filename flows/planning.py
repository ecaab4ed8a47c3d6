"""What a request comes to: the dialect of each target, the matrix, and whether the disks can hold it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from experiments.matrix import NoCell, expand
from experiments.model import Matrix, Request, Target, UserError
from experiments.targets import Secrets
from flows.estimating import disk_bytes, measured_blocks, table_bytes
from flows.home import make_home
from tasks.datafiles import RowFile
from tasks.dialects.dialect import Dialect
from tasks.dialects.registry import dialect_named, probe
from tasks.launchers.place import Place
from tasks.launchers.server import Owner
from warehouse.formatting import humanise

Free = Mapping[str, int | None]


def declared_dialects(request: Request) -> dict[str, Dialect]:
    """The dialect of each target as its facts have it; no server is asked."""
    return {target.name: dialect_named(target.dialect) for target in request.targets}


def probed_dialects(request: Request, place: Place, secrets: Secrets) -> tuple[dict[str, Dialect], Free]:
    """The same from the servers themselves, started for it where none is up, and their free space."""
    from tasks.launchers.service import check
    from tasks.session import open_session

    dialects: dict[str, Dialect] = {}
    free: dict[str, int | None] = {}
    for target in request.targets:
        with check(target, place, Owner.run(), secrets) as reach:
            session = open_session(reach.server.url, Path(reach.server.data_directory or "."), request.timeout)
            dialects[target.name] = probe(session, target.dialect)
            free[target.name] = reach.server.free_bytes()
            session.close()
    return dialects, free


def check_disk(request: Request, matrix: Matrix, free: Free) -> None:
    """Refuse a run that cannot fit; raises ``UserError``. A target whose free space nobody knows is let through."""
    for target in request.targets:
        needed, there = disk_bytes(request, measured_blocks(matrix, target.name)), free.get(target.name)
        if there is not None and needed > there:
            raise UserError(
                f"target {target.name}: {request.parameters['rows']:,} rows need about {humanise(needed, 'bytes')} of "
                f"disk (the source and one block at a time), {humanise(there, 'bytes')} are free; set fewer rows with "
                f"--set rows=N, or make room"
            )


def check_files(request: Request, matrix: Matrix, place: Place) -> None:
    """Refuse a run whose files for COPY, as far as they are still to be made, do not fit; raises ``UserError``."""
    data = place.home / "data"
    files = {
        RowFile.of(request.experiment, name, {**request.parameters, **block.levels}, data).path: block.levels
        for target in request.targets
        for block in measured_blocks(matrix, target.name)
        for name in request.experiment.files
    }
    needed = sum(table_bytes(request, levels) for path, levels in files.items() if not path.exists())
    if needed > (there := _free_at(data)):
        raise UserError(
            f"{data}: the files of rows need about {humanise(needed, 'bytes')} of disk, {humanise(there, 'bytes')} are "
            f"free; set fewer rows with --set rows=N, or make room"
        )


def free_before_start(request: Request, place: Place) -> Free:
    """Free space where each target's server will put its files, as far as it can be told before it starts."""
    return {target.name: _free(target, place) for target in request.targets}


def _free(target: Target, place: Place) -> int | None:
    if target.launcher == "dsn":
        return None
    return _free_at(Path(target.options.get("path", place.root)).expanduser().absolute())


def _free_at(path: Path) -> int:
    """Free space of the disk on which the path is, or will be."""
    return shutil.disk_usage(next(folder for folder in (path, *path.parents) if folder.exists())).free


def planned(request: Request, place: Place) -> tuple[Matrix, dict[str, Dialect]]:
    """The matrix that the facts promise; refused where the disk cannot hold it. Touches no server.

    It is empty where only a server that is already running can tell whether it has what was asked for.
    """
    dialects = declared_dialects(request)
    try:
        matrix = expand(request, dialects)
    except NoCell:
        if not any(target.launcher == "dsn" for target in request.targets):
            raise
        matrix = Matrix((), ())
    check_disk(request, matrix, free_before_start(request, place))
    check_files(request, matrix, place)
    return matrix, dialects


def prepare(request: Request, home: Path) -> None:
    """Before anything starts: refuse what cannot fit and a home that cannot hold the results; make the home."""
    from warehouse.opening import check_warehouse

    planned(request, Place.of(home, os.environ))
    make_home(home)
    check_warehouse(home)
