"""Every engine at hand, started by our own launchers, once for each worker of the test run."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from experiments.model import Target, UserError
from experiments.targets import load_targets
from tasks.dialects.registry import lineages
from tasks.launchers.place import DATA, Place
from tasks.launchers.registry import launch
from tasks.launchers.server import Owner, Server
from tasks.session import DuckDBSession, PostgresSession, open_session

DEBIAN = Target("debian", "local", "postgresql", options={"bin": "/usr/lib/postgresql/15/bin"})
# What to set, or where to install, so that the tests of an engine run.
NEEDS = {
    "debian": "a PostgreSQL 15 in /usr/lib/postgresql/15",
    "greenplum": "a Greenplum 6 build in GPHOME or /usr/local/gpdb",
    "zheap": "a zheap build in ZHEAP_BINDIR or /usr/local/zheap/bin",
    "opengauss": "an openGauss build in OPENGAUSS_HOME or /usr/local/opengauss",
}


@pytest.fixture(scope="session", autouse=True)
def server_root() -> Iterator[Path]:
    """Where servers lie unless a test says otherwise: orphans of runs outside the tests are none of their business."""
    root = Path("/var/tmp") / f"sm-test-{secrets.token_hex(4)}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DATA, str(root))
        yield root
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="session")
def server_of(server_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Server]]:
    """The server of a target by name, launched when it is first asked for; a skip where its engine is not installed."""
    home = tmp_path_factory.mktemp("engines")
    place = Place.of(home, os.environ)
    targets = {**load_targets(home, os.environ, (), lineages()).known, "debian": DEBIAN}
    servers: dict[str, Server] = {}
    with ExitStack() as stack:

        def server(name: str) -> Server:
            if name not in servers:
                try:
                    servers[name] = stack.enter_context(launch(targets[name], place, Owner.run()))
                except UserError as error:
                    if name not in NEEDS:
                        raise
                    pytest.skip(f"{name} was not run: it needs {NEEDS[name]} ({error})")
            return servers[name]

        yield server


def _session(server: Server) -> Iterator[PostgresSession | DuckDBSession]:
    session = open_session(server.url, server.data_directory, timeout=120)
    yield session
    session.close()


@pytest.fixture
def embedded(server_of: Callable[[str], Server]) -> Iterator[PostgresSession | DuckDBSession]:
    """PostgreSQL from the wheel."""
    yield from _session(server_of("embedded"))


@pytest.fixture
def debian(server_of: Callable[[str], Server]) -> Iterator[PostgresSession | DuckDBSession]:
    """Another PostgreSQL, built with lz4."""
    yield from _session(server_of("debian"))


@pytest.fixture
def greenplum(server_of: Callable[[str], Server]) -> Iterator[PostgresSession | DuckDBSession]:
    """A Greenplum 6 cluster."""
    yield from _session(server_of("greenplum"))


@pytest.fixture
def zheap(server_of: Callable[[str], Server]) -> Iterator[PostgresSession | DuckDBSession]:
    """A PostgreSQL with the access method zheap."""
    yield from _session(server_of("zheap"))


@pytest.fixture
def opengauss(server_of: Callable[[str], Server]) -> Iterator[PostgresSession | DuckDBSession]:
    """An openGauss server."""
    yield from _session(server_of("opengauss"))


@pytest.fixture
def duck() -> Iterator[DuckDBSession]:
    """DuckDB in this process."""
    session = DuckDBSession(None, timeout=120)
    yield session
    session.close()
