"""What the catalogs of the PostgreSQL family say about a table and a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from experiments.model import Column, Levels
from tasks.dialects.column_types import kind_of, toastable
from tasks.dialects.contract import Session, SizeQuery
from tasks.dialects.facts import Capabilities
from tasks.dialects.quoting import identifier, literal

STORAGE = {"p": "plain", "e": "external", "m": "main", "x": "extended"}
"""pg_attribute.attstorage by its letter."""
UNCOMPRESSED = ("external", "plain")
"""Levels of ``toast`` under which no value is compressed."""


def regclass(table: str) -> str:
    """The table as an oid in SQL."""
    return f"{literal(table)}::regclass"


def reloptions(session: Session, table: str) -> dict[str, str]:
    """The storage parameters of a table, as they were given."""
    rows = session.rows(f"select unnest(reloptions) from pg_class where oid = {regclass(table)}")
    return dict(str(row[0]).split("=", 1) for row in rows)


def access_method(session: Session, table: str) -> str | None:
    """The table access method (PostgreSQL 12 and later)."""
    found: str | None = session.value(
        f"select amname from pg_class c join pg_am a on a.oid = c.relam where c.oid = {regclass(table)}"
    )
    return found


def is_logged(session: Session, table: str) -> bool:
    """Whether changes of the table go to the WAL."""
    return bool(session.value(f"select relpersistence = 'p' from pg_class where oid = {regclass(table)}"))


def option_mismatches(found: Mapping[str, str], asked: Mapping[str, object]) -> list[str]:
    """Where storage parameters differ; names and values are compared as text."""
    return [
        f"{name} is {found.get(name, 'not set')}, asked for {value}"
        for name, value in asked.items()
        if found.get(name) != str(value)
    ]


def toast_mismatches(
    session: Session, table: str, columns: tuple[Column, ...], levels: Levels, has_column_compression: bool
) -> Iterator[str]:
    """Where the TOAST strategy or compression of a column or of its values differs from the levels."""
    names = [column.name for column in toastable(columns)]
    if "toast" in levels:
        yield from _strategy_mismatches(session, table, names, str(levels["toast"]))
    if levels.get("toast") in UNCOMPRESSED:
        yield from _compressed_values(session, table, columns)
    if "compression" in levels and has_column_compression:
        yield from _method_mismatches(session, table, names, str(levels["compression"]))


def _strategy_mismatches(session: Session, table: str, names: list[str], asked: str) -> Iterator[str]:
    rows = session.rows(
        "select attname, attstorage::text, typstorage::text from pg_attribute a join pg_type t on t.oid = a.atttypid"
        f" where attrelid = {regclass(table)} and attnum > 0 and not attisdropped"
    )
    for name, found, default in rows:
        wanted = STORAGE[default] if asked == "default" else asked
        if name in names and STORAGE[found] != wanted:
            yield f"column {name} is stored {STORAGE[found]}, asked for {wanted}"


def _compressed_values(session: Session, table: str, columns: tuple[Column, ...]) -> Iterator[str]:
    for column in columns:
        if kind_of(column) in ("text", "bytes"):
            name = identifier(column.name)
            compressed = f"select count(*) from {table} where pg_column_size({name}) < octet_length({name})"
            if count := session.value(compressed):
                yield f"column {column.name} has {count} compressed values, asked for none"


def _method_mismatches(session: Session, table: str, names: list[str], asked: str) -> Iterator[str]:
    for name in names:
        found = session.rows(f"select distinct pg_column_compression({identifier(name)}) from {table}")
        wrong = sorted({row[0] for row in found} - {None, asked})
        if wrong:
            yield f"column {name} has values compressed with {', '.join(wrong)}, asked for {asked}"


def sizes(table: str) -> list[SizeQuery]:
    """Parts that add up to the total. The TOAST table counts with its index and maps."""
    oid = regclass(table)
    toast = (
        f"coalesce((select pg_total_relation_size(reltoastrelid) from pg_class"
        f" where oid = {oid} and reltoastrelid <> 0), 0)"
    )
    rest = f"pg_table_size({oid}) - pg_relation_size({oid}) - {toast}"
    maps = f"pg_relation_size({oid}, 'fsm') + pg_relation_size({oid}, 'vm')"
    return [
        size("total_bytes", f"pg_total_relation_size({oid})", "pg_total_relation_size"),
        size("table_bytes", f"pg_relation_size({oid})", "pg_relation_size, main fork"),
        size("toast_bytes", toast, "pg_total_relation_size of the TOAST table: with its index and maps"),
        size("index_bytes", f"pg_indexes_size({oid})", "pg_indexes_size"),
        size("auxiliary_bytes", rest, "pg_table_size less main fork and TOAST: maps, auxiliary relations"),
        size("map_bytes", maps, "pg_relation_size, forks fsm and vm"),
    ]


def size(metric: str, expression: str, method: str) -> SizeQuery:
    """A size of the whole target."""
    return SizeQuery(metric, f"select null::text, {expression}", method)


def column_size(table: str, column: Column) -> str:
    """Mean bytes of a value as stored and as it is, of the first thousand rows.

    Inside the subquery, since a row that a cluster sends to its coordinator is not compressed any more.
    """
    name = identifier(column.name)
    whole = name if kind_of(column) == "bytes" else f"{name}::text"
    return (
        "select avg(stored), avg(whole) from"
        f" (select pg_column_size({name}) as stored, octet_length({whole}) as whole from {table} limit 1000) as sampled"
    )


def server_capabilities(session: Session, facts: Capabilities) -> Capabilities:
    """What every server of the family can be asked about itself."""
    number = int(session.value("select current_setting('server_version_num')"))
    # pg_am has a type since 9.6, and rows for tables since 12.
    tables = _names(session, "select amname from pg_am where amtype = 't'") if number >= 120000 else {"heap"}
    indexes = _names(session, f"select amname from pg_am{' where amtype = $$i$$' if number >= 90600 else ''}")
    built_in = _built_in_compression(session)
    return replace(
        facts,
        version=str(session.value("select version()")),
        version_number=number,
        page_size=int(session.value("select current_setting('block_size')")),
        wal_level=str(session.value("select current_setting('wal_level')")),
        access_methods=frozenset(tables),
        index_methods=frozenset(indexes),
        extensions=frozenset(_names(session, "select name from pg_available_extensions")),
        has_checkpoint=may_checkpoint(session, number),
        toast_compression=built_in.get("default_toast_compression", frozenset({"pglz"})),
        wal_compression=built_in.get("wal_compression", frozenset()),
    )


def may_checkpoint(session: Session, number: int) -> bool:
    """Whether our role may run CHECKPOINT: a superuser, since 15 also a member of pg_checkpoint."""
    member = " or pg_has_role(current_user, 'pg_checkpoint', 'member')" if number >= 150000 else ""
    return bool(session.value(f"select rolsuper{member} from pg_roles where rolname = current_user"))


def _built_in_compression(session: Session) -> dict[str, frozenset[str]]:
    """The methods that a setting takes: enumvals has only those that were built in. A mere switch means pglz."""
    rows = session.rows(
        "select name, array_to_string(enumvals, ' ') from pg_settings"
        " where name in ('default_toast_compression', 'wal_compression')"
    )
    return {name: frozenset((values or "pglz").split()) - {"on", "off"} for name, values in rows}


def _names(session: Session, sql: str) -> set[str]:
    return {str(row[0]) for row in session.rows(sql)}
