"""Sizes by node with what is missing and why, values as they are stored, rows known by their fingerprint."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from experiments.model import Column, Level
from tasks.context import CellContext, CellFailed
from tasks.dialects.contract import SizeQuery
from tasks.dialects.registry import dialect_named
from tasks.errors import StatementFailed
from tests.tasks.test_steps import context, kept, run, sent, step

SIZE = step("size", "size", column="c1")
LOAD = step("load", "load")
COLUMNS = (Column("id", "integer"), Column("c1", "text"))


def sized(sizes: list[SizeQuery], **answers: Any) -> CellContext:
    """A cell on a server with these sizes and a table with the columns."""
    into = context(SIZE, answers={"select avg": [(91.0, 4096.0)], **answers})
    dialect = type(into.dialect)
    into.target.dialect = type("Sized", (dialect,), {"sizes": lambda self, table: sizes})(into.dialect.capabilities)
    into.experiment = replace(into.experiment, columns=COLUMNS)
    return into


TOTAL = SizeQuery("total_bytes", "total", "pg_total_relation_size")
SEGMENTS = SizeQuery("table_bytes", "segments", "by segment")
RATIO = SizeQuery("compression_ratio", "ratio", "get_ao_compression_ratio", absent="the server says -1")


def test_sizes_by_node_and_how_uneven_they_are() -> None:
    into = sized([TOTAL, SEGMENTS], total=[(None, 330)], segments=[("seg0", 100), ("seg1", 120), ("seg2", 80)])
    run(SIZE, into)
    nodes = {one.node: one.value for one in into.measurements if one.metric in ("total_bytes", "table_bytes")}
    assert nodes == {None: 330.0, "seg0": 100.0, "seg1": 120.0, "seg2": 80.0}
    assert kept(into, "skew") == [pytest.approx(0.2)]


@pytest.mark.parametrize(("segments", "skew"), [([("seg0", 7)], [0.0]), ([("seg0", 0), ("seg1", 0)], [])])
def test_one_segment_is_even_and_an_empty_table_is_neither(segments: list[Any], skew: list[float]) -> None:
    into = sized([SEGMENTS], segments=segments)
    run(SIZE, into)
    assert kept(into, "skew") == skew


def test_a_value_that_the_server_does_not_know_has_the_reason() -> None:
    into = sized([RATIO], ratio=[(None, None)])
    run(SIZE, into)
    (ratio,) = (one for one in into.measurements if one.metric == "compression_ratio")
    assert (ratio.value, ratio.reason, ratio.status) == (None, "the server says -1", "ok")


def test_a_value_that_the_server_refuses_has_its_words() -> None:
    into = sized([RATIO], ratio=StatementFailed("permission denied for schema pg_aoseg LINE 1: select sum( ^", "42501"))
    run(SIZE, into)
    (ratio,) = (one for one in into.measurements if one.metric == "compression_ratio")
    assert (ratio.value, ratio.reason) == (None, "permission denied for schema pg_aoseg")


def test_a_size_that_has_to_be_there_may_not_be_refused() -> None:
    into = sized([TOTAL], total=StatementFailed("permission denied", "42501"))
    with pytest.raises(StatementFailed):
        run(SIZE, into)


def test_values_as_they_are_stored() -> None:
    into = sized([])
    run(SIZE, into)
    assert (kept(into, "column_bytes"), kept(into, "value_bytes")) == ([91.0], [4096.0])
    (stored,) = (one for one in into.measurements if one.metric == "column_bytes")
    assert stored.method == "pg_column_size(c1), mean of the first thousand rows"


def test_a_column_without_values_and_an_engine_without_such_sizes() -> None:
    into = sized([], **{"select avg": [(None, None)]})
    run(SIZE, into)
    assert [one.reason for one in into.measurements] == ["c1 has no value"] * 2
    into = sized([])
    into.target.dialect = dialect_named("duckdb")
    into.session.rows = lambda sql: []  # type: ignore[method-assign]
    run(SIZE, into)
    (stored,) = (one for one in into.measurements if one.metric == "column_bytes")
    assert (stored.value, stored.reason) == (None, "duckdb does not store values one by one")


def loaded(*fingerprints: int) -> CellContext:
    """A cell whose table has these fingerprints, one load after the other."""
    answers = iter(fingerprints)
    into = context(LOAD, sql={"load": "insert"}, answers={"select count(*), sum((": lambda: [(10, next(answers))]})
    into.experiment = replace(into.experiment, columns=COLUMNS)
    into.target.dialect = type("Loaded", (type(into.dialect),), {"verify": lambda *asked: []})(
        into.dialect.capabilities
    )
    return into


def test_rows_with_a_known_fingerprint_are_digested_once() -> None:
    into = loaded(77, 77)
    run(LOAD, into)
    run(LOAD, into)
    assert kept(into, "row_digest") == ["10:1:2:3:4"] * 2
    assert sum(statement.startswith("digest") for statement in sent(into)) == 1
    methods = [one.method for one in into.measurements if one.metric == "row_digest"]
    assert methods == [
        "count and sums of md5 pieces, computed by the server",
        "that of a table with the same fingerprint, by the server's own hash of all rows",
    ]


def test_rows_with_another_fingerprint_are_digested_and_fail_the_cell() -> None:
    into = loaded(77, 78)
    run(LOAD, into)
    into.session.answers["digest"] = [(10, 1, 2, 3, 5)]  # type: ignore[attr-defined]
    with pytest.raises(CellFailed, match="10:1:2:3:5 differs from 10:1:2:3:4 on here: not the same rows"):
        run(LOAD, into)


def test_a_fingerprint_sees_values_that_two_rows_have_swapped() -> None:
    """Hashes are mixed into one another, not added up."""
    sql = dialect_named("greenplum6").fingerprint_sql("t", COLUMNS)
    assert sql == (
        'select count(*), sum((hashint8((coalesce(hashtext("id"::text), 0)::bigint << 32)'
        ' | (coalesce(hashtext("c1"::text), 0)::bigint & 4294967295)))::bigint) from t'
    )
    assert dialect_named("duckdb").fingerprint_sql("t", COLUMNS) is None


def test_the_clock_starts_on_a_settled_server_and_a_checkpoint_that_changes_nothing_is_left_out() -> None:
    query = step("query", "count", repeats=1, warmups=0, explain=False)
    into = sized([TOTAL], total=[(None, 1)])
    into.experiment = replace(into.experiment, sql={"count.sql": "select 1"})
    into.session.execute("update")
    run(step("vacuum", "settle", mode="settle"), into)
    run(query, into)
    run(query, into)
    run(SIZE, into)
    assert sent(into)[:5] == ["update", f"vacuum {into.table}", "checkpoint", "select 1", "select 1"]
    assert sent(into).count("checkpoint") == 1
    into.session.execute("update")
    run(query, into)
    assert sent(into).count("checkpoint") == 2


@pytest.mark.parametrize(("levels", "checkpoints"), [({"orientation": "heap"}, 3), ({"orientation": "ao_row"}, 1)])
def test_a_scan_that_may_have_set_hint_bits_leaves_pages_to_write(levels: dict[str, Level], checkpoints: int) -> None:
    query = step("query", "count", repeats=1, warmups=0, explain=False)
    into = context(query, sql={"count": "select 1"}, levels=levels)
    into.target.dialect = dialect_named("greenplum6")
    into.session.execute("update")
    for _ in range(3):
        run(query, into)
    assert sent(into).count("checkpoint") == checkpoints


@pytest.mark.parametrize(("rows", "checkpoints"), [([], 1), ([(1,)], 2)])
def test_a_new_table_leaves_nothing_to_write_unless_it_has_rows(rows: list[Any], checkpoints: int) -> None:
    into = context(sql={"create": "create table {{table}} as select 1", "load": "insert"}, answers={"select 1": rows})
    into.checkpoint()
    run(step("create", "create"), into)
    into.settle()
    assert sent(into).count("checkpoint") == checkpoints


def test_without_warm_ups_the_plan_comes_first() -> None:
    answers = {"explain": [('[{"Plan": {"Node Type": "Seq Scan"}, "Execution Time": 1}]',)]}
    orders = {}
    for warmups in (0, 1):
        query = step("query", "count", repeats=1, warmups=warmups)
        into = context(query, sql={"count": "select 1"}, answers=answers)
        run(query, into)
        orders[warmups] = [statement.partition(" ")[0] for statement in sent(into)]
        assert len(kept(into, "result_digest")) == 1
    assert orders == {0: ["checkpoint", "explain", "select"], 1: ["checkpoint", "select", "select", "explain"]}


def test_statistics_with_a_target_of_the_step() -> None:
    into = context()
    run(step("analyze", "analyze", target=10), into)
    run(step("analyze", "plain"), into)
    table = into.table
    assert sent(into) == [
        "set default_statistics_target = 10",
        f"analyze {table}",
        "reset default_statistics_target",
        f"analyze {table}",
    ]
    assert [one.method for one in into.measurements] == ["ANALYZE, statistics target 10", "ANALYZE"]


@pytest.mark.parametrize(("orientation", "settled"), [("heap", 1), ("ao_row", 0), ("ao_column", 0)])
def test_a_table_without_hint_bits_needs_no_vacuum_to_settle(orientation: str, settled: int) -> None:
    into = context(levels={"orientation": orientation})
    into.target.dialect = dialect_named("greenplum6")
    into.session.rows = lambda sql: []  # type: ignore[method-assign]
    run(step("vacuum", "settle", mode="settle"), into)
    assert sent(into) == [f"vacuum {into.table}"] * settled
