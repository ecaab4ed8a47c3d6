"""The names that users build on, and that every one of them is explained."""

from __future__ import annotations

import duckdb
import pytest

from warehouse.loading import create_schema

CONTRACT = {
    "run": "run_id experiment profile parameters started_at finished_at status order_seed spec_hash version",
    "environment": "environment_id run_id target facts",
    "cell": "run_id cell_id content_hash target dialect role status reason sqlstate levels block_id replicate reloaded"
    " environment_id started_at finished_at",
    "measurement": "run_id cell_id replicate step metric unit repetition round is_warmup clock node value text_value"
    " status reason method measured_at",
    "metric": "metric unit direction floor description",
    "plan": "run_id cell_id replicate step plan plan_hash",
    "verdict": "run_id expectation claim severity outcome observed detail",
    "published": "experiment source engine profile levels step metric unit value method precision",
    "planned_cell": "run_id cell_id content_hash target dialect role status reason levels block_id replicate",
}
JSON_COLUMNS = {
    ("run", "parameters"),
    ("environment", "facts"),
    ("cell", "levels"),
    ("plan", "plan"),
    ("published", "levels"),
    ("planned_cell", "levels"),
}
VIEWS = {"storage_matrix", "latest", "against_published", "summary", "sample"}


@pytest.fixture(scope="module")
def empty():
    with duckdb.connect() as connection:
        create_schema(connection)
        yield connection


def columns(connection):
    return connection.execute(
        "select table_name, column_name, data_type, comment from duckdb_columns() where not internal"
    ).fetchall()


def test_the_contract_names_are_there(empty):
    there = {(table, column): kind for table, column, kind, _ in columns(empty)}
    assert {(table, column) for table, names in CONTRACT.items() for column in names.split()} <= there.keys()
    assert {key: there[key] for key in JSON_COLUMNS} == dict.fromkeys(JSON_COLUMNS, "JSON")
    assert {table for table, _ in there} >= VIEWS


def test_every_table_view_and_column_has_a_comment(empty):
    assert [(table, column) for table, column, _, comment in columns(empty) if not comment] == []
    relations = "select table_name, comment from duckdb_tables() where not internal union all "
    relations += "select view_name, comment from duckdb_views() where not internal"
    described = empty.execute(relations).fetchall()
    assert len(described) == 21
    assert [name for name, comment in described if not comment] == []


@pytest.mark.parametrize("value", ["inf", "-inf", "nan"])
def test_values_are_finite_or_null(empty, value):
    insert = (
        "insert into measurement by name select 'r' as run_id, 'c' as cell_id, 1 as replicate, 's' as step,"
        " 'tps' as metric,"
        " 'per_second' as unit, 1 as repetition, false as is_warmup, 'ok' as status, 'm' as method,"
        f" timestamp '2026-11-30' as measured_at, '{value}'::double as value"
    )
    with pytest.raises(duckdb.ConstraintException, match="isfinite"):
        empty.execute(insert)


def test_status_is_one_of_the_known_words(empty):
    with pytest.raises(duckdb.ConstraintException, match="CHECK"):
        empty.execute("insert into verdict values ('r', 'e', 'c', 'critical', 'maybe', '', '')")


def test_metrics_are_declared_with_unit_and_direction(empty):
    rows = empty.execute(
        "select unit, direction from metric where metric in ('load_time', 'tps') order by metric"
    ).fetchall()
    assert rows == [("seconds", "lower"), ("per_second", "higher")]
