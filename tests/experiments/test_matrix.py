"""Factors become blocks of cells whose ids depend on names and values only."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from experiments.matrix import at_base, expand, step_is_for
from experiments.model import Factor, Step, Target, UserError
from experiments.request import build_request

HERE = Target("here", "dsn", "greenplum6")
THERE = Target("there", "file", "duckdb")


@dataclass(frozen=True)
class Family:
    """A dialect like Greenplum: a heap has no compression level, and an AO table keeps what an index once needed."""

    name: str = "greenplum6"
    lineage: tuple[str, ...] = ("greenplum6", "greenplum", "postgresql")
    facts_hash: str = "facts"

    def effective(self, levels, key):
        if levels["form"] == "heap":
            return {name: level for name, level in levels.items() if name != "level"}, None
        if levels["form"] == "ao_column" and levels["level"] == 0:
            return levels, "columns want compression"
        return levels, None

    def residue(self, levels):
        return levels["form"] != "heap"


@dataclass(frozen=True)
class Files:
    """A dialect like DuckDB, where every level applies."""

    name: str = "duckdb"
    lineage: tuple[str, ...] = ("duckdb",)
    facts_hash: str = "facts"

    def effective(self, levels, key):
        return levels, None

    def residue(self, levels):
        return False


JUDGES = {"here": Family(), "there": Files()}


@pytest.fixture
def plan(load):
    """The matrix of the small experiment on these targets; ``changes`` are fields of the experiment."""

    def expanded(*targets, judges=JUDGES, only=(), sets=(), profile=None, repeats=None, **changes):
        experiment = replace(load(), **changes)
        request = build_request(experiment, targets or (HERE,), profile, sets, only, repeats, seed=1)
        return expand(request, judges)

    return expanded


def levels_by_block(matrix):
    return [[tuple(cell.levels.values()) for cell in block.cells] for block in matrix.blocks]


def factor(name, *levels, in_place=False):
    return Factor(name, {"*": levels}, in_place)


def test_blocks_in_declared_order_base_first(plan):
    assert levels_by_block(plan(HERE)) == [
        [("heap", "none"), ("heap", "btree(c1)")],
        [("ao_row", 0, "none"), ("ao_row", 0, "btree(c1)")],
        [("ao_row", 5, "none"), ("ao_row", 5, "btree(c1)")],
        [("ao_column", 5, "none"), ("ao_column", 5, "btree(c1)")],
        [()],
    ]


def test_a_block_carries_its_reload_levels(plan):
    blocks = plan(HERE).blocks
    assert blocks[2].levels == {"form": "ao_row", "level": 5}
    assert (blocks[2].target, blocks[2].replicate) == ("here", 1)
    assert {cell.block_id for cell in blocks[2].cells} == {blocks[2].block_id}


def test_refused_cells_keep_their_reason(plan):
    unsupported = plan(HERE).unsupported
    assert [tuple(cell.levels.values()) for cell in unsupported] == [
        ("ao_column", 0, "none"),
        ("ao_column", 0, "btree(c1)"),
    ]
    assert {(cell.status, cell.reason) for cell in unsupported} == {("unsupported", "columns want compression")}


def test_each_dialect_has_the_levels_of_its_nearest_ancestor(plan):
    assert levels_by_block(plan(THERE)) == [
        [("heap", "none"), ("heap", "art(id, c1)")],
        [("ao_row", "none"), ("ao_row", "art(id, c1)")],
        [("ao_column", "none"), ("ao_column", "art(id, c1)")],
        [()],
    ]


def test_a_factor_does_not_apply_without_levels(plan):
    postgresql = replace(Files(), name="postgresql", lineage=("postgresql",))
    assert levels_by_block(plan(THERE, judges={"there": postgresql})) == [
        [("heap",)],
        [("ao_row",)],
        [("ao_column",)],
        [()],
    ]


def test_one_noop_cell_on_the_first_target(plan):
    noop = [cell for cell in plan(THERE, HERE).cells if cell.role == "noop"]
    assert [(cell.target, cell.levels, cell.status) for cell in noop] == [("there", {}, "planned")]


def test_ids_are_hashes_of_names_and_levels(plan):
    """Made with sha256sum of ["small", "here", {"form": "heap", "index": "none"}] and so on."""
    blocks = plan(HERE).blocks
    assert blocks[0].cells[0].cell_id == "a335a6db8b63"
    assert blocks[0].block_id == "336990f257a7"
    assert blocks[2].cells[1].cell_id == "7572cec0eff7"
    assert blocks[-1].cells[0].cell_id == "373c206728d7"


def test_ids_survive_edits_of_other_levels_and_factors(plan):
    before = {cell.cell_id for cell in plan(HERE).cells}
    index = factor("index", "brin(c1)", "none", "btree(c1)", in_place=True)
    after = {
        cell.cell_id
        for cell in plan(
            HERE, factors=(factor("level", 9, 5, 0), factor("form", "ao_column", "ao_row", "heap"), index)
        ).cells
    }
    assert before < after


def test_ids_differ_between_targets(plan):
    other = replace(HERE, name="elsewhere")
    cells = plan(HERE, other, judges={"here": Family(), "elsewhere": Family()}).cells
    assert len({cell.cell_id for cell in cells}) == len(cells)


def test_numbers_and_texts_are_different_levels(plan):
    cells = plan(THERE, factors=(factor("form", 1, "one"),)).cells
    assert len({cell.cell_id for cell in cells}) == 3


BTREES = factor("index", "none", "btree(c1)", "btree(id)", "bitmap(id)", in_place=True)


def test_after_a_residue_each_further_level_loads_again(plan):
    matrix = plan(HERE, factors=(factor("form", "heap", "ao_row"), factor("level", 5), BTREES))
    assert levels_by_block(matrix) == [
        [("heap", "none"), ("heap", "btree(c1)"), ("heap", "btree(id)"), ("heap", "bitmap(id)")],
        [("ao_row", 5, "none"), ("ao_row", 5, "btree(c1)")],
        [("ao_row", 5, "btree(id)")],
        [("ao_row", 5, "bitmap(id)")],
        [()],
    ]
    assert len({block.block_id for block in matrix.blocks}) == 5
    assert [block.levels for block in matrix.blocks[1:4]] == [{"form": "ao_row", "level": 5}] * 3


def test_only_reload_levels(plan):
    assert levels_by_block(plan(HERE, only=["form=heap,ao_row", "index=none"])) == [
        [("heap", "none")],
        [("ao_row", 0, "none")],
        [("ao_row", 5, "none")],
        [()],
    ]


def test_only_an_in_place_level(plan):
    assert levels_by_block(plan(HERE, only=["form=heap", "index=btree(c1)"])) == [[("heap", "btree(c1)")], [()]]


def test_only_drops_cells_to_which_the_factor_does_not_apply(plan):
    matrix = plan(HERE, THERE, only=["level=5"])
    assert [block.levels.get("form") for block in matrix.blocks] == ["ao_row", "ao_column", None]
    assert {cell.target for cell in matrix.cells} == {"here"}


def test_only_may_leave_nothing_but_refused_cells(plan):
    matrix = plan(HERE, only=["form=ao_column", "level=0"])
    assert matrix.blocks == ()
    assert len(matrix.unsupported) == 2


@pytest.mark.parametrize(
    ("only", "message"),
    [
        (["level=5"], "--only level=5 leaves no cell on there: no cell there has these levels together"),
        (
            ["form=heap,ao_row", "index=btree(c1)"],
            "--only form=heap,ao_row, index=btree(c1) leaves no cell on there: no cell there has these levels together",
        ),
    ],
)
def test_only_that_leaves_nothing(plan, only, message):
    with pytest.raises(UserError) as told:
        plan(THERE, only=only)
    assert str(told.value) == message


def test_a_target_without_a_sql_file_supports_nothing(plan):
    sql = {"load.greenplum.sql": "", "create.sql": "", "count.sql": "", "rows.sql": "", "wanted.sql": ""}
    matrix = plan(HERE, THERE, sql=sql)
    assert {cell.target for block in matrix.blocks for cell in block.cells} == {"here"}
    there = [cell for cell in matrix.unsupported if cell.target == "there"]
    assert len(there) == 6
    assert {cell.reason for cell in there} == {"the experiment has no sql/load.sql for duckdb"}


def content(matrix):
    return {tuple(cell.levels.values()): cell.content_hash for cell in matrix.cells}


def test_content_is_one_at_the_base_and_one_beyond(plan):
    hashes = content(plan(HERE))
    assert len(set(hashes.values())) == 3
    assert hashes["heap", "none"] == hashes["ao_row", 5, "none"]
    assert hashes["heap", "none"] != hashes["heap", "btree(c1)"]


@pytest.mark.parametrize(
    ("changes", "base", "beyond"),
    [
        ({"sets": ["rows=101"]}, True, True),
        ({"profile": "big"}, True, True),
        ({"judges": {"here": replace(Family(), facts_hash="other")}}, True, True),
        ({"question": "Another?"}, False, False),
        ({"row_bytes": 41}, False, False),
        ({"repeats": 9}, False, False),
        ({"only": ["form=heap"]}, False, False),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_content_follows_what_is_measured(plan, changes, base, beyond):
    before, after = content(plan(HERE)), content(plan(HERE, **changes))
    assert (before["heap", "none"] != after["heap", "none"]) is base
    assert (before["heap", "btree(c1)"] != after["heap", "btree(c1)"]) is beyond


@pytest.mark.parametrize(
    ("file", "base", "beyond"),
    [
        ("rows.sql", True, True),
        ("wanted.sql", True, True),
        ("create.greenplum.sql", True, True),
        ("create.sql", False, False),
        ("load.sql", True, True),
        ("count.sql", True, False),
        ("expect/smaller.sql", False, False),
    ],
)
def test_content_has_the_sql_that_shapes_the_cell(plan, load, file, base, beyond):
    before, after = content(plan(HERE)), content(plan(HERE, sql={**load().sql, file: "select 2"}))
    assert (before["heap", "none"] != after["heap", "none"]) is base
    assert (before["heap", "btree(c1)"] != after["heap", "btree(c1)"]) is beyond


@pytest.mark.parametrize(
    ("option", "value", "differs"),
    [("repeats", 9, False), ("warmups", 2, True), ("cache", "cold", True), ("dialects", ("postgresql",), False)],
)
def test_content_has_the_options_that_change_what_is_measured(plan, load, option, value, differs):
    steps = tuple(
        replace(step, options={**step.options, option: value}) if step.name == "count" else step
        for step in load().steps
    )
    before, after = content(plan(HERE)), content(plan(HERE, steps=steps))
    assert (before["heap", "none"] != after["heap", "none"]) is differs


@pytest.mark.parametrize(
    ("levels", "is_base"),
    [
        ({"form": "heap", "index": "none"}, True),
        ({"form": "heap"}, True),
        ({"form": "heap", "index": "btree(c1)"}, False),
    ],
)
def test_at_base(load, levels, is_base):
    assert at_base(load(), levels, ("greenplum6", "greenplum", "postgresql")) is is_base


@pytest.mark.parametrize(
    ("dialects", "runs"), [((), True), (("postgresql",), True), (("duckdb", "greenplum"), True), (("duckdb",), False)]
)
def test_steps_of_some_dialects(dialects, runs):
    step = Step("size", "size", "every", {"dialects": dialects})
    assert step_is_for(step, ("greenplum6", "greenplum", "postgresql")) is runs
