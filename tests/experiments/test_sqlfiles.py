"""The nearest ancestor's SQL file wins."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.model import UserError
from experiments.sqlfiles import sql_for

SQL = {
    "load.greenplum6.sql": "for 6",
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
    assert sql_for(replace(load(), sql=SQL), "load", lineage) == text


def test_a_dialect_without_a_file(load):
    with pytest.raises(UserError) as told:
        sql_for(replace(load(), sql=SQL), "copy", ("zheap", "postgresql"))
    assert str(told.value) == "small: no sql/copy.sql and no sql/copy.zheap.sql for zheap"
