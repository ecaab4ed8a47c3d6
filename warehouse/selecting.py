"""A query's result as one dictionary per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Row = dict[str, Any]


def rows(connection: DuckDBPyConnection, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
    """All rows of ``sql``, by column name."""
    result = connection.execute(sql, parameters)
    names = [str(column[0]) for column in result.description or ()]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]
