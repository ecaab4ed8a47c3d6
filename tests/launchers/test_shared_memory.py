"""Shared memory of a dead server is removed; whatever only resembles it stays."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.launchers.process import myself
from tasks.launchers.shared_memory import SEGMENTS, remove_segment

pytestmark = pytest.mark.skipif(not SEGMENTS.exists(), reason="this system does not list its shared memory")


@pytest.fixture
def segment() -> Iterator[tuple[int, int]]:
    """A segment that a process made and left: the process, which is gone by now, and the number."""
    maker = subprocess.Popen(["ipcmk", "-M", "4096"], stdout=subprocess.PIPE, text=True)
    number = int(maker.communicate()[0].split()[-1])
    yield maker.pid, number
    subprocess.run(["ipcrm", "-m", str(number)], stderr=subprocess.DEVNULL, check=False)


def exists(number: int) -> bool:
    return any(line.split()[1] == str(number) for line in SEGMENTS.read_text().splitlines())


def lock_file(folder: Path, pid: int, number: int) -> Path:
    """As a postmaster writes it."""
    lock = folder / "postmaster.pid"
    lock.write_text(f"{pid}\n{folder}\n1796055605\n23456\n{folder}/socket\n127.0.0.1\n 23456001    {number}\n")
    return lock


def test_the_segment_of_a_dead_server_is_removed(tmp_path: Path, segment: tuple[int, int]) -> None:
    pid, number = segment
    remove_segment(lock_file(tmp_path, pid, number), myself())
    assert not exists(number)


def test_a_number_that_came_back_with_another_maker_is_left_alone(tmp_path: Path, segment: tuple[int, int]) -> None:
    pid, number = segment
    remove_segment(lock_file(tmp_path, pid + 1, number), myself())
    assert exists(number)


@pytest.mark.parametrize("text", ["", "17\n", "not a number\n"])
def test_a_lock_file_without_a_segment_is_nothing_to_do(tmp_path: Path, text: str) -> None:
    (tmp_path / "postmaster.pid").write_text(text)
    remove_segment(tmp_path / "postmaster.pid", myself())
    remove_segment(tmp_path / "absent.pid", myself())
