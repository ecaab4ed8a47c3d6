"""The measuring settings: one table, each with its reason, cut to what a server knows and a machine has."""

from __future__ import annotations

import pytest

from experiments.model import UserError
from tasks.launchers.launched import merged
from tasks.launchers.settings import GREENPLUM, OPENGAUSS, POSTGRESQL, Setting, machine_memory, measuring, sized

GIB = 1024**3


@pytest.mark.parametrize("table", [POSTGRESQL, GREENPLUM, OPENGAUSS])
def test_every_setting_stands_once_and_has_a_reason(table: tuple[Setting, ...]) -> None:
    names = [setting.name for setting in table]
    assert len(names) == len(set(names))
    assert all(setting.reason for setting in table)
    assert {setting.name: setting.value for setting in table}["fsync"] == "on"


def test_a_server_gets_only_the_settings_that_it_knows() -> None:
    assert measuring(POSTGRESQL, {"fsync", "port", "work_mem"}) == {"fsync": "on", "port": "5432"}


@pytest.mark.parametrize(
    ("memory", "free", "buffers", "wal"),
    [
        (64 * GIB, 500 * GIB, "512MB", "8192MB"),
        (2 * GIB, 8 * GIB, "256MB", "2048MB"),
        (GIB // 16, GIB, "16MB", "1024MB"),
    ],
)
def test_sizes_follow_the_machine_between_bounds(memory: int, free: int, buffers: str, wal: str) -> None:
    assert sized(memory, free) == {"shared_buffers": buffers, "max_wal_size": wal}


def test_the_memory_of_this_machine_is_known() -> None:
    assert machine_memory() > 64 * 1024 * 1024


def test_a_later_setting_wins_whatever_its_case_and_booleans_are_on_and_off() -> None:
    assert merged({"TimeZone": "UTC", "jit": "off"}, {"timezone": "CET", "work_mem": 64, "jit": True}) == {
        "TimeZone": "CET",
        "jit": "on",
        "work_mem": "64",
    }


def test_a_name_that_would_become_another_line_is_refused() -> None:
    with pytest.raises(UserError) as error:
        merged({"work_mem = 1\nfsync": "off"})
    assert str(error.value) == "server setting 'work_mem = 1\\nfsync': not a name of a setting"
