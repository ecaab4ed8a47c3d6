"""What a killed run leaves behind is found by the next command; what is not an orphan is not touched."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.launchers.place import Place
from tasks.launchers.process import FOLDER, started, wait_until
from tasks.launchers.reaping import reap_orphans
from tasks.launchers.record import RECORD, ServerFolder, folders
from tasks.launchers.registry import launch
from tasks.launchers.server import Owner
from tests.launchers.conftest import DUCKDB, processes_below, sleeper

Script = Callable[..., "subprocess.Popen[str]"]

RUN = """
with acquire(embedded, place, Owner.run()) as server:
    print(server.pid, flush=True)
    time.sleep(60)
"""


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def sentences(count: int, pid: int) -> list[str]:
    return [f'target "embedded": stopped and removed the server of a run of process {pid}, which is gone'] * count


def test_nothing_to_do(place: Place) -> None:
    assert reap_orphans(place) == []
    place.prepare()
    assert reap_orphans(place) == []


def test_nothing_to_do_imports_nothing_heavy(script: Script) -> None:
    code = "reap_orphans(place); print([name for name in ('psutil', 'psycopg', 'sqlalchemy') if name in sys.modules])"
    assert script(code).communicate(timeout=30)[0] == "[]\n"


def test_the_server_of_a_killed_run_is_stopped_and_removed(place: Place, script: Script) -> None:
    run = script(RUN)
    assert run.stdout is not None
    postmaster = int(run.stdout.readline())
    assert reap_orphans(place) == [], "its run lives"
    assert started(postmaster)
    kill(run)
    assert started(postmaster), "kill -9 of the run does not stop its server"
    assert reap_orphans(place) == sentences(1, run.pid)
    assert started(postmaster) is None
    assert list(folders(place)) == []
    assert reap_orphans(place) == []


@pytest.mark.parametrize(
    "moment", ["server.json", "data/PG_VERSION", "data/global/pg_control", "data.conf", "data.log"]
)
def test_a_run_killed_while_its_server_starts_leaves_nothing_for_long(
    place: Place, script: Script, data_root: Path, moment: str
) -> None:
    run = script(RUN)
    assert wait_until(lambda: any(data_root.glob(f"*/*/{moment}")), 30)
    kill(run)
    # A child that was forked and is not yet the program that it is to be still holds the lock of the folder.
    assert wait_until(lambda: reap_orphans(place) == sentences(1, run.pid), 10)
    assert wait_until(lambda: processes_below(data_root) == [], 5)
    assert list(data_root.glob("*/embedded-*")) == []


def test_a_folder_whose_maker_was_killed_before_its_record_was_written_is_removed(place: Place) -> None:
    place.prepare()
    unborn = place.folder / "embedded-0a1b2c"
    unborn.mkdir()
    (unborn / f"{RECORD}.new").touch()
    assert reap_orphans(place) == []
    assert not unborn.exists()


def test_a_folder_without_a_record_that_has_files_is_left_alone(place: Place) -> None:
    place.prepare()
    folder = place.folder / "embedded-0a1b2c"
    folder.mkdir()
    (folder / "precious").touch()
    (folder / RECORD).write_text('{"form": "of another version"}')
    assert reap_orphans(place) == []
    assert (folder / "precious").exists()


def orphan(place: Place, programs: Path) -> Path:
    """A server's folder whose owner is gone, as its record says."""
    launched = launch(DUCKDB, place, Owner.run())
    folder: ServerFolder = launched.folder  # type: ignore[attr-defined]
    folder.save(owner=Owner("run", os.getpid(), "a start time of another process"), programs=str(programs))
    folder.release()
    return folder.path


def test_a_process_that_only_has_the_number_is_not_touched(place: Place, tmp_path: Path) -> None:
    """postmaster.pid names a process that is none of the server's: the number came back."""
    path = orphan(place, tmp_path)
    with sleeper(tmp_path) as innocent:
        (path / "data" / "postmaster.pid").write_text(f"{innocent.pid}\n{path}/data\n")
        assert len(reap_orphans(place)) == 1
        assert innocent.poll() is None
        assert not path.exists()


def test_the_shell_by_which_a_server_was_being_started_is_ended(place: Place, tmp_path: Path) -> None:
    """It runs none of the server's programs yet; it is known by the environment that we gave it."""
    path = orphan(place, tmp_path / "bin")
    with sleeper(path, environment={FOLDER: str(path)}) as shell:
        assert len(reap_orphans(place)) == 1
        assert shell.wait(5) == -signal.SIGKILL


def test_a_shell_that_somebody_opened_in_the_folder_survives(place: Place, tmp_path: Path) -> None:
    path = orphan(place, tmp_path / "bin")
    with sleeper(path) as shell:
        assert len(reap_orphans(place)) == 1
        assert shell.poll() is None


def test_a_server_whose_folder_is_held_is_no_orphan_whatever_its_record_says(place: Place) -> None:
    with launch(DUCKDB, place, Owner.run()) as server:
        record = json.loads((server.folder.path / RECORD).read_text())  # type: ignore[attr-defined]
        assert record["owner"]["pid"] == os.getpid()
        server.folder.save(owner=Owner("run", 1, "long ago"))  # type: ignore[attr-defined]
        assert reap_orphans(place) == []
        assert server.data_directory is not None
        assert server.data_directory.exists()


def test_a_killed_run_of_a_home_that_is_gone_is_found_from_another_home(
    place: Place, script: Script, tmp_path: Path
) -> None:
    run = script(RUN, home=tmp_path / "gone")
    assert run.stdout is not None
    run.stdout.readline()
    kill(run)
    assert reap_orphans(place) == sentences(1, run.pid)


def test_two_commands_that_reap_at_once_do_not_trip_over_each_other(place: Place, script: Script) -> None:
    run = script(RUN)
    assert run.stdout is not None
    run.stdout.readline()
    kill(run)
    both = [script("print(len(reap_orphans(place)))") for _ in range(2)]
    assert sorted(int(one.communicate(timeout=60)[0]) for one in both) == [0, 1]
    assert list(folders(place)) == []


def test_ctrl_c_while_a_server_starts_leaves_nothing(place: Place, script: Script, data_root: Path) -> None:
    run = script(RUN)
    assert wait_until(lambda: any(data_root.glob("*/*/data/PG_VERSION")), 30)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=30)
    assert list(data_root.glob("*/embedded-*")) == []


def test_the_data_of_a_killed_duckdb_run_is_removed_wherever_it_lies(
    place: Place, script: Script, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    code = f"""
server = launch(Target("duckdb", "file", "duckdb", options={{"path": {str(disk)!r}}}), place, Owner.run())
print(server.data_directory, flush=True)
time.sleep(60)
"""
    run = script(code)
    assert run.stdout is not None
    data = Path(run.stdout.readline().strip())
    assert data.parent == disk
    kill(run)
    assert len(reap_orphans(place)) == 1
    assert list(disk.iterdir()) == []


def test_the_end_of_a_virtual_environment_does_not_keep_a_server_alive(
    place: Place, data_root: Path, tmp_path: Path
) -> None:
    """Its programs are deleted, and the process that they became runs on."""
    programs = data_root / "bin"
    programs.mkdir()
    shutil.copy(shutil.which("sleep") or "", programs / "postgres")
    path = orphan(place, programs)
    with sleeper(path, programs / "postgres") as server:
        shutil.rmtree(programs)
        assert len(reap_orphans(place)) == 1
        assert server.wait(5) == -signal.SIGKILL
