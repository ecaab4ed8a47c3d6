"""What a plan leaves out, what it adds, and who cannot run it: [[exclude]], "...", [unsupported], times."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from experiments.matrix import expand
from experiments.model import Target, UserError
from experiments.request import build_request

HERE = Target("here", "dsn", "postgresql")
EXCLUDE = '[[exclude]]\nform = ["heap", "ao_row"]\nlevel = 5\n'


@dataclass(frozen=True)
class Anything:
    """A dialect on which every level applies, and whose probe finds further forms."""

    name: str = "greenplum6"
    lineage: tuple[str, ...] = ("greenplum6", "greenplum", "postgresql")
    facts_hash: str = "facts"

    def effective(self, levels, key):
        return levels, None

    def residue(self, levels):
        return False

    def found(self, factor):
        return ("heap", "paged") if factor == "form" else ()

    def refuses(self, kind):
        return None


@pytest.fixture
def plan(load, spoil):
    """The matrix of the small experiment after ``changes``: what stands in it, and what to put there."""

    def expanded(*changes):
        for old, new in changes:
            spoil("experiment.toml", old, new)
        return expand(build_request(load(), (HERE,), seed=1), {"here": Anything()})

    return expanded


def forms(matrix):
    return [(block.levels["form"], block.levels["level"]) for block in matrix.blocks if block.levels]


def test_excluded_combinations_have_no_cell(plan):
    matrix = plan(("[in_place]", f"{EXCLUDE}[in_place]"))
    assert forms(matrix) == [("heap", 0), ("ao_row", 0), ("ao_column", 0), ("ao_column", 5)]
    assert matrix.unsupported == ()


def test_exclusions_change_no_id(plan):
    whole = {cell.cell_id for cell in plan().cells}
    assert {cell.cell_id for cell in plan(("[in_place]", f"{EXCLUDE}[in_place]")).cells} < whole


def test_dots_stand_for_what_else_the_probe_finds(plan):
    matrix = plan(('form = ["heap", "ao_row", "ao_column"]', 'form = ["ao_row", "...", "heap"]'))
    assert [form for form, level in forms(matrix) if level == 0] == ["ao_row", "heap", "paged"]


def test_a_dialect_that_cannot_run_it_says_why(plan):
    matrix = plan(("[in_place]", '[unsupported]\ngreenplum = "it has no such thing"\n[in_place]'))
    assert matrix.blocks == ()
    assert {cell.reason for cell in matrix.unsupported} == {"it has no such thing"}


MISTAKES = {
    "nothing excluded": ("[[exclude]]\n", "exclude[0]: names no factor"),
    "unknown factor": (
        "[[exclude]]\nfrom = 1\n",
        'exclude[0].from: unknown factor "from"; known factors: form, level, index (did you mean "form"?)',
    ),
    "unknown level": ("[[exclude]]\nlevel = [5, 6]\n", 'exclude[0].level: unknown level "6"; known levels: 0, 5'),
    "unknown dialect": (
        '[unsupported]\noracle = "no"\n',
        'unsupported.oracle: unknown dialect "oracle"; known dialects: duckdb, greenplum, greenplum6, postgresql',
    ),
    "no reason": ('[unsupported]\nduckdb = ""\n', "unsupported.duckdb: is empty"),
}


@pytest.mark.parametrize(("added", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes(load, spoil, added, message):
    spoil("experiment.toml", "[in_place]", f"{added}[in_place]")
    with pytest.raises(UserError) as caught:
        load()
    assert str(caught.value) == f"experiments/small/experiment.toml: {message}"


def test_dots_have_no_place_among_in_place_levels(load, spoil):
    spoil("experiment.toml", 'duckdb = ["none", "art(id, c1)"]', 'duckdb = ["none", "..."]')
    with pytest.raises(UserError, match="for reload factors: in place, the first is the base"):
        load()


def test_a_factor_multiplies_the_rows(load, spoil):
    spoil("experiment.toml", "level = { greenplum = [0, 5]", "level = { greenplum = [1, 5]")
    spoil("experiment.toml", "row_bytes = 40", 'row_bytes = 40\ntimes = "level"')
    assert load().times == "level"


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ('"index"', 'unknown reload factor "index"; known reload factors: form, level'),
        ('"form"', 'factor "form" has level "heap"; each must be an integer from 1'),
        ('"level"', 'factor "level" has level 0; each must be an integer from 1'),
    ],
)
def test_what_cannot_multiply(load, spoil, times, message):
    spoil("experiment.toml", "row_bytes = 40", f"row_bytes = 40\ntimes = {times}")
    with pytest.raises(UserError) as caught:
        load()
    assert str(caught.value) == f"experiments/small/experiment.toml: table.times: {message}"
