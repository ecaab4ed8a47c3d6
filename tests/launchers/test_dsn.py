"""Servers that are not ours: where the URL comes from, and how one that does not answer is reported."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.engine import URL

from experiments.model import Target, UserError
from tasks.launchers.dsn import RunningServer, find_url
from tasks.launchers.place import Place
from tasks.launchers.registry import launch
from tasks.launchers.server import Owner, Server, SettingsRefused
from tests.launchers.conftest import EMBEDDED, temporary_root

PASSWORD = "s3cr3t/p@ss"
ENCODED = "s3cr3t%2Fp%40ss"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Somebody's server, reached by its socket."""
    with temporary_root() as root:
        place = Place.of(tmp_path_factory.mktemp("home"), os.environ | {"STORAGE_MATRIX_DATA": str(root)})
        with launch(EMBEDDED, place, Owner.run()) as server:
            yield server


def plain(url: URL) -> str:
    return url._replace(drivername="postgresql").render_as_string(hide_password=False)


def reach(place: Place, url: str, **facts: bool) -> Server:
    target = Target("prod", "dsn", "postgresql", options={"url_from": "argument"}, **facts)
    return launch(target, place, Owner.run(), secrets={"prod": url})


def refusal(place: Place, url: str) -> str:
    with pytest.raises(UserError) as error:
        reach(place, url)
    assert error.value.exit_code == 4
    for secret in (PASSWORD, ENCODED):
        assert secret not in str(error.value)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_running_server_is_used_and_left_running(place: Place, running: Server) -> None:
    with reach(place, plain(running.url)) as server:
        assert server.version() == running.version()
        assert server.url.drivername == "postgresql+psycopg"
        assert server.alive()
        assert (server.is_ours, server.is_exclusive) == (False, False)
        assert server.data_directory is None
        assert server.free_bytes() is None
        assert running.url.password not in server.psql_line() + repr(server)
        server.revive()
    assert running.alive()
    assert not place.folder.exists()


@pytest.mark.parametrize(
    "name", ["password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"]
)
def test_no_secret_among_its_options_is_shown(name: str) -> None:
    server = RunningServer.__new__(RunningServer)
    server.target = "prod"
    server.url = URL.create("postgresql+psycopg", "me", PASSWORD, "db", query={name: "geheim", "sslmode": "require"})
    assert server.psql_line() == "psql 'postgresql://me@db?sslmode=require'"
    assert repr(server) == "<RunningServer prod postgresql+psycopg://me:***@db?sslmode=require>"


def test_exclusive_is_what_the_target_says(place: Place, running: Server) -> None:
    assert reach(place, plain(running.url), exclusive=True).is_exclusive


def test_the_processes_of_a_server_on_this_host_are_visible(place: Place, running: Server) -> None:
    assert reach(place, plain(running.url)).processes()[0] == running.pid


def test_its_settings_are_not_ours_to_change(place: Place, running: Server) -> None:
    server = reach(place, plain(running.url))
    with pytest.raises(SettingsRefused) as error:
        server.restart({"shared_buffers": "1GB"})
    assert str(error.value) == 'target "prod": not started by us, so it is not restarted with shared_buffers'


def test_a_wrong_password_is_told_without_it(place: Place, running: Server) -> None:
    told = refusal(place, plain(running.url.set(password=PASSWORD)))
    assert told.startswith(
        f'target "prod": cannot reach host {running.url.query["host"]}, port 5432, database postgres: connection failed'
    )
    assert 'password authentication failed for user "postgres"' in told


def test_a_database_that_is_not_there_is_told(place: Place, running: Server) -> None:
    assert 'database "nowhere" does not exist' in refusal(place, plain(running.url.set(database="nowhere")))


def test_a_closed_port_is_told(place: Place) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        told = refusal(place, f"postgresql://me:{ENCODED}@127.0.0.1:{port}/bench")
    assert told.startswith(f'target "prod": cannot reach host 127.0.0.1, port {port}, database bench: ')
    assert "Connection refused" in told


def test_a_server_that_accepts_and_never_answers_is_given_up_within_ten_seconds(place: Place) -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        port = mute.getsockname()[1]
        begin = time.monotonic()
        told = refusal(place, f"postgresql://me:{ENCODED}@127.0.0.1:{port}/bench")
        assert time.monotonic() - begin < 10
    assert told.startswith(f'target "prod": cannot reach host 127.0.0.1, port {port}, database bench: ')
    assert "timeout expired" in told


@pytest.mark.parametrize(
    ("hosts", "named"),
    [
        ("10.255.255.1:5432", "host 10.255.255.1, port 5432"),
        ("10.255.255.1:1,10.255.255.2:2,10.255.255.3:3", "host 10.255.255.1,10.255.255.2,10.255.255.3, port 1,2,3"),
        ("no-such-host.invalid", "host no-such-host.invalid, port 5432"),
    ],
)
def test_addresses_that_lead_nowhere_are_given_up_within_ten_seconds(place: Place, hosts: str, named: str) -> None:
    begin = time.monotonic()
    told = refusal(place, f"postgresql://me:{ENCODED}@{hosts}/bench")
    assert time.monotonic() - begin < 10
    assert told.startswith(f'target "prod": cannot reach {named}, database bench: ')


def test_a_name_server_that_never_answers_does_not_hold_us(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.launchers.dsn.PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr("tasks.launchers.dsn.answer", lambda *words: time.sleep(3))
    begin = time.monotonic()
    assert refusal(place, "postgresql://me@slow.example/bench").endswith("database bench: no answer within 0.2 s")
    assert time.monotonic() - begin < 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://me@db:6000/bench", "postgresql+psycopg://me@db:6000/bench"),
        ("postgres://db", "postgresql+psycopg://db"),
        ("postgresql+psycopg://db/bench?sslmode=require", "postgresql+psycopg://db/bench?sslmode=require"),
        ("host=db port=6000 dbname=bench", "postgresql+psycopg://db:6000/bench"),
        ("postgresql://me@/bench?host=/run/pg", "postgresql+psycopg://me@/bench?host=%2Frun%2Fpg"),
        (
            "postgresql://a:1,b:2/bench?target_session_attrs=primary",
            "postgresql+psycopg:///bench?host=a%2Cb&port=1%2C2&target_session_attrs=primary",
        ),
    ],
)
def test_urls_of_libpq_are_understood(text: str, expected: str) -> None:
    target = Target("prod", "dsn", "postgresql", options={"url": text})
    assert find_url(target, {}, {}).render_as_string() == expected


def test_a_percent_encoded_password_is_decoded_and_hidden() -> None:
    url = find_url(Target("prod", "dsn", "postgresql"), {}, {"prod": f"postgresql://me:{ENCODED}@db/bench"})
    assert url.password == PASSWORD
    assert repr(url) == "postgresql+psycopg://me:***@db/bench"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:%zz@db/bench",
        f"host=db password={PASSWORD} nonsense=1",
        # What an unescaped / leaves of the password would be told as port and database.
        "postgresql://me:s3/kr3t@db:5432/bench",
        # And of an unescaped @ as host.
        "postgresql://me:s3@kr3t@db/bench",
        "postgresql://me:s3@kr3t@/bench",
    ],
)
def test_a_url_that_cannot_be_read_is_not_repeated(url: str) -> None:
    with pytest.raises(UserError) as error:
        find_url(Target("prod", "dsn", "postgresql"), {}, {"prod": url})
    assert str(error.value) == (
        'target "prod": its URL cannot be read; expected is postgresql://USER@HOST:PORT/DATABASE'
    )


def test_a_url_of_another_kind_is_refused() -> None:
    with pytest.raises(UserError) as error:
        find_url(Target("prod", "dsn", "postgresql"), {}, {"prod": "mysql://me:pw@db/bench"})
    assert str(error.value) == 'target "prod": URL of type "mysql"; known is postgresql://USER@HOST:PORT/DATABASE'


def test_the_url_can_lie_in_an_environment_variable() -> None:
    target = Target("prod", "dsn", "postgresql", options={"url_env": "BENCH_URL"})
    assert find_url(target, {"BENCH_URL": "postgresql://me:pw@db/bench"}, {}).password == "pw"
    with pytest.raises(UserError) as error:
        find_url(target, {}, {})
    assert str(error.value) == 'target "prod": url_env names $BENCH_URL, which is not set'
    assert error.value.exit_code == 4


def test_a_target_without_any_source_names_them() -> None:
    with pytest.raises(UserError) as error:
        find_url(Target("prod", "dsn", "postgresql"), {}, {})
    assert str(error.value) == 'target "prod": needs one of service, url_env, prefect_block, url'


def test_a_service_and_its_password_file_are_libpqs_to_read(
    place: Place, running: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services, passwords = tmp_path / "services", tmp_path / "passwords"
    services.write_text(f"[bench]\nhost={running.url.query['host']}\nport=5432\nuser=postgres\ndbname=postgres\n")
    passwords.write_text(f"*:*:*:postgres:{running.url.password}\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    with launch(Target("prod", "dsn", "postgresql", options={"service": "bench"}), place, Owner.run()) as server:
        assert server.version() == running.version()
    with pytest.raises(UserError, match='cannot reach service "nowhere": '):
        launch(Target("prod", "dsn", "postgresql", options={"service": "nowhere"}), place, Owner.run())
