"""One digest for the same rows: Python, DuckDB, the embedded PostgreSQL, and other servers at hand."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from experiments.model import Column, UserError
from tasks.dialects.registry import dialect_named
from tests.dialects.digest_in_python import row_digest

COLUMNS = (
    Column("id", "integer"),
    Column("big", "bigint"),
    Column("words", "text"),
    Column("short", "varchar(20)"),
    Column("fixed", "char(5)"),
    Column("price", "numeric(12,2)"),
    Column("whole", "numeric(20)"),
    Column("at", "timestamp"),
    Column("day", "date"),
    Column("flag", "boolean"),
    Column("tags", "integer[]"),
    Column("raw", "bytea"),
)
# Values as SQL that both PostgreSQL and DuckDB read, and as Python.
ROWS: list[tuple[str, tuple[Any, ...]]] = [
    (
        "1, 9223372036854775807, 'plain', 'v', 'ab', 1.5, 12345678901234567890, '2020-01-02 03:04:05', '2020-01-02',"
        " true, '{1,2,3}', '\\x00ff'",
        (1, 2**63 - 1, "plain", "v", "ab", Decimal("1.50"), Decimal(12345678901234567890),
         datetime(2020, 1, 2, 3, 4, 5), date(2020, 1, 2), True, [1, 2, 3], b"\x00\xff"),
    ),
    (
        "-1, -9223372036854775808, '', '', '', -0.05, -7, '1999-12-31 23:59:59.000001', '0099-03-01', false, '{}', ''",
        (-1, -(2**63), "", "", "", Decimal("-0.05"), Decimal(-7),
         datetime(1999, 12, 31, 23, 59, 59, 1), date(99, 3, 1), False, [], b""),
    ),
    (
        "0, 0, 'Grüße, 世界 🐘', 'é', 'äöü', 0, 0, '0099-03-01 00:00:00.5', '2020-02-29', true, '{-1,NULL}', '\\x20'",
        (0, 0, "Grüße, 世界 🐘", "é", "äöü", Decimal(0), Decimal(0),
         datetime(99, 3, 1, 0, 0, 0, 500000), date(2020, 2, 29), True, [-1, None], b" "),
    ),
    (
        "2, 3, ' edge  ', 'two:3', 'a  b ', 1234567890.10, 1, '2020-06-30 12:00:00.123456', '9999-12-31', false,"
        " '{0}', '\\x3a'",
        (2, 3, " edge  ", "two:3", "a  b ", Decimal("1234567890.1"), Decimal(1),
         datetime(2020, 6, 30, 12, 0, 0, 123456), date(9999, 12, 31), False, [0], b":"),
    ),
    (", ".join(["null"] * 12), (None,) * 12),
]  # fmt: skip
EXPECTED = (5, 517536566, 1022384088, 712648065, 537686571)


def duckdb_literal(sql: str) -> str:
    """DuckDB spells arrays and bytes its own way."""
    for postgresql, duckdb in {
        "'{1,2,3}'": "[1,2,3]", "'{}'": "[]", "'{-1,NULL}'": "[-1,NULL]", "'{0}'": "[0]", "\\x00ff": "\\x00\\xFF",
    }.items():  # fmt: skip
        sql = sql.replace(postgresql, duckdb)
    return sql


def digest_on(session: Any, name: str, rows: list[str]) -> tuple[int, ...]:
    dialect = dialect_named(name)
    session.execute("drop table if exists digested")
    clause = ' distributed by ("id")' if "greenplum" in dialect.lineage else ""
    session.execute(f"create table digested ({dialect.columns(COLUMNS, {})}){clause}")
    for row in rows:
        session.execute(f"insert into digested values ({row})")
    (result,) = session.rows(dialect.digest_sql("digested", COLUMNS))
    session.execute("drop table digested")
    return tuple(int(part) for part in result)


def test_python() -> None:
    assert row_digest((values for _, values in ROWS), COLUMNS) == EXPECTED


def test_duckdb(duck: Any) -> None:
    assert digest_on(duck, "duckdb", [duckdb_literal(sql) for sql, _ in ROWS]) == EXPECTED


def test_embedded(embedded: Any) -> None:
    assert digest_on(embedded, "postgresql", [sql for sql, _ in ROWS]) == EXPECTED


def test_neither_date_style_nor_output_settings_matter(embedded: Any) -> None:
    for setting in ("datestyle = 'German'", "bytea_output = 'escape'", "timezone = 'Asia/Tokyo'"):
        embedded.execute(f"set {setting}")
    try:
        assert digest_on(embedded, "postgresql", [sql.replace("\\x20", " ") for sql, _ in ROWS]) == EXPECTED
    finally:
        embedded.execute("reset all")


def test_greenplum(greenplum: Any) -> None:
    assert digest_on(greenplum, "greenplum6", [sql for sql, _ in ROWS]) == EXPECTED


def test_zheap(zheap: Any) -> None:
    assert digest_on(zheap, "zheap", [sql for sql, _ in ROWS]) == EXPECTED


def test_opengauss(opengauss: Any) -> None:
    assert digest_on(opengauss, "opengauss", [sql for sql, _ in ROWS]) == EXPECTED


def test_order_does_not_matter() -> None:
    assert row_digest(reversed([values for _, values in ROWS]), COLUMNS) == EXPECTED


TEXTS = (Column("a", "text"), Column("b", "text"))
DIFFERENT: list[tuple[Any, ...]] = [
    ("ab", "c"), ("a", "bc"), ("abc", ""), ("", "abc"), ("abc", None), (None, "abc"), (None, None), ("", ""),
    (":", ""), ("", ":"), ("1:a", None), ("ab ", "c"), ("AB", "c"),
]  # fmt: skip


def test_no_two_rows_look_alike() -> None:
    assert len({row_digest([row], TEXTS) for row in DIFFERENT}) == len(DIFFERENT)


def test_duckdb_tells_the_same_rows_apart(duck: Any) -> None:
    duck.execute("create table told (a text, b text)")
    for row in DIFFERENT:
        values = ", ".join("null" if value is None else f"'{value}'" for value in row)
        duck.execute("delete from told")
        duck.execute(f"insert into told values ({values})")
        assert duck.rows(dialect_named("duckdb").digest_sql("told", TEXTS)) == [row_digest([row], TEXTS)]


def test_duplicates_count() -> None:
    once, twice = row_digest([("a", "b")], TEXTS), row_digest([("a", "b"), ("a", "b")], TEXTS)
    assert twice == tuple(2 * part for part in once)


def test_no_rows(duck: Any) -> None:
    duck.execute("create table nothing (a text, b text)")
    assert duck.rows(dialect_named("duckdb").digest_sql("nothing", TEXTS)) == [(0, 0, 0, 0, 0)]
    assert row_digest([], TEXTS) == (0, 0, 0, 0, 0)


def test_a_known_row() -> None:
    """Of the md5 of 1:a: (md5sum says 84ac9afa92e37b4780c2f98ea8b329c6), seven digits at a time."""
    assert row_digest([("a", None)], TEXTS) == (1, 0x84AC9AF, 0xA92E37B, 0x4780C2F, 0x98EA8B3)


@pytest.mark.parametrize("kind", ["double precision", "real", "float8", "numeric", "jsonb", "text[]"])
def test_types_without_one_text(kind: str) -> None:
    with pytest.raises(UserError) as raised:
        dialect_named("postgresql").digest_sql("t", (Column("x", kind),))
    assert str(raised.value) == (
        f"column x: {kind} has no text that is the same on every engine, so rows cannot be compared; use integer,"
        " numeric(p,s), text, varchar, char(n), boolean, date, timestamp, bytea or integer[]"
    )
