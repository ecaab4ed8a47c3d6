"""Levels that are settings of the server: what they come to on each dialect, and every mistake in them."""

from __future__ import annotations

import pytest

from experiments.model import UserError
from experiments.settings import settings_of

# Factor, settings and ladder in the place of the small experiment's factor "level".
LEVEL = "level = { greenplum = [0, 5], postgresql = [] }"
GREENPLUM = ("greenplum6", "greenplum", "postgresql")
POSTGRESQL = ("postgresql",)


@pytest.fixture
def declare(load, spoil):
    """The small experiment with a factor ``rung`` of these levels, and what they set."""

    def experiment(rung, settings):
        spoil("experiment.toml", LEVEL, f"{LEVEL}\nrung = {rung}")
        spoil("experiment.toml", "[in_place]", f"{settings}\n[in_place]")
        return load()

    return experiment


def test_a_level_is_the_value_of_the_setting_that_is_named(declare):
    experiment = declare('["64MB", true, 5]', '[settings]\nrung = "shared_buffers"')
    found = [settings_of(experiment, {"rung": level}, POSTGRESQL) for level in ("64MB", True, 5)]
    assert found == [{"shared_buffers": "64MB"}, {"shared_buffers": "on"}, {"shared_buffers": "5"}]


def test_a_level_stands_for_several_settings(declare):
    experiment = declare(
        '["plain", "fast"]', "[settings.rung]\nplain = {}\nfast = { fsync = false, work_mem = '1MB', io_workers = 3 }"
    )
    assert settings_of(experiment, {"rung": "plain"}, POSTGRESQL) == {}
    fast = settings_of(experiment, {"rung": "fast", "form": "heap"}, POSTGRESQL)
    assert fast == {"fsync": "off", "work_mem": "1MB", "io_workers": "3"}


def test_in_a_ladder_each_level_adds_to_those_before_it(declare):
    experiment = declare('["a", "b", "c"]', "[ladder.rung]\na = { x = 1 }\nc = { y = 3, x = 3 }\nb = { y = 2 }")
    found = [settings_of(experiment, {"rung": level}, POSTGRESQL) for level in "abc"]
    assert found == [{"x": "1"}, {"x": "1", "y": "2"}, {"x": "3", "y": "3"}]


def test_each_dialect_has_the_settings_of_its_nearest_ancestor(declare):
    experiment = declare(
        '{ postgresql = ["a"], greenplum = ["a"], duckdb = [] }',
        "[settings.rung.postgresql]\na = { x = 1 }\n[settings.rung.greenplum]\na = { x = 2 }",
    )
    assert settings_of(experiment, {"rung": "a"}, GREENPLUM) == {"x": "2"}
    assert settings_of(experiment, {"rung": "a"}, POSTGRESQL) == {"x": "1"}


def test_one_table_of_levels_does_for_every_dialect(declare):
    experiment = declare(
        '{ postgresql = ["a", "b"], greenplum = ["b"] }', "[settings.rung]\na = { x = 1 }\nb = { x = 2 }"
    )
    assert settings_of(experiment, {"rung": "b"}, GREENPLUM) == {"x": "2"}


def test_without_levels_that_set_anything_there_are_no_settings(load):
    assert settings_of(load(), {"form": "heap"}, POSTGRESQL) == {}


MISTAKES = {
    "no such factor": (
        '["a"]',
        '[settings]\nrungs = "x"',
        'settings.rungs: unknown factor "rungs"; known factors: form, level, rung, index (did you mean "rung"?)',
    ),
    "an in-place factor": (
        '["a"]',
        '[settings]\nindex = "x"',
        "settings.index: is an in-place factor; a server is set before a table is loaded",
    ),
    "settings and ladder": (
        '["a"]',
        '[settings]\nrung = "x"\n[ladder.rung]\na = { x = 1 }',
        "ladder.rung: is in [settings] already",
    ),
    "a ladder of one setting": (
        '["a"]',
        '[ladder]\nrung = "x"',
        'ladder.rung: must be a table, got "x"',
    ),
    "a name that is none": (
        '["a"]',
        '[settings]\nrung = "x; drop table"',
        'settings.rung: "x; drop table" is not the name of a setting',
    ),
    "a setting of the launcher": (
        '["a"]',
        "[settings.rung]\na = { port = 5433 }",
        'settings.rung.a.port: "port" is for the launcher to set',
    ),
    "a level without settings": (
        '["a", "b"]',
        "[settings.rung]\na = { x = 1 }",
        "settings.rung.b: is missing; it must be a table of settings, {} for none",
    ),
    "a level that is not declared": (
        '["a", "b"]',
        "[settings.rung]\na = {}\nb = {}\nc = {}",
        'settings.rung.c: unknown level "c"; known levels: a, b',
    ),
    "a dialect without levels": (
        '{ greenplum = ["a"], postgresql = [] }',
        "[settings.rung.greenplum]\na = {}\n[settings.rung.postgresql]\na = {}",
        "settings.rung.postgresql: the factor has no levels there; it has levels for greenplum",
    ),
    "a level that another dialect has": (
        '{ greenplum = ["a"], postgresql = ["b"] }',
        "[settings.rung.greenplum]\na = {}\nb = {}\n[settings.rung.postgresql]\nb = {}",
        'settings.rung.greenplum.b: unknown level "b"; known levels: a',
    ),
    "a value that is none": (
        '["a"]',
        "[settings.rung]\na = { x = [1] }",
        "settings.rung.a.x: must be a text, a number, true or false, got [1]",
    ),
    "a value with a line break": (
        '["a"]',
        '[settings.rung]\na = { x = "1\\nfsync = off" }',
        'settings.rung.a.x: must be a text, a number, true or false, got "1\\nfsync = off"',
    ),
    "two factors for one setting": (
        '["64MB"]',
        '[settings]\nrung = "Work_mem"\n[settings.form]\nheap = { work_mem = 1 }\nao_row = {}\nao_column = {}',
        'settings.form: sets "work_mem", which factor "rung" sets too',
    ),
}


@pytest.mark.parametrize(("rung", "settings", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes(declare, rung, settings, message):
    with pytest.raises(UserError) as caught:
        declare(rung, settings)
    assert str(caught.value) == f"experiments/small/experiment.toml: {message}"
