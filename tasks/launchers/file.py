"""Launcher ``file``: a directory for DuckDB, whose server is this process."""

from __future__ import annotations

import os
import secrets as random
from collections.abc import Mapping
from pathlib import Path

from experiments.model import Target, UserError
from tasks.launchers.place import Place
from tasks.launchers.process import myself
from tasks.launchers.record import ServerFolder
from tasks.launchers.server import Owner, Server, SettingsRefused


class DuckDBFiles(Server):
    """A fresh directory; the experiment's files and sessions come and go in it."""

    def __init__(self, target: Target, folder: ServerFolder, directory: Path) -> None:
        from sqlalchemy.engine import URL

        self.target = target.name
        self.folder = folder
        self.data_directory = self.exchange = directory
        self.url = URL.create("duckdb", database=str(directory / "matrix.duckdb"))

    @property
    def is_temporary(self) -> bool:
        return True

    def version(self) -> str:
        import duckdb

        return f"DuckDB {duckdb.__version__}"

    def processes(self) -> list[int]:
        return [os.getpid()]

    def alive(self) -> bool:
        return True

    def revive(self) -> None:
        """It dies with us only."""

    def restart(self, settings: Mapping[str, str] | None = None) -> None:
        """A new session is all that a restart means here; whoever opens one sets its options."""
        if settings:
            raise SettingsRefused(
                f'target "{self.target}": DuckDB files have no server settings ({", ".join(settings)})'
            )

    def stop(self) -> None:
        self.folder.remove()

    def psql_line(self) -> str:
        return f"duckdb {self.url.database}"


def launch(
    target: Target, place: Place, owner: Owner, settings: Mapping[str, str], secrets: Mapping[str, str]
) -> DuckDBFiles:
    if owner.kind == "user":
        raise UserError(f'target "{target.name}": DuckDB has no server to start; runs make its files as they need them')
    folder = ServerFolder.create(place, target, myself())
    try:
        server = DuckDBFiles(target, folder, _directory(target, folder))
        if settings:
            server.restart(settings)
    except BaseException:
        folder.remove()
        raise
    return server


def _directory(target: Target, folder: ServerFolder) -> Path:
    """Recorded before it is made, so that it is found should we be killed in between."""
    chosen = target.options.get("path")
    path = (
        folder.path / "data" if chosen is None else Path(chosen).expanduser() / f"storage-matrix-{random.token_hex(6)}"
    )
    if chosen is not None:
        folder.save(elsewhere=str(path.absolute()))
    try:
        path.mkdir(mode=0o700)
    except OSError as error:
        raise UserError(f'target "{target.name}": path {path.parent}: {error.strerror}', 4) from None
    return path.absolute()
