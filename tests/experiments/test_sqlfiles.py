"""The nearest ancestor's SQL file wins."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.model import UserError
from experiments.sqlfiles import rendered_sql

SQL = {
    "load.greenplum6.sql": "for {{what}}",
    "load.greenplum.sql": "for the family",
    "load.postgresql.sql": "for PostgreSQL",
    "load.sql": "for all",
    "copy.duckdb.sql": "for DuckDB",
}


@pytest.mark.parametrize(
    ("lineage", "text"),
    [
        (("greenplum6", "greenplum", "postgresql"), "for 6"),
        (("greenplum7", "greenplum", "postgresql"), "for the family"),
        (("zheap", "postgresql"), "for PostgreSQL"),
        (("duckdb",), "for all"),
    ],
)
def test_the_nearest_ancestor_wins(load, lineage, text):
    assert rendered_sql(replace(load(), sql=SQL), "load", lineage, {"what": 6}) == text


def test_a_dialect_without_a_file(load):
    with pytest.raises(UserError) as told:
        rendered_sql(replace(load(), sql=SQL), "copy", ("zheap", "postgresql"), {})
    assert str(told.value) == "small: no sql/copy.sql and no sql/copy.zheap.sql for zheap"


def test_a_complaint_names_the_file_that_was_read(load):
    with pytest.raises(UserError) as told:
        rendered_sql(replace(load(), sql=SQL), "load", ("greenplum6", "greenplum"), {"whom": 6})
    assert str(told.value) == ("small/sql/load.greenplum6.sql: unknown placeholder {{what}}; known placeholders: whom")
