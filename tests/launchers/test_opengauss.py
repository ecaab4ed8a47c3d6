"""An openGauss server from an installed build; against the real one where OPENGAUSS_HOME names it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from experiments.model import Target, UserError
from tasks.errors import StatementFailed, StatementTimeout
from tasks.launchers import service
from tasks.launchers.connection import answer, connect
from tasks.launchers.opengauss import PROGRAMS, OpenGaussServer
from tasks.launchers.place import Place
from tasks.launchers.process import started
from tasks.launchers.reaping import reap_orphans
from tasks.launchers.record import folders
from tasks.launchers.registry import launch
from tasks.launchers.server import Owner, SettingsRefused
from tasks.launchers.shared_memory import SEGMENTS
from tasks.session import PostgresSession, open_session
from tests.launchers.conftest import temporary_root

CANDIDATES = ["$OPENGAUSS_HOME", "/usr/local/opengauss"]
OPENGAUSS = Target("opengauss", "opengauss", "opengauss", options={"gausshome": CANDIDATES})
HOMES = [Path(home) for home in (os.environ.get("OPENGAUSS_HOME"), CANDIDATES[1]) if home]

needs_build = pytest.mark.skipif(
    not any((home / "bin" / "gaussdb").exists() for home in HOMES),
    reason="OPENGAUSS_HOME names no openGauss build to start",
)
pytestmark = pytest.mark.xdist_group("opengauss")

STUDY = {
    "audit_enabled": "off",
    "bulk_write_ring_size": "2GB",
    "enable_beta_opfusion": "on",
    "enable_opfusion": "on",
    "hot_standby": "off",
    "wal_log_hints": "off",
    "work_mem": "64MB",
}
LADDER = [
    {"shared_buffers": "64MB"},
    {"shared_buffers": "1GB", **STUDY},
    {
        "shared_buffers": "1GB",
        **STUDY,
        "enable_thread_pool": "on",
        "fsync": "off",
        "use_workload_manager": "off",
        "enable_resource_track": "off",
        "enable_instr_cpu_timer": "off",
    },
]


@pytest.fixture(scope="module")
def shared_root() -> Iterator[Path]:
    """gs_initdb takes its time; the tests share what it made, as the runs of a user do."""
    with temporary_root() as root:
        yield root


@pytest.fixture
def place(shared_root: Path, tmp_path: Path) -> Place:
    return Place.of(tmp_path / "home", os.environ | {"STORAGE_MATRIX_DATA": str(shared_root)})


@pytest.fixture(scope="module")
def shared_server(shared_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenGaussServer]:
    place = Place.of(tmp_path_factory.mktemp("home"), os.environ | {"STORAGE_MATRIX_DATA": str(shared_root)})
    with launch(OPENGAUSS, place, Owner.run()) as server:
        assert isinstance(server, OpenGaussServer)
        yield server


@pytest.fixture
def server(shared_server: OpenGaussServer) -> OpenGaussServer:
    """As it was launched, whatever the test before did to it."""
    shared_server.revive()
    shared_server.restore()
    return shared_server


@pytest.fixture
def session(server: OpenGaussServer) -> Iterator[PostgresSession]:
    opened = open_session(server.url, Path("/"), 30)
    assert isinstance(opened, PostgresSession)
    yield opened
    opened.close()


def segments_of(process: int) -> list[str]:
    """The shared memory that a process has made and that is still there; others on the machine have theirs."""
    lines = (line.split() for line in SEGMENTS.read_text().splitlines()[1:])
    return [fields[1] for fields in lines if fields[4] == str(process)]


@needs_build
def test_it_answers_as_superuser_with_the_measuring_settings(server: OpenGaussServer) -> None:
    assert server.version().startswith("(openGauss ")
    assert server.alive()
    assert answer(server.url, "show is_sysadmin") == "on"
    told = {name: answer(server.url, f"show {name}") for name in server.settings}
    assert told["fsync"] == told["enable_copy_server_files"] == "on"
    assert told["autovacuum"] == told["synchronize_seqscans"] == "off"
    assert told["incremental_checkpoint_timeout"] == "1h"
    assert told["session_timeout"] == "0"
    assert told["shared_buffers"] == server.settings["shared_buffers"]
    assert answer(server.url, "show data_directory") == str(server.data_directory)


@needs_build
def test_what_the_study_tunes_is_as_the_server_comes(server: OpenGaussServer) -> None:
    names = ["audit_enabled", "use_workload_manager", "enable_thread_pool", "bulk_write_ring_size", "hot_standby"]
    assert [answer(server.url, f"show {name}") for name in names] == ["on", "on", "off", "2GB", "on"]


@needs_build
def test_the_database_tells_an_empty_text_from_null_and_a_date_from_a_timestamp(server: OpenGaussServer) -> None:
    sql = "select datcompatibility || pg_encoding_to_char(encoding) || datcollate from pg_database"
    assert answer(server.url, f"{sql} where datname = current_database()") == "PGUTF8C"
    assert answer(server.url, "select '' is null") is False
    assert answer(server.url, "select '2024-02-29'::date::text") == "2024-02-29"


@needs_build
def test_md5_is_asked_for_on_socket_and_loopback_and_nothing_is_trusted(server: OpenGaussServer) -> None:
    rules = (server.folder.path / "pg_hba.conf").read_text().splitlines()
    assert rules == ["local all all md5", "host all all 127.0.0.1/32 md5"]
    assert answer(server.url, "show hba_file") == str(server.folder.path / "pg_hba.conf")
    for host in (server.url.query["host"], "127.0.0.1"):
        with connect(server.url, 5, host=host) as connection:
            assert connection.execute("select 1").fetchone() == (1,)
        with pytest.raises(psycopg.OperationalError, match=r"no password supplied|fe_sendauth"):
            connect(server.url._replace(password=None), 5, host=host, passfile="/dev/null").close()
        with pytest.raises(psycopg.OperationalError, match="Invalid username/password"):
            connect(server.url.set(password="wrong"), 5, host=host).close()
    assert str(server.url.password) not in server.psql_line() + repr(server)


@needs_build
def test_the_psql_line_works_when_pasted_into_a_shell(server: OpenGaussServer) -> None:
    line = f"{server.psql_line()} -Atc 'select 6 * 7'"
    assert subprocess.run(line, shell=True, capture_output=True, text=True, check=True).stdout == "42\n"


@needs_build
def test_it_is_one_process_that_runs_in_a_session_of_its_own(server: OpenGaussServer) -> None:
    assert server.processes() == [server.pid]
    assert server.pid is not None
    assert os.getsid(server.pid) != os.getsid(0)
    assert server.data_directory is not None
    assert server.data_directory.stat().st_mode & 0o777 == 0o700


@needs_build
def test_a_session_of_ours_works_as_on_any_server(server: OpenGaussServer, session: PostgresSession) -> None:
    assert session.value("select version()") == server.version()
    [(plan,)] = session.rows("explain (analyze, buffers, format json) select count(*) from pg_class")
    assert list(json.loads(plan)[0]) == ["Plan", "Triggers", "Total Runtime"]
    session.execute("checkpoint")
    begin = time.monotonic()
    threading.Timer(0.5, session.stop).start()
    with pytest.raises(StatementFailed, match="canceling statement due to user request"):
        session.execute("select pg_sleep(30)")
    session.is_stopped = False
    session.execute("set statement_timeout = 500")
    with pytest.raises(StatementTimeout):
        session.execute("select pg_sleep(30)")
    assert time.monotonic() - begin < 10


@needs_build
def test_copy_reads_files_of_the_server_and_streams(server: OpenGaussServer) -> None:
    assert server.exchange is not None
    file = server.exchange / "rows.csv"
    file.write_text("1\n2\n")
    file.chmod(0o644)
    with connect(server.url, 5) as connection:
        connection.execute("drop table if exists numbers")
        connection.execute("create table numbers (a int)")
        connection.execute(f"copy numbers from '{file}' csv".encode())
        with connection.cursor().copy("copy numbers from stdin") as copy:
            copy.write("3\n")
        assert connection.execute("select sum(a) from numbers").fetchone() == (6,)


@needs_build
@pytest.mark.parametrize(
    "storage", ["orientation=row", "orientation=row, storage_type=ustore", "orientation=column, compression=high"]
)
def test_every_form_of_storage_can_be_made_and_filled(session: PostgresSession, storage: str) -> None:
    session.execute("drop table if exists form")
    session.execute(f"create table form (i int, t text, d date) with ({storage})")
    session.execute("insert into form select i, '', date '2024-02-29' from generate_series(1, 1000) i")
    assert session.rows("select count(*), count(t), max(d)::text from form") == [(1000, 1000, "2024-02-29")]


@needs_build
def test_the_studys_ladder_can_be_climbed_and_left(server: OpenGaussServer) -> None:
    before = dict(server.settings)
    for rung in LADDER:
        server.restart(rung)
        assert {name: answer(server.url, f"show {name}") for name in rung} == rung
    server.restart()
    assert answer(server.url, "show enable_thread_pool") == "on"
    server.restore()
    assert server.settings == before
    assert answer(server.url, "show shared_buffers") == before["shared_buffers"]
    assert answer(server.url, "show hot_standby") == "on"


@needs_build
@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (
            {"wal_level": "foo"},
            'the server refused wal_level = foo: The value "foo" is outside the valid range'
            '(minimal,archive,hot_standby,logical) for parameter "wal_level".',
        ),
        (
            {"nonsense": "1"},
            'the server refused nonsense = 1: The name of parameter "nonsense" is incorrect. '
            "It is not within the CN/DN support parameters or it is a read only parameter.",
        ),
        (
            {"wal_level": "minimal"},
            "the server refused wal_level = minimal: hot standby is not possible because wal_level was not set to "
            '"hot_standby"; Either set wal_level to "hot_standby", or turn off hot_standby.',
        ),
    ],
)
def test_a_refused_setting_tells_the_reason_and_leaves_it_as_it_was(
    server: OpenGaussServer, asked: dict[str, str], reason: str
) -> None:
    server.restart({"work_mem": "5MB"})
    with pytest.raises(SettingsRefused) as error:
        server.restart(asked)
    assert str(error.value) == f'target "opengauss": {reason}'
    assert answer(server.url, "show work_mem") == "5MB"
    assert answer(server.url, "show wal_level") == "hot_standby"


@needs_build
def test_a_killed_server_is_started_again_with_what_was_committed(server: OpenGaussServer) -> None:
    with connect(server.url, 5) as connection:
        connection.execute("drop table if exists kept")
        connection.execute("create table kept as select 1 as a")
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
    assert not server.alive()
    server.revive()
    assert answer(server.url, "select a from kept") == 1


@needs_build
def test_a_second_server_needs_no_initdb_and_leaves_nothing_however_it_ended(
    server: OpenGaussServer, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.launchers.opengauss._initdb", None)
    target = Target(
        "other", "opengauss", "opengauss", options={"gausshome": CANDIDATES, "settings": {"work_mem": "7MB"}}
    )
    with launch(target, place, Owner.run()) as other:
        assert answer(other.url, "show work_mem") == "7MB"
        assert other.url.password != server.url.password
        [process] = other.processes()
        assert len(segments_of(process)) == 1
        os.kill(process, signal.SIGKILL)
    assert started(process) is None
    assert list(folders(place)) == []
    assert segments_of(process) == [], "a killed server cannot give its shared memory back"


@needs_build
def test_settings_refused_at_launch_leave_nothing_behind(server: OpenGaussServer, place: Place) -> None:
    with pytest.raises(SettingsRefused):
        launch(OPENGAUSS, place, Owner.run(), settings={"bulk_write_ring_size": "1kB"})
    assert list(folders(place)) == []
    assert server.alive()


@needs_build
def test_the_server_of_a_killed_run_is_found(
    server: OpenGaussServer, place: Place, shared_root: Path, script: Callable[..., subprocess.Popen[str]]
) -> None:
    code = f"""
place = Place.of(Path(os.environ["SM_HOME"]), os.environ | {{"STORAGE_MATRIX_DATA": {str(shared_root)!r}}})
server = launch(Target("opengauss", "opengauss", "opengauss", options={{"gausshome": {CANDIDATES}}}), place, Owner.run())
print(server.pid, flush=True)
time.sleep(60)
"""
    run = script(code, home=place.home)
    assert run.stdout is not None
    process = int(run.stdout.readline())
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert started(process)
    assert reap_orphans(place) == [
        f'target "opengauss": stopped and removed the server of a run of process {run.pid}, which is gone'
    ]
    assert started(process) is None
    assert server.alive()


@needs_build
def test_up_and_down(server: OpenGaussServer, place: Place) -> None:
    with service.up(OPENGAUSS, place) as mine:
        first = mine.pid
    with service.up(OPENGAUSS, place) as mine:
        assert mine.pid == first
    assert service.down(OPENGAUSS, place) == 'target "opengauss": stopped, files removed'
    assert first is not None
    assert started(first) is None
    assert server.alive()


def test_without_an_installation_it_says_where_it_looked(place: Place) -> None:
    target = Target("opengauss", "opengauss", "opengauss", options={"gausshome": ["$OPENGAUSS_HOME", "/nowhere"]})
    with pytest.raises(UserError) as error:
        launch(target, Place.of(place.home, {}), Owner.run())
    assert error.value.exit_code == 4
    assert str(error.value) == (
        'target "opengauss": no gs_initdb, gs_ctl, gs_guc, gaussdb found; '
        "looked at $OPENGAUSS_HOME (not set), /nowhere (no directory /nowhere/bin)"
    )


def test_an_initdb_that_fails_says_why_and_leaves_nothing(place: Place, shared_root: Path, tmp_path: Path) -> None:
    programs = shared_root / "broken" / "bin"
    programs.mkdir(parents=True)
    for name in PROGRAMS:
        (programs / name).write_text("#!/bin/sh\necho 'gs_initdb: ERROR: no space left'\nexit 1\n")
    for path in [programs.parent, programs, *programs.iterdir()]:
        path.chmod(0o755)
    target = Target("opengauss", "opengauss", "opengauss", options={"gausshome": str(programs.parent)})
    with pytest.raises(UserError) as error:
        launch(target, place, Owner.run())
    assert str(error.value) == 'target "opengauss": gs_initdb failed: no space left'
    assert list(folders(place)) == []
