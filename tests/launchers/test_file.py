"""DuckDB files: a directory of the run's own, on the disk that is to be measured."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from experiments.model import Target, UserError
from tasks.launchers.place import Place
from tasks.launchers.registry import launch
from tasks.launchers.server import Owner, SettingsRefused
from tests.launchers.conftest import DUCKDB


def test_files_lie_in_a_fresh_directory_and_go_with_the_run(place: Place) -> None:
    with launch(DUCKDB, place, Owner.run()) as server:
        assert server.url.get_backend_name() == "duckdb"
        assert server.data_directory is not None
        assert server.url.database == str(server.data_directory / "matrix.duckdb")
        assert list(server.data_directory.iterdir()) == []
        duckdb.connect(server.url.database).close()
        assert server.version() == f"DuckDB {duckdb.__version__}"
        assert server.processes() == [os.getpid()]
        assert (server.is_ours, server.is_exclusive, server.alive()) == (True, True, True)
        assert (server.free_bytes() or 0) > 1_000_000
        server.restart()
        server.revive()
    assert not server.data_directory.exists()


def test_two_runs_do_not_share_files(place: Place) -> None:
    with launch(DUCKDB, place, Owner.run()) as one, launch(DUCKDB, place, Owner.run()) as other:
        assert one.data_directory != other.data_directory


def test_the_disk_can_be_chosen(place: Place, tmp_path: Path) -> None:
    with launch(Target("duckdb", "file", "duckdb", options={"path": str(tmp_path)}), place, Owner.run()) as server:
        assert server.data_directory is not None
        assert server.data_directory.parent == tmp_path
    assert list(tmp_path.glob("storage-matrix-*")) == []


def test_a_disk_that_is_not_there_is_named(place: Place, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    with pytest.raises(UserError) as error:
        launch(Target("duckdb", "file", "duckdb", options={"path": str(missing)}), place, Owner.run())
    assert error.value.exit_code == 4
    assert str(error.value) == f'target "duckdb": path {missing}: No such file or directory'


def test_server_settings_are_refused(place: Place) -> None:
    with launch(DUCKDB, place, Owner.run()) as server, pytest.raises(SettingsRefused) as error:
        server.restart({"shared_buffers": "1GB"})
    assert str(error.value) == 'target "duckdb": DuckDB files have no server settings (shared_buffers)'
