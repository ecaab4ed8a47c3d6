"""``target up`` leaves a server that later runs use; ``target down`` ends it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace

import pytest

from experiments.model import Target, UserError
from tasks.launchers import service
from tasks.launchers.connection import answer, connect
from tasks.launchers.place import Place
from tasks.launchers.process import started
from tasks.launchers.reaping import reap_orphans
from tasks.launchers.record import folders
from tasks.launchers.registry import acquire, find_user_server, launch
from tasks.launchers.server import Owner, SettingsRefused
from tests.launchers.conftest import DUCKDB, EMBEDDED

Script = Callable[..., "subprocess.Popen[str]"]
UP = "server = service.up(embedded, place); print(server.pid, server.psql_line())"


@pytest.fixture
def postmaster(place: Place) -> int:
    """A server that the user put up."""
    with service.up(EMBEDDED, place) as server:
        assert server.pid is not None
        return server.pid


def test_it_outlives_its_command(place: Place, script: Script) -> None:
    told = script(UP, home=place.home).communicate(timeout=60)[0]
    postmaster = int(told.split()[0])
    assert started(postmaster)
    assert reap_orphans(place) == []
    found = find_user_server(EMBEDDED, place)
    assert found is not None
    with found:
        assert found.pid == postmaster
        assert found.psql_line() == told.strip().partition(" ")[2]


def test_it_is_used_by_one_run_after_the_other(place: Place, postmaster: int) -> None:
    with acquire(EMBEDDED, place, Owner.run(), settings={"work_mem": "5MB"}) as server:
        assert answer(server.url, "show work_mem") == "5MB"
        with connect(server.url, 5) as connection:
            connection.execute("create table kept as select 1 as a")
    with acquire(EMBEDDED, place, Owner.run()) as server:
        assert answer(server.url, "show work_mem") == "4MB"
        assert answer(server.url, "select a from kept") == 1


def test_what_up_was_told_holds_for_runs_until_down(place: Place) -> None:
    told = replace(EMBEDDED, options={**EMBEDDED.options, "settings": {"work_mem": "7MB"}}, declared=EMBEDDED.options)
    service.up(told, place).close()
    with acquire(EMBEDDED, place, Owner.run()) as server:
        assert answer(server.url, "show work_mem") == "7MB"
    otherwise = replace(told, options={**EMBEDDED.options, "settings": {"work_mem": "8MB"}})
    with pytest.raises(UserError) as error:
        service.up(otherwise, place)
    assert str(error.value) == 'target "embedded": it is up with other options; storage-matrix target down embedded'
    service.down(EMBEDDED, place)


def test_up_twice_is_up_once(place: Place, postmaster: int) -> None:
    with service.up(EMBEDDED, place) as server:
        assert server.pid == postmaster
    assert started(postmaster)


def test_two_ups_at_once_are_one(place: Place, script: Script) -> None:
    both = [script(UP, home=place.home) for _ in range(2)]
    told = [one.communicate(timeout=60)[0] for one in both]
    assert told[0]
    assert told[0] == told[1]
    assert len(list(folders(place))) == 1


def test_down_ends_it_and_a_second_down_says_that_it_is_not_up(place: Place, postmaster: int) -> None:
    assert service.down(EMBEDDED, place) == 'target "embedded": stopped, files removed'
    assert started(postmaster) is None
    assert list(folders(place)) == []
    with pytest.raises(UserError) as error:
        service.down(EMBEDDED, place)
    assert error.value.exit_code == 2
    assert str(error.value) == 'target "embedded": not up; storage-matrix target up embedded starts it'


def test_one_that_died_is_started_again_for_a_run(place: Place, postmaster: int) -> None:
    os.kill(postmaster, signal.SIGKILL)
    with acquire(EMBEDDED, place, Owner.run()) as server:
        assert server.alive()
        assert server.pid != postmaster


def test_settings_of_a_run_that_was_killed_are_undone_for_the_next(
    place: Place, script: Script, postmaster: int
) -> None:
    code = """
server = acquire(embedded, place, Owner.run(), settings={"work_mem": "5MB"})
print(server.pid, flush=True)
time.sleep(60)
"""
    run = script(code, home=place.home)
    assert run.stdout is not None
    run.stdout.readline()
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert reap_orphans(place) == []
    with acquire(EMBEDDED, place, Owner.run()) as server:
        assert answer(server.url, "show work_mem") == "4MB"


def test_two_runs_do_not_measure_on_it_at_once_and_it_is_not_taken_down_under_a_run(
    place: Place, postmaster: int
) -> None:
    with acquire(EMBEDDED, place, Owner.run()):
        for use in (lambda: acquire(EMBEDDED, place, Owner.run()), lambda: service.down(EMBEDDED, place)):
            with pytest.raises(UserError) as error:
                use()
            assert error.value.exit_code == 4
            assert str(error.value) == 'target "embedded": its server is in use by another run; wait until that ends'
    assert started(postmaster)


def test_one_that_is_up_with_other_options_is_not_used(place: Place, postmaster: int) -> None:
    changed = Target("embedded", "local", "postgresql", options={"bin": "embedded", "settings": {"work_mem": "5MB"}})
    with pytest.raises(UserError) as error:
        acquire(changed, place, Owner.run())
    assert str(error.value) == ('target "embedded": it is up with other options; storage-matrix target down embedded')
    assert service.down(changed, place)


def test_another_target_and_another_home_do_not_see_it(place: Place, postmaster: int) -> None:
    assert find_user_server(Target("other", "local", "postgresql", options={"bin": "embedded"}), place) is None
    elsewhere = Place.of(place.home / "elsewhere", place.environ)
    assert find_user_server(EMBEDDED, elsewhere) is None


def test_an_up_that_is_killed_leaves_nothing_for_long(place: Place, script: Script) -> None:
    up = script("import tasks.launchers.local as local; local.LocalServer.begin = lambda *_: time.sleep(60)\n" + UP)
    try:
        while not any(place.root.glob("*/*/data/PG_VERSION")):
            assert up.poll() is None
    finally:
        up.send_signal(signal.SIGKILL)
        up.wait()
    assert len(reap_orphans(place)) == 1


def test_check_starts_what_is_not_up_for_its_own_time_only(place: Place) -> None:
    with service.check(EMBEDDED, place, Owner.run()) as reach:
        assert reach.version.startswith("PostgreSQL 18")
        assert not reach.was_up
    assert list(folders(place)) == []


def test_check_of_one_that_is_up_leaves_it_up(place: Place, postmaster: int) -> None:
    with service.check(EMBEDDED, place, Owner.run()) as reach:
        assert reach.was_up
        assert reach.server.pid == postmaster
    assert started(postmaster)


def test_a_target_without_a_server_to_start_says_so(place: Place) -> None:
    with pytest.raises(UserError) as error:
        service.up(DUCKDB, place)
    assert str(error.value) == ('target "duckdb": DuckDB has no server to start; runs make its files as they need them')
    with pytest.raises(UserError) as error:
        service.up(Target("prod", "dsn", "postgresql", options={"url": "postgresql://db"}), place)
    assert str(error.value) == 'target "prod": not a server that storage-matrix starts or stops (launcher dsn)'


def test_an_unknown_launcher_names_the_known_ones(place: Place) -> None:
    with pytest.raises(UserError) as error:
        launch(Target("x", "docker", "postgresql"), place, Owner.run())
    assert str(error.value) == 'target "x": no launcher "docker"; there are local, file, dsn, greenplum, opengauss'


def test_a_setting_that_a_users_server_refuses_leaves_it_up(place: Place, postmaster: int) -> None:
    with pytest.raises(SettingsRefused):
        acquire(EMBEDDED, place, Owner.run(), settings={"nonsense": "1"})
    with acquire(EMBEDDED, place, Owner.run()) as server:
        assert server.alive()
