"""Whether the disks can hold a run: that of the servers, and that of the home, where files for COPY are made."""

from __future__ import annotations

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from experiments.model import Target
from flows.planning import _free
from tasks.launchers.place import Place
from tests.flows.conftest import Cli

Usage = namedtuple("Usage", "total used free")
WORDS = ("plan", "copy_tuning", "--target", "embedded", "--only", "rung=default,fsync off", "--set")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The directories whose free space was asked for; there are 100,000 bytes everywhere."""
    asked: list[Path] = []

    def disk_usage(path: Path) -> Usage:
        asked.append(path)
        return Usage(10**6, 10**6 - 10**5, 10**5)

    monkeypatch.setattr(shutil, "disk_usage", disk_usage)
    return asked


@pytest.fixture
def servers_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers' files lie on another disk, which is large enough."""
    monkeypatch.setattr("flows.planning.free_before_start", lambda request, place: {})


@pytest.mark.usefixtures("asked", "servers_elsewhere")
def test_files_that_fit_are_no_matter(cli: Cli) -> None:
    ended = cli(*WORDS, "rows=1000")
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.usefixtures("asked", "servers_elsewhere")
def test_files_that_do_not_fit_into_the_home_are_refused(cli: Cli, empty_home: Path) -> None:
    # 1,001 rows of 100 bytes, once for all cells.
    ended = cli(*WORDS, "rows=1001")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        f"storage-matrix: {empty_home / 'data'}: the files of rows need about 97.8 kB of disk, 97.7 kB are free; "
        "set fewer rows with --set rows=N, or make room\n"
    )


@pytest.mark.usefixtures("asked", "servers_elsewhere")
def test_a_file_that_is_there_needs_no_room(cli: Cli, empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda path: path.parent == empty_home / "data" or path.is_dir())
    assert cli(*WORDS, "rows=1001").code == 0


def test_the_path_of_a_file_target_may_begin_with_a_tilde(
    asked: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    target = Target("nvme", "file", "duckdb", options={"path": "~/bench"})
    assert _free(target, Place.of(tmp_path / "home", {})) == 10**5
    assert asked == [tmp_path]
