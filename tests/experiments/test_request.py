"""What the command line asks for becomes a request, or one line that says what is known."""

from __future__ import annotations

import pytest

from experiments.model import Factor, Target, UserError
from experiments.request import _levels, build_request

HERE = Target("here", "dsn", "greenplum6")


@pytest.fixture
def ask(load):
    """Build a request for the small experiment, on one target unless told otherwise."""

    def build(targets=(HERE,), **options):
        return build_request(load(), targets, **options)

    return build


def test_defaults(ask):
    request = ask()
    assert request.profile == "quick"
    assert request.parameters == {"rows": 100, "share": 0.5, "order": "scattered"}
    assert (request.only, request.repeats, request.timeout) == ({}, None, 3600.0)
    assert 0 <= request.seed < 2**31


def test_each_run_has_an_order_of_its_own(ask):
    assert len({ask().seed for _ in range(5)}) > 1
    assert ask(seed=0).seed == 0


def test_set_beats_profile_beats_default(ask):
    request = ask(profile="big", sets=["share=0.25"])
    assert request.parameters == {"rows": 1000, "share": 0.25, "order": "scattered"}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("rows=5", 5),
        ("rows = 5", 5),
        ("rows=1_000", 1000),
        ("rows=1e6", 1_000_000),
        ("rows=1.5e3", 1500),
        ("rows=1e12", 1_000_000_000_000),
        ("share=1", 1.0),
        ("share=1e-3", 0.001),
        ("order=sorted", "sorted"),
    ],
)
def test_values_take_the_type_of_the_default(ask, written, value):
    name = written.partition("=")[0].strip()
    found = ask(sets=[written]).parameters[name]
    assert found == value
    assert type(found) is type(value)


def test_a_level_may_have_commas_of_its_own() -> None:
    factor = Factor("column_encoding", {"*": ("none", "a:zlib:5, b:rle_type:2", "a:zlib:5")})
    assert list(_levels(factor, "none,a:zlib:5,b:rle_type:2")) == ["none", "a:zlib:5, b:rle_type:2"]
    assert list(_levels(factor, "a:zlib:5, none")) == ["a:zlib:5", "none"]
    with pytest.raises(UserError, match='unknown level "b:zlib:5" of column_encoding'):
        list(_levels(factor, "a:zlib:5, b:zlib:5"))


@pytest.mark.parametrize(
    ("written", "levels"),
    [
        (["form=heap"], {"form": ("heap",)}),
        (["form=heap,ao_row"], {"form": ("heap", "ao_row")}),
        (["form=heap", "form=ao_row, heap"], {"form": ("heap", "ao_row")}),
        (["level=5"], {"level": (5,)}),
        (["index=none,art(id, c1)"], {"index": ("none", "art(id, c1)")}),
        (["index=art(id,c1),btree(c1)"], {"index": ("art(id, c1)", "btree(c1)")}),
    ],
)
def test_only(ask, written, levels):
    assert ask(only=written).only == levels


PARAMETERS = "known parameters: rows, share, order"
MISTAKES = {
    "unknown profile": (
        {"profile": "qick"},
        '--profile: unknown profile "qick"; known profiles: quick, big (did you mean "quick"?)',
    ),
    "unknown parameter": (
        {"sets": ["rowz=5"]},
        f'--set: unknown parameter "rowz"; {PARAMETERS} (did you mean "rows"?)',
    ),
    "no value": ({"sets": ["rows"]}, '--set: write NAME=VALUE, such as rows=100000, got "rows"'),
    "no name": ({"sets": ["=5"]}, '--set: write NAME=VALUE, such as rows=100000, got "=5"'),
    "rows that are a word": ({"sets": ["rows=abc"]}, "--set: rows must be an integer, got 'abc'"),
    "rows that are a part": ({"sets": ["rows=1.5"]}, "--set: rows must be an integer, got '1.5'"),
    "rows without end": ({"sets": ["rows=inf"]}, "--set: rows must be an integer, got 'inf'"),
    "rows beyond 64 bits": ({"sets": ["rows=1e19"]}, "--set: rows must be an integer, got '1e19'"),
    "rows just beyond 64 bits": (
        {"sets": ["rows=9223372036854775808"]},
        "--set: rows must be at most 9223372036854775807, got 9223372036854775808",
    ),
    "no rows": ({"sets": ["rows=0"]}, "--set: rows must be at least 1, got 0"),
    "negative rows": ({"sets": ["rows=-5"]}, "--set: rows must be at least 1, got -5"),
    "share that is no number": ({"sets": ["share=nan"]}, "--set: share must be a number, got 'nan'"),
    "unknown choice": ({"sets": ["order=random"]}, '--set: order must be one of scattered, sorted, got "random"'),
    "set twice": ({"sets": ["rows=5", "rows=6"]}, "--set: rows is given twice"),
    "unknown factor": (
        {"only": ["from=heap"]},
        '--only: unknown factor "from"; known factors: form, level, index (did you mean "form"?)',
    ),
    "unknown level": (
        {"only": ["form=heap,aorow"]},
        '--only: unknown level "aorow" of form; known levels: heap, ao_row, ao_column (did you mean "ao_row"?)',
    ),
    "level that tries to be SQL": (
        {"only": ["form='; drop table t"]},
        '--only: unknown level "\'; drop table t" of form; known levels: heap, ao_row, ao_column',
    ),
    "factor without level": (
        {"only": ["form"]},
        '--only: write FACTOR=LEVEL[,LEVEL], such as index=none, got "form"',
    ),
    "no repeats": ({"repeats": 0}, "--repeats must be at least 1, got 0"),
    "no time": ({"timeout": 0.0}, "--timeout must be a number of seconds above 0, got 0"),
    "time that is no number": ({"timeout": float("nan")}, "--timeout must be a number of seconds above 0, got nan"),
    "no target": ({"targets": ()}, "no target to run on; name one with --target"),
    "target twice": ({"targets": (HERE, HERE)}, "--target: here is given twice"),
}


@pytest.mark.parametrize(("options", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(ask, options, message):
    with pytest.raises(UserError) as told:
        ask(**options)
    assert str(told.value) == message
    assert told.value.exit_code == 2


def test_control_characters_stay_out(load, spoil):
    spoil("experiment.toml", 'order = { default = "scattered", choices = ["scattered", "sorted"] }', 'order = "any"')
    with pytest.raises(UserError) as told:
        build_request(load(), (HERE,), sets=["order=a\nb"])
    assert str(told.value) == '--set: order must not hold a backslash or control character, got "a\\nb"'
