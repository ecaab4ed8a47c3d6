"""A Greenplum cluster from an installed build; against the real one where GPHOME names it."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from experiments.model import Target, UserError
from tasks.launchers import service
from tasks.launchers.connection import answer, connect
from tasks.launchers.greenplum import GreenplumCluster
from tasks.launchers.place import Place
from tasks.launchers.process import started, wait_until
from tasks.launchers.reaping import reap_orphans
from tasks.launchers.record import folders
from tasks.launchers.registry import launch
from tasks.launchers.server import Owner, SettingsRefused
from tests.launchers.conftest import kill_during_insert, temporary_root

GPHOME = os.environ.get("GPHOME") or "/usr/local/gpdb"
GREENPLUM = Target("greenplum", "greenplum", "greenplum6", options={"gphome": [GPHOME], "segments": 2})
SEGMENTS = "select count(*) from gp_dist_random('gp_id')"

needs_build = pytest.mark.skipif(
    not Path(GPHOME, "bin", "initdb").exists(), reason=f"no Greenplum to start: no build in GPHOME ({GPHOME})"
)


@pytest.fixture(scope="module")
def shared_root() -> Iterator[Path]:
    """initdb takes seconds; the tests share what it made, as the runs of a user do."""
    with temporary_root() as root:
        yield root


@pytest.fixture
def place(shared_root: Path, tmp_path: Path) -> Place:
    return Place.of(tmp_path / "home", os.environ | {"STORAGE_MATRIX_DATA": str(shared_root)})


@pytest.fixture(scope="module")
def cluster(shared_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GreenplumCluster]:
    home = tmp_path_factory.mktemp("home")
    place = Place.of(home, os.environ | {"STORAGE_MATRIX_DATA": str(shared_root)})
    with launch(GREENPLUM, place, Owner.run()) as server:
        assert isinstance(server, GreenplumCluster)
        yield server


def on_nodes(cluster: GreenplumCluster, setting: str) -> list[str]:
    """A setting as each node has it, the coordinator first."""
    sql = f"select paramvalue from gp_toolkit.gp_param_setting('{setting}') order by paramsegment"
    with connect(cluster.url, 5) as connection:
        return [row[0] for row in connection.execute(sql.encode()).fetchall()]


@needs_build
def test_coordinator_and_segments_answer_with_the_measuring_settings(cluster: GreenplumCluster) -> None:
    assert "Greenplum Database 6." in cluster.version()
    assert answer(cluster.url, SEGMENTS) == 2
    assert cluster.alive()
    told = {name: answer(cluster.url, f"show {name}") for name in cluster.settings}
    assert {"fsync": "on", "optimizer": "off", "gp_autostats_mode": "none", "log_statement": "none"}.items() <= (
        told.items()
    )
    assert told == cluster.settings
    assert [node.name for node in cluster.nodes] == ["coordinator", "segment0", "segment1"]
    assert cluster.data_directory.name == "coordinator"
    assert on_nodes(cluster, "max_connections") == ["50", "150", "150"]


@needs_build
def test_rows_are_spread_and_survive_a_restart_with_settings(cluster: GreenplumCluster) -> None:
    with connect(cluster.url, 5) as connection:
        connection.execute("create table spread as select i from generate_series(1, 1000) i distributed by (i)")
    cluster.restart({"shared_buffers": "64MB"})
    assert answer(cluster.url, "select count(distinct gp_segment_id) from spread") == 2
    assert on_nodes(cluster, "shared_buffers") == ["64MB"] * 3
    cluster.restore()
    assert on_nodes(cluster, "shared_buffers") == [cluster.settings["shared_buffers"]] * 3


@needs_build
@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"wal_level": "foo"}, 'invalid value for parameter "wal_level": "foo"'),
        ({"nonsense": "1"}, 'unrecognized configuration parameter "nonsense"'),
        ({"checkpoint_timeout": "30"}, '"checkpoint_timeout": can not be set by the user and will be ignored'),
        ({"max_connections": "many"}, 'invalid value for parameter "max_connections": "many"'),
    ],
)
def test_a_refused_or_ignored_setting_tells_why(cluster: GreenplumCluster, asked: dict[str, str], reason: str) -> None:
    with pytest.raises(SettingsRefused) as error:
        cluster.restart(asked)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)
    assert cluster.alive()


@needs_build
def test_only_loopback_is_listened_on_and_a_password_is_needed(cluster: GreenplumCluster) -> None:
    assert {answer(cluster.url, "show listen_addresses")} == {"127.0.0.1"}
    for host in (cluster.url.query["host"], "127.0.0.1"):
        with pytest.raises(psycopg.OperationalError, match=r"no password supplied|fe_sendauth"):
            connect(cluster.url._replace(password=None), 5, host=host, passfile="/dev/null").close()
    assert str(cluster.url.password) not in cluster.psql_line() + repr(cluster)


@needs_build
def test_each_node_is_reached_by_itself_with_the_same_password(cluster: GreenplumCluster) -> None:
    told = [(answer(url, "show gp_contentid"), answer(url, "show gp_session_role")) for url in cluster.node_urls]
    assert told == [("-1", "utility"), ("0", "utility"), ("1", "utility")]
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        connect(cluster.node_urls[1].set(password="wrong"), 5).close()
    with pytest.raises(psycopg.OperationalError, match="connections to primary segments are not allowed"):
        connect(cluster.node_urls[1].difference_update_query(["options"]), 5).close()
    logs = [file for node in cluster.nodes for file in node.data.glob("pg_log/*")] + [
        node.log for node in cluster.nodes
    ]
    assert not [file for file in logs if str(cluster.url.password) in file.read_text()]


@needs_build
def test_the_psql_line_works_when_pasted_into_a_shell(cluster: GreenplumCluster) -> None:
    line = f'{cluster.psql_line()} -Atc "{SEGMENTS}"'
    assert subprocess.run(line, shell=True, capture_output=True, text=True, check=True).stdout == "2\n"


@needs_build
def test_the_processes_of_every_node_are_visible(cluster: GreenplumCluster) -> None:
    postmasters = [node.pid() for node in cluster.nodes]
    assert cluster.processes()[:3] == postmasters
    assert cluster.pid == postmasters[0]
    assert len(cluster.processes()) > 12


@needs_build
@pytest.mark.parametrize("node", [0, 1, 2])
def test_a_killed_node_is_noticed_and_comes_back_with_what_was_committed(cluster: GreenplumCluster, node: int) -> None:
    with connect(cluster.url, 5) as connection:
        connection.execute("drop table if exists kept")
        connection.execute("create table kept as select i from generate_series(1, 100) i distributed by (i)")
    pid = cluster.nodes[node].pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert not cluster.alive()
    cluster.revive()
    assert answer(cluster.url, "select count(*) from kept") == 100


@needs_build
def test_a_segment_that_is_killed_during_a_load_fails_it_with_a_clear_error(cluster: GreenplumCluster) -> None:
    killer = threading.Thread(target=kill_during_insert, args=(cluster.nodes[1],))
    with connect(cluster.url, 5) as connection:
        connection.execute("drop table if exists big")
        connection.execute("create table big (i int, t text) distributed by (i)")
        killer.start()
        with pytest.raises(psycopg.Error) as error:
            connection.execute("insert into big select i, repeat('x', 500) from generate_series(1, 20000000) i")
        killer.join()
    assert str(error.value)
    assert error.value.sqlstate is None or error.value.sqlstate[:2] in ("57", "58", "08", "XX")
    cluster.revive()
    assert answer(cluster.url, "select count(*) from big") == 0


@needs_build
def test_a_second_cluster_needs_no_initdb(
    cluster: GreenplumCluster, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is most of the time of the first: with it, a cluster takes about ten seconds, without about three."""
    monkeypatch.setattr("tasks.launchers.greenplum._initdb", None)
    with launch(
        Target("other", "greenplum", "greenplum6", options={"gphome": GPHOME, "segments": "1"}), place, Owner.run()
    ) as one:
        assert answer(one.url, SEGMENTS) == 1
        processes = one.processes()
        assert one.url.password != cluster.url.password
    assert [pid for pid in processes if started(pid)] == []
    assert list(folders(place)) == []


@needs_build
def test_the_cluster_of_a_killed_run_is_found(
    place: Place, shared_root: Path, script: Callable[..., subprocess.Popen[str]]
) -> None:
    code = f"""
place = Place.of(Path(os.environ["SM_HOME"]), os.environ | {{"STORAGE_MATRIX_DATA": {str(shared_root)!r}}})
server = launch(Target("greenplum", "greenplum", "greenplum6", options={{"gphome": "{GPHOME}"}}), place, Owner.run())
print(*server.processes(), flush=True)
time.sleep(60)
"""
    run = script(code, home=place.home)
    assert run.stdout is not None
    processes = [int(word) for word in run.stdout.readline().split()]
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert all(started(pid) for pid in processes[:3])
    assert reap_orphans(place) == [
        f'target "greenplum": stopped and removed the server of a run of process {run.pid}, which is gone'
    ]
    assert [pid for pid in processes if started(pid)] == []


@needs_build
def test_a_run_killed_while_its_cluster_is_made_leaves_nothing_for_long(
    place: Place, shared_root: Path, script: Callable[..., subprocess.Popen[str]]
) -> None:
    code = f"""
place = Place.of(Path(os.environ["SM_HOME"]), os.environ | {{"STORAGE_MATRIX_DATA": {str(shared_root)!r}}})
launch(Target("greenplum", "greenplum", "greenplum6", options={{"gphome": "{GPHOME}"}}), place, Owner.run())
"""
    run = script(code, home=place.home)
    while not any(place.folder.glob("*/segment1.log")):
        assert run.poll() is None
    run.send_signal(signal.SIGKILL)
    run.wait()
    # A child that was forked and is not yet the program that it is to be still holds the lock of the folder.
    assert wait_until(lambda: len(reap_orphans(place)) == 1, 10)
    assert list(folders(place)) == []


@needs_build
def test_up_and_down(place: Place) -> None:
    with service.up(GREENPLUM, place) as server:
        first = server.pid
    with service.up(GREENPLUM, place) as server:
        assert server.pid == first
        assert answer(server.url, SEGMENTS) == 2
    assert service.down(GREENPLUM, place) == 'target "greenplum": stopped, files removed'
    assert first is not None
    assert started(first) is None


@pytest.mark.parametrize("number", ["0", "17", "two", "-1"])
def test_a_number_of_segments_that_makes_no_sense_is_refused(place: Place, number: str) -> None:
    with pytest.raises(UserError) as error:
        launch(Target("greenplum", "greenplum", "greenplum6", options={"segments": number}), place, Owner.run())
    assert str(error.value) == f'target "greenplum": segments = {number}; a number from 1 to 16 is needed'


def test_without_an_installation_it_says_where_it_looked(place: Place) -> None:
    with pytest.raises(UserError) as error:
        launch(
            Target("greenplum", "greenplum", "greenplum6", options={"gphome": ["$GPHOME"]}),
            Place.of(place.home, {}),
            Owner.run(),
        )
    assert error.value.exit_code == 4
    assert str(error.value) == 'target "greenplum": no initdb, pg_ctl, postgres found; looked at $GPHOME (not set)'


def test_another_build_than_greenplum_6_is_refused(place: Place, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("initdb", "pg_ctl", "postgres"):
        (programs / name).write_text("#!/bin/sh\necho 'postgres (Greenplum Database) 7.1.0 build dev'\n")
        (programs / name).chmod(0o755)
    with pytest.raises(UserError) as error:
        launch(Target("greenplum", "greenplum", "greenplum6", options={"gphome": str(tmp_path)}), place, Owner.run())
    assert error.value.exit_code == 4
    assert str(error.value).startswith('target "greenplum": Greenplum 6 is what this launcher starts; ')
    assert str(error.value).endswith(" has postgres (Greenplum Database) 7.1.0 build dev")
    assert list(folders(place)) == []
