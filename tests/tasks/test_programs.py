"""A server's own programs, and the environment by which they find it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy.engine import make_url

from tasks.programs import find_program, libpq_environment, program_environment

SOCKET = "postgresql+psycopg://me:s3cret@/db?host=/run/s&port=5433"
REMOTE = "postgresql+psycopg://me:s3%40cret@db.example:6432/db?sslmode=require&options=-c%20jit%3Doff&connect_timeout=3"
SERVICE = "postgresql+psycopg://?service=nightly"


@pytest.mark.parametrize(
    ("url", "environment"),
    [
        (SOCKET, {"PGHOST": "/run/s", "PGPORT": "5433", "PGUSER": "me", "PGPASSWORD": "s3cret", "PGDATABASE": "db"}),
        (
            REMOTE,
            {
                "PGHOST": "db.example", "PGPORT": "6432", "PGUSER": "me", "PGPASSWORD": "s3@cret", "PGDATABASE": "db",
                "PGSSLMODE": "require", "PGOPTIONS": "-c jit=off", "PGCONNECT_TIMEOUT": "3",
            },
        ),
        (SERVICE, {"PGSERVICE": "nightly"}),
    ],
)  # fmt: skip
def test_a_url_as_environment(url: str, environment: dict[str, str]) -> None:
    assert libpq_environment(make_url(url)) == environment


def server(url: str, programs: Path | None, **environment: str) -> SimpleNamespace:
    return SimpleNamespace(url=make_url(url), bin_directory=programs, program_environment=environment)


def test_a_launched_server_has_programs_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "pgbench").touch()
    assert find_program(server(SOCKET, tmp_path), "pgbench") == tmp_path / "pgbench"  # type: ignore[arg-type]
    assert find_program(server(SOCKET, tmp_path), "psql") is None, "another version's would not be the server's own"  # type: ignore[arg-type]


def test_of_a_running_server_the_path_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pgbench").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program(server(REMOTE, None), "pgbench") == tmp_path / "pgbench"  # type: ignore[arg-type]
    assert find_program(server("duckdb:///:memory:", None), "pgbench") is None  # type: ignore[arg-type]


def test_what_the_build_needs_is_in_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGHOST", "elsewhere")
    found = program_environment(server(SOCKET, None, LD_LIBRARY_PATH="/opt/gp/lib"))  # type: ignore[arg-type]
    assert (found["LD_LIBRARY_PATH"], found["PGHOST"]) == ("/opt/gp/lib", "/run/s")
