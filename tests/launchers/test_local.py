"""A server from a bin directory, from initdb to the end, with the wheel's build and Debian's."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from experiments.model import Target, UserError
from tasks.errors import ServerGone
from tasks.launchers.connection import answer, connect
from tasks.launchers.place import Place
from tasks.launchers.postmaster import Postmaster
from tasks.launchers.process import started, wait_until
from tasks.launchers.registry import launch
from tasks.launchers.server import Owner, Server, SettingsRefused
from tests.launchers.conftest import DEBIAN, EMBEDDED, needs_root, temporary_root

BUILDS = [
    pytest.param(EMBEDDED, id="embedded"),
    pytest.param(
        Target("debian", "local", "postgresql", options={"bin": [str(DEBIAN)], "settings": {"work_mem": "7MB"}}),
        id="debian15",
        marks=pytest.mark.skipif(not DEBIAN.is_dir(), reason=f"no PostgreSQL 15 in {DEBIAN}"),
    ),
]


@pytest.fixture(scope="module")
def shared_place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with temporary_root() as root:
        yield Place.of(tmp_path_factory.mktemp("home"), os.environ | {"STORAGE_MATRIX_DATA": str(root)})


@pytest.fixture(scope="module", params=BUILDS)
def server(shared_place: Place, request: pytest.FixtureRequest) -> Iterator[Server]:
    with launch(request.param, shared_place, Owner.run()) as launched:
        yield launched


@pytest.fixture(scope="module")
def shared_embedded(shared_place: Place) -> Iterator[Server]:
    with launch(EMBEDDED, shared_place, Owner.run()) as launched:
        yield launched


@pytest.fixture
def embedded(shared_embedded: Server) -> Server:
    """A test may change its settings or kill it, as long as it comes back."""
    shared_embedded.revive()
    shared_embedded.restore()
    return shared_embedded


def test_it_answers_as_superuser_with_the_measuring_settings(server: Server) -> None:
    assert server.version().startswith("PostgreSQL 1")
    assert server.alive()
    assert answer(server.url, "show is_superuser") == "on"
    told = {name: answer(server.url, f"show {name}") for name in server.settings if name != "shared_buffers"}
    assert told["fsync"] == "on"
    assert told["autovacuum"] == "off"
    assert told["max_parallel_workers_per_gather"] == "0"
    assert told["checkpoint_timeout"] == "1d"
    assert told["jit"] == "off"
    assert answer(server.url, "show data_checksums") == "off"
    assert answer(server.url, "show wal_segment_size") == "64MB"
    assert answer(server.url, "select datcollate || pg_encoding_to_char(encoding) from pg_database limit 1") == "CUTF8"
    assert answer(server.url, "show listen_addresses") == ""
    if server.target == "debian":
        assert answer(server.url, "show work_mem") == server.settings["work_mem"] == "7MB"


def test_nobody_gets_in_without_the_password_and_it_is_shown_nowhere(embedded: Server) -> None:
    secret = embedded.url.password
    assert secret is not None
    assert len(secret) == 32
    with pytest.raises(psycopg.OperationalError, match=r"no password supplied|fe_sendauth"):
        connect(embedded.url._replace(password=None), 5, passfile="/dev/null").close()
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        connect(embedded.url.set(password="wrong"), 5).close()
    for text in (repr(embedded), repr(embedded.url), str(embedded.url), embedded.psql_line()):
        assert secret not in text
    assert answer(embedded.url, "select count(*) from pg_hba_file_rules where auth_method <> 'scram-sha-256'") == 0


def test_the_psql_line_works_when_pasted_into_a_shell(server: Server) -> None:
    told = subprocess.run(
        f"{server.psql_line()} -Atc 'select 6 * 7'", shell=True, capture_output=True, text=True, check=True
    )
    assert told.stdout == "42\n"


def test_its_processes_and_disk_are_visible(embedded: Server) -> None:
    processes = embedded.processes()
    assert processes[0] == embedded.pid
    assert len(processes) > 4
    with connect(embedded.url, 5) as connection:
        assert connection.info.backend_pid in embedded.processes()
    assert os.getsid(processes[0]) != os.getsid(0), "Ctrl-C in our terminal is not for the server"
    assert embedded.data_directory is not None
    assert Path(answer(embedded.url, "show data_directory")) == embedded.data_directory
    assert (embedded.free_bytes() or 0) > 1_000_000
    assert embedded.is_ours
    assert embedded.is_exclusive
    assert embedded.bin_directory is not None
    assert (embedded.bin_directory / "pgbench").exists()


def test_its_own_copy_reads_files_from_the_exchange_directory(embedded: Server) -> None:
    assert embedded.exchange is not None
    file = embedded.exchange / "rows.csv"
    file.write_text("1\n2\n")
    file.chmod(0o644)
    with connect(embedded.url, 5) as connection:
        connection.execute("create table rows (a int)")
        connection.execute(f"copy rows from '{file}' csv".encode())
        assert connection.execute("select sum(a) from rows").fetchone() == (3,)


@needs_root
def test_as_root_it_runs_as_nobody_in_directories_that_nobody_else_enters(embedded: Server) -> None:
    assert embedded.data_directory is not None
    entry = pwd.getpwnam("nobody")
    found = embedded.data_directory.stat()
    assert (found.st_uid, found.st_mode & 0o777) == (entry.pw_uid, 0o700)
    folder = embedded.data_directory.parent
    assert (folder.stat().st_uid, folder.stat().st_mode & 0o777) == (0, 0o711)
    assert (folder / "pgpass").stat().st_mode & 0o777 == 0o600
    assert (folder / "server.json").stat().st_mode & 0o777 == 0o600
    assert not (folder / "password").exists()


def test_nothing_of_it_is_left_when_its_use_ends(place: Place) -> None:
    with launch(EMBEDDED, place, Owner.run()) as server:
        processes = server.processes()
        assert server.data_directory is not None
    assert [pid for pid in processes if started(pid)] == []
    assert not server.data_directory.parent.exists()
    server.stop()


def test_settings_are_applied_by_a_restart_and_undone(embedded: Server) -> None:
    before = dict(embedded.settings)
    embedded.restart({"shared_buffers": "32MB", "wal_level": "minimal"})
    assert answer(embedded.url, "show shared_buffers") == "32MB"
    assert answer(embedded.url, "show wal_level") == "minimal"
    assert embedded.settings["shared_buffers"] == "32MB"
    embedded.restart()
    assert answer(embedded.url, "show shared_buffers") == "32MB"
    embedded.restart({"work_mem": "5MB"})
    assert answer(embedded.url, "show shared_buffers") == before["shared_buffers"]
    assert answer(embedded.url, "show work_mem") == "5MB"
    embedded.restore()
    assert answer(embedded.url, "show work_mem") == "4MB"
    assert embedded.settings == before


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (
            {"wal_level": "foo"},
            'the server refused wal_level = foo: invalid value for parameter "wal_level": "foo"; '
            "Available values: minimal, replica, logical.",
        ),
        (
            {"wal_level": "minimal", "max_wal_senders": "4"},
            "the server refused wal_level = minimal, max_wal_senders = 4: WAL streaming "
            '("max_wal_senders" > 0) requires "wal_level" to be "replica" or "logical"',
        ),
    ],
)
def test_a_refused_setting_tells_the_servers_reason_and_leaves_it_as_it_was(
    embedded: Server, asked: dict[str, str], reason: str
) -> None:
    embedded.restart({"work_mem": "5MB"})
    with pytest.raises(SettingsRefused) as error:
        embedded.restart(asked)
    assert str(error.value) == f'target "embedded": {reason}'
    assert answer(embedded.url, "show work_mem") == "5MB"
    assert answer(embedded.url, "show wal_level") == "replica"


def test_a_server_that_is_killed_while_it_starts_has_refused_nothing(
    embedded: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded.restart({"work_mem": "5MB"})
    starter = Postmaster.starter
    killed = iter([["sh", "-c", "kill -9 $$"]])
    monkeypatch.setattr(Postmaster, "starter", lambda postmaster: next(killed, None) or starter(postmaster))
    with pytest.raises(ServerGone, match="while it was started"):
        embedded.restart({"work_mem": "6MB"})
    assert answer(embedded.url, "show work_mem") == "5MB"


def test_a_setting_with_quotes_stays_one_setting(embedded: Server) -> None:
    value = "it's \\ 'quoted'\nfsync = off"
    with pytest.raises(SettingsRefused):
        embedded.restart({"cluster_name": value})
    embedded.restart({"search_path": '"it\'s", public'})
    assert answer(embedded.url, "show search_path") == '"it\'s", public'
    assert answer(embedded.url, "show fsync") == "on"


def test_settings_refused_at_launch_leave_nothing_behind(place: Place) -> None:
    with pytest.raises(SettingsRefused) as error:
        launch(EMBEDDED, place, Owner.run(), settings={"nonsense": "1"})
    assert 'unrecognized configuration parameter "nonsense"' in str(error.value)
    assert [path.name for path in place.folder.iterdir()] == ["home"]


def test_a_crash_of_one_backend_is_waited_for(embedded: Server) -> None:
    with connect(embedded.url, 5) as connection:
        os.kill(connection.info.backend_pid, signal.SIGKILL)
    embedded.revive()
    assert embedded.alive()


def test_a_killed_postmaster_is_started_again_with_what_was_committed(embedded: Server) -> None:
    with connect(embedded.url, 5) as connection:
        connection.execute("create table kept as select 1 as a")
        assert embedded.pid is not None
        os.kill(embedded.pid, signal.SIGKILL)
        assert not embedded.alive()
    embedded.revive()
    assert answer(embedded.url, "select a from kept") == 1


@pytest.mark.parametrize("dies", ["a backend", "the postmaster"])
def test_what_a_dead_session_has_altered_does_not_come_back(embedded: Server, dies: str) -> None:
    with connect(embedded.url, 5) as connection:
        connection.execute("alter system set autovacuum = on")
        connection.execute("select pg_reload_conf()")
        victim = connection.info.backend_pid if dies == "a backend" else embedded.pid
        assert victim is not None
        os.kill(victim, signal.SIGKILL)
    embedded.revive()
    assert wait_until(lambda: answer(embedded.url, "show autovacuum") == "off", 10)


def test_a_server_that_cannot_come_back_says_why(place: Place) -> None:
    with launch(EMBEDDED, place, Owner.run()) as server:
        assert server.pid is not None
        assert server.data_directory is not None
        os.kill(server.pid, signal.SIGKILL)
        (server.data_directory / "PG_VERSION").write_text("9\n")
        with pytest.raises(UserError) as error:
            server.revive()
    assert error.value.exit_code == 4
    assert str(error.value).startswith('target "embedded": the server is not up: database files are incompatible')
    assert "\n" not in str(error.value)


def test_a_data_directory_too_deep_for_sockets_is_refused(data_root: Path, tmp_path: Path) -> None:
    deep = data_root / ("d" * 60)
    deep.mkdir(mode=0o711)
    deep.chmod(0o711)
    place = Place.of(tmp_path / "home", os.environ | {"STORAGE_MATRIX_DATA": str(deep)})
    with pytest.raises(UserError, match=r"too long for a socket; set \$STORAGE_MATRIX_DATA to a shorter directory"):
        launch(EMBEDDED, place, Owner.run())
    assert [path.name for path in place.folder.iterdir()] == ["home"]


@needs_root
def test_a_data_directory_that_the_servers_user_cannot_enter_is_named_and_left_as_it_is(
    data_root: Path, tmp_path: Path
) -> None:
    closed = data_root / "closed"
    closed.mkdir(mode=0o700)
    place = Place.of(tmp_path / "home", os.environ | {"STORAGE_MATRIX_DATA": str(closed)})
    with pytest.raises(UserError) as error:
        launch(EMBEDDED, place, Owner.run())
    assert str(error.value) == (
        f"{closed}: OS user nobody, which the server runs as, cannot enter it; "
        "set $STORAGE_MATRIX_DATA to a directory that everybody can enter"
    )
    assert closed.stat().st_mode & 0o777 == 0o700


@needs_root
def test_an_ordinary_user_with_a_closed_home_gets_a_server_of_its_own(
    data_root: Path, script: Callable[..., subprocess.Popen[str]]
) -> None:
    """Spaces and letters beyond ASCII in the home, which only its owner enters; the data directory has them too."""
    own = data_root / "dåta dir"
    own.mkdir(mode=0o700)
    os.chown(own, 65534, 65534)
    home = own / "mein Zuhause ü"
    code = """
os.environ["STORAGE_MATRIX_DATA"] = str(Path(os.environ["SM_HOME"]).parent)
place = Place.of(Path(os.environ["SM_HOME"]), os.environ)
with acquire(embedded, place, Owner.run()) as server:
    server.restart({"work_mem": "5MB"})
    print(os.geteuid(), answer(server.url, "show work_mem"), len(server.processes()) > 4)
    folder = server.data_directory.parent
    print(oct(folder.stat().st_mode)[-3:], oct(folder.parent.stat().st_mode)[-3:])
print(folder.exists())
"""
    process = script(code, user="nobody", home=home)
    assert process.communicate(timeout=60)[0].splitlines() == ["65534 5MB True", "700 700", "False"]
