"""A server's own client programs: where they are, and how they find the server without a word on their command line."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

    from tasks.launchers.server import Server


def find_program(server: Server, name: str) -> Path | None:
    """The program of the server's own version; of a server that is already running, whatever the path has."""
    if server.bin_directory is not None:
        program = server.bin_directory / name
        return program if program.is_file() else None
    if server.url.get_backend_name() == "duckdb":
        return None
    found = shutil.which(name)
    return Path(found) if found else None


def program_environment(server: Server) -> dict[str, str]:
    """The environment of a child process that is to reach the server: the password is in here and nowhere else."""
    return {**os.environ, **server.program_environment, **libpq_environment(server.url)}


def libpq_environment(url: URL) -> Mapping[str, str]:
    """A URL as libpq's environment variables."""
    from psycopg.pq import Conninfo

    variables = {option.keyword.decode(): option.envvar.decode() for option in Conninfo.get_defaults() if option.envvar}
    words = {**url.translate_connect_args(username="user", database="dbname"), **url.query}
    return {variables[name]: str(value) for name, value in words.items() if name in variables}
