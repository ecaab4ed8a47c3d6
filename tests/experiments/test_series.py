"""Series of rounds, steps in some cells only, profiles that narrow the matrix, and options that name a factor."""

from __future__ import annotations

import pytest

from experiments.matrix import expand, step_is_for
from experiments.model import Round, Target, UserError
from experiments.request import build_request

FILE = "experiments/small/experiment.toml"
SERIES = """
[[steps]]
series = "life"
watch = "count"
rounds = [{}, { do = "change", times = "level" }, { do = ["settle", "change"], times = 2, watch = [] }]
[[steps]]
update = "change"
at = "series"
[[steps]]
vacuum = "settle"
at = "series"
"""
CHANGE = "update {{table}} set id = id where id > {{turn}} and {{round}} = {{round}}"


@pytest.fixture
def with_series(folder, spoil):
    """The small experiment with a series of its query, two more steps and their SQL."""
    spoil("experiment.toml", 'query = "count"\nat = "base"\n', f'query = "count"\nat = "series"\n{SERIES}')
    (folder / "sql" / "change.sql").write_text(CHANGE)
    return spoil


def step(experiment, name):
    return next(step for step in experiment.steps if step.name == name)


def message(load):
    with pytest.raises(UserError) as caught:
        load()
    return str(caught.value).removeprefix(f"{FILE}: ")


def test_rounds_say_what_is_done_how_often_and_what_is_looked_at(load, with_series):
    assert step(load(), "life").options["rounds"] == (
        Round((), 1, ("count",)),
        Round(("change",), "level", ("count",)),
        Round(("settle", "change"), 2, ()),
    )


def test_steps_of_a_series_run_nowhere_else(load, with_series):
    assert {step.name for step in load().steps if step.at == "series"} == {"count", "change", "settle"}


MISTAKES = {
    "unknown step": (
        'do = ["settle", "change"]',
        'do = ["settle", "chance"]',
        'steps[3].rounds[2].do: unknown step "chance"; known steps: '
        'create, fill, count, change, settle, build, size (did you mean "change"?)',
    ),
    "step that does not wait for a series": (
        'do = ["settle", "change"]',
        'do = ["fill", "change"]',
        'steps[3].rounds[2].do: step "fill" needs at = "series" to run in one',
    ),
    "step that no series names": (
        'do = ["settle", "change"], times = 2',
        'do = "change", times = 2',
        'steps[5].at: no series names the step "settle"',
    ),
    "unknown key of a round": (
        "times = 2",
        "tims = 2",
        'steps[3].rounds[2].tims: unknown key; known keys: do, times, watch (did you mean "times"?)',
    ),
    "negative times": ("times = 2", "times = -1", "steps[3].rounds[2].times: must be at least 0, got -1"),
    "times by an unknown name": (
        'times = "level"',
        'times = "levle"',
        'steps[3].rounds[1].times: unknown factor or parameter "levle"; known factor or parameters: '
        'form, level, index, rows, share, order (did you mean "level"?)',
    ),
    "times by a factor whose levels are no numbers": (
        'times = "level"',
        'times = "form"',
        'steps[3].rounds[1].times = form = heap: must be an integer, got "heap"',
    ),
    "no rounds": (
        "rounds = [{}, {",
        "rounds = []\nrouns = [{}, {",
        'steps[3].rouns: unknown key; known keys: at, dialects, rounds, series, watch, when (did you mean "rounds"?)',
    ),
    "a series in a series": (
        'series = "life"',
        'series = "life"\nat = "series"',
        "steps[3].at: a series within a series",
    ),
    "a factor of when": (
        'vacuum = "settle"',
        'vacuum = "settle"\nwhen = { shape = "heap" }',
        'steps[5].when.shape: unknown factor "shape"; known factors: form, level, index',
    ),
    "a level of when": (
        'vacuum = "settle"',
        'vacuum = "settle"\nwhen = { form = ["heap", "haep"] }',
        'steps[5].when.form: unknown level "haep"; known levels: heap, ao_row, ao_column (did you mean "heap"?)',
    ),
    "a mode that is neither a mode nor a factor": (
        'vacuum = "settle"',
        'vacuum = "settle"\nmode = "FULL"',
        'steps[5].mode: unknown factor or parameter "FULL"; known factor or parameters: '
        "form, level, index, rows, share, order",
    ),
    "a mode by a factor that has others": (
        'vacuum = "settle"',
        'vacuum = "settle"\nmode = "form"',
        'steps[5].mode = form = heap: must be one of none, settle, VACUUM, VACUUM FULL, autovacuum, got "heap"',
    ),
}


@pytest.mark.parametrize(("old", "new", "told"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(load, with_series, old, new, told):
    with_series("experiment.toml", old, new)
    assert message(load) == told


def test_only_a_series_has_rounds_and_turns(load, folder, with_series):
    (folder / "sql" / "count.sql").write_text("select {{turn}} from {{table}}")
    assert load()
    (folder / "sql" / "load.sql").write_text("insert into {{table}} select {{turn}} from {{source}}")
    assert "unknown placeholder {{turn}}" in message(load)


@pytest.mark.parametrize(
    ("levels", "runs"),
    [({"form": "heap"}, True), ({"form": "ao_row", "level": 5}, True), ({"form": "ao_column"}, False), ({}, False)],
)
def test_a_step_for_some_cells(load, with_series, levels, runs):
    with_series("experiment.toml", 'vacuum = "settle"', 'vacuum = "settle"\nwhen = { form = ["heap", "ao_row"] }')
    settle = step(load(), "settle")
    assert step_is_for(settle, ("greenplum6",), levels) is runs
    assert step_is_for(settle, ("greenplum6",))


class Anything:
    """A dialect that takes every level."""

    name = "greenplum6"
    lineage = ("greenplum6", "greenplum", "postgresql")
    facts_hash = "facts"

    def effective(self, levels, *more):
        return levels, None

    def found(self, factor):
        return ()

    def residue(self, levels):
        return False


def forms(load, **asked):
    request = build_request(load(), (Target("here", "dsn", "greenplum6"),), seed=1, **asked)
    return {cell.levels.get("form") for cell in expand(request, {"here": Anything()}).cells if cell.role == "result"}


def test_a_profile_narrows_the_matrix(load, spoil):
    spoil("experiment.toml", "quick = {}", 'quick = { only = { form = ["heap", "ao_row"] } }')
    assert forms(load) == {"heap", "ao_row"}
    assert forms(load, profile="big") == {"heap", "ao_row", "ao_column"}


def test_who_asks_for_a_level_gets_it_whatever_the_profile(load, spoil):
    spoil("experiment.toml", "quick = {}", 'quick = { only = { form = "heap" } }')
    assert forms(load, only=["form=ao_column"]) == {"ao_column"}


def test_a_profile_names_levels_that_exist(load, spoil):
    spoil("experiment.toml", "quick = {}", 'quick = { only = { form = "haep" } }')
    assert message(load) == (
        'profiles.quick.only.form: unknown level "haep"; known levels: heap, ao_row, ao_column (did you mean "heap"?)'
    )


def test_a_published_figure_may_belong_to_a_round_or_a_command(load, with_series, spoil):
    with_series("experiment.toml", "[baseline]\n", "[baseline]\nround = 0\n")
    spoil(
        "published.toml",
        '{ step = "fill", metric = "load_time" }',
        '{ step = "fill:2", metric = "load_time", round = 3 }',
    )
    experiment = load()
    assert experiment.baseline == {"form": "heap", "round": 0}
    assert [(one.step, one.round) for one in experiment.published] == [
        ("fill:2", 3), ("size", None), ("fill:2", 3),
    ]  # fmt: skip
