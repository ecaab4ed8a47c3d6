"""The dialects against real servers: each form is made, loaded, verified, measured, indexed and explained."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from experiments.model import Column, Level, Levels
from tasks.dialects.contract import BlockPlace
from tasks.dialects.dialect import Dialect, child_name
from tasks.dialects.registry import dialect_named, probe
from tasks.errors import StatementFailed
from tasks.launchers.server import Server
from tasks.session import open_session

COLUMNS = (Column("id", "integer"), Column("c1", "text"), Column("c2", "integer"))
LOAD = "insert into {} select i, repeat(md5(i::text), 128), i % 500 from generate_series(1, 2000) as keys(i)"
LOOKUP = "select count(*) from {} where c2 = 5"
DIGEST = (2000, 266182450738, 267912300499, 271993716152, 265677716219)


class Forms(NamedTuple):
    """Where forms are tried: a fixture, the dialect to declare, an index that fits, factors and their levels."""

    fixture: str
    declared: str
    index: str
    factors: dict[str, list[Level]]


POSTGRESQL = {
    "toast": ["default", "external"],
    "compression": ["pglz", "lz4"],
    "fillfactor": [100, 70],
    "logged": [False],
}
FORMS = [
    Forms("embedded", "postgresql", "btree(c2)", {**POSTGRESQL, "access_method": ["heap"]}),
    Forms("embedded", "postgresql", "hash(c2)", {}),
    Forms("embedded", "postgresql", "brin(c2)", {"toast": ["main"]}),
    Forms("debian", "postgresql", "btree(c2)", POSTGRESQL),
    Forms("zheap", "zheap", "btree(c2)", {"access_method": ["heap", "zheap"], "fillfactor": [100, 70]}),
    Forms("duck", "duckdb", "art(c2)", {"blocksize": ["16kB", "256kB"], "compression": ["none", "zstd"]}),
    Forms(
        "greenplum",
        "greenplum6",
        "btree(c2)",
        {"orientation": ["heap", "ao_row"], "blocksize": ["8kB", "2MB"], "compression": ["none", "zlib:5"],
         "toast": ["default", "external"], "checksum": [False], "distribution": ["hash(id)", "randomly"]},
    ),
    Forms(
        "greenplum",
        "greenplum6",
        "bitmap(c2)",
        {"orientation": ["ao_column"], "compression": ["zstd:1", "rle_type:2"], "column_encoding": ["c1:zlib:9"]},
    ),
    Forms("opengauss", "opengauss", "btree(c2)", {"orientation": ["column"], "compression": ["none", "low", "high"]}),
    Forms("opengauss", "opengauss", "btree(c2)", {"access_method": ["astore"], "toast": ["default", "external"]}),
    Forms("opengauss", "opengauss", "ubtree(c2)", {"access_method": ["ustore"], "fillfactor": [70]}),
]  # fmt: skip
ids = [f"{forms.fixture}-{forms.index}-{'-'.join(forms.factors)}" for forms in FORMS]


def distinct_forms(dialect: Dialect, factors: dict[str, list[Level]]) -> list[Levels]:
    """The effective levels of the product that the server does not refuse, each once."""
    judged = [dialect.effective(dict(zip(factors, levels, strict=True))) for levels in product(*factors.values())]
    forms: list[Levels] = []
    for levels, reason in judged:
        if reason is None and levels not in forms:
            forms.append(levels)
    return forms


def made(session: Any, dialect: Dialect, levels: Levels, directory: Path) -> BlockPlace:
    place = dialect.block_setup("live", str(directory), levels)
    created = f"create table {place.table} ({dialect.columns(COLUMNS, levels)}){dialect.storage(levels, 'id')}"
    for statement in (*place.setup, created, *dialect.after_create(place.table, COLUMNS, levels)):
        session.execute(statement)
    session.execute(LOAD.format(place.table))
    return place


def sizes_of(session: Any, dialect: Dialect, table: str) -> dict[str, int]:
    """The sizes of the whole target; they must add up."""
    session.execute(dialect.checkpoint_sql(table))
    sizes = {
        query.metric: int(value)
        for query in dialect.sizes(table)
        for node, value in session.rows(query.sql)
        if node is None
    }
    parts = ("table_bytes", "toast_bytes", "index_bytes", "auxiliary_bytes")
    assert sizes["total_bytes"] == sum(sizes.get(part, 0) for part in parts)
    return sizes


def removed(session: Any, place: BlockPlace) -> None:
    for statement in place.teardown:
        session.execute(statement)
    for file in place.files:
        Path(file).unlink(missing_ok=True)


@pytest.mark.parametrize("forms", FORMS, ids=ids)
def test_forms(forms: Forms, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    session = request.getfixturevalue(forms.fixture)
    dialect = probe(session, forms.declared)
    for statement in (*dialect.schema_setup(), *dialect.session_settings()):
        session.execute(statement)
    for levels in distinct_forms(dialect, forms.factors):
        place = made(session, dialect, levels, tmp_path)
        before = sizes_of(session, dialect, place.table)
        assert dialect.verify(session, place.table, COLUMNS, levels) == []
        assert session.rows(dialect.digest_sql(place.table, COLUMNS)) == [DIGEST]
        session.execute(dialect.create_index_sql(place.table, forms.index, "live_index"))
        session.execute(dialect.analyze_sql(place.table))
        after = sizes_of(session, dialect, place.table)
        assert before["index_bytes"] == 0 < after["index_bytes"]
        plan = dialect.read_plan(session.rows(dialect.explain_sql(LOOKUP.format(place.table))))
        assert plan.node_names
        assert plan.execution_seconds is not None
        assert plan.execution_seconds > 0
        session.execute(dialect.drop_index_sql(place.table, "live_index"))
        dropped = sizes_of(session, dialect, place.table)
        assert dropped["index_bytes"] == 0
        leaves_residue = dialect.residue({**levels, "index": forms.index})
        assert (dropped["auxiliary_bytes"] > before["auxiliary_bytes"]) is leaves_residue
        removed(session, place)
    for statement in dialect.schema_teardown():
        session.execute(statement)


# Forms made with the first levels and held against the second: the catalog must tell them apart.
WRONG: list[tuple[str, str, Levels, Levels, list[str]]] = [
    ("embedded", "postgresql", {"fillfactor": 70}, {"fillfactor": 100}, ["fillfactor is 70, asked for 100"]),
    (
        "embedded",
        "postgresql",
        {},
        {"toast": "external"},
        [
            "column c1 is stored extended, asked for external",
            "column c1 has 2000 compressed values, asked for none",
        ],
    ),
    (
        "embedded",
        "postgresql",
        {"toast": "external"},
        {"toast": "default"},
        ["column c1 is stored external, asked for extended"],
    ),
    ("embedded", "postgresql", {}, {"access_method": "zheap"}, ["access method is heap, asked for zheap"]),
    ("embedded", "postgresql", {}, {"logged": False}, ["the table is logged"]),
    (
        "embedded",
        "postgresql",
        {},
        {"compression": "lz4"},
        ["column c1 has values compressed with pglz, asked for lz4"],
    ),
    (
        "duck",
        "duckdb",
        {"blocksize": "16kB", "compression": "none"},
        {"blocksize": "32kB", "compression": "zstd"},
        ["blocks have 16384 bytes, asked for 32kB", "column c1 is stored uncompressed, asked for zstd"],
    ),
    (
        "greenplum",
        "greenplum6",
        {"orientation": "ao_row", "blocksize": "8kB", "compression": "zlib:5", "distribution": "randomly"},
        {"orientation": "ao_column", "blocksize": "2MB", "compression": "zlib:9", "distribution": "hash(id)"},
        [
            "blocksize is 8192, asked for 2097152",
            "compresslevel is 5, asked for 9",
            "orientation is ao_row, asked for ao_column",
            "distribution is distributed randomly, asked for distributed by (id)",
        ],
    ),
    (
        "opengauss",
        "opengauss",
        {"orientation": "column", "compression": "low"},
        {"orientation": "column", "compression": "high"},
        ["compression is low, asked for high"],
    ),
]


@pytest.mark.parametrize(("fixture", "declared", "levels", "asked", "wrong"), WRONG)
def test_storage_that_is_not_what_was_asked_for(
    fixture: str,
    declared: str,
    levels: Levels,
    asked: Levels,
    wrong: list[str],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    session = request.getfixturevalue(fixture)
    dialect = probe(session, declared)
    for statement in dialect.schema_setup():
        session.execute(statement)
    place = made(session, dialect, levels, tmp_path)
    session.execute(dialect.checkpoint_sql(place.table))
    assert dialect.verify(session, place.table, COLUMNS, asked) == wrong
    removed(session, place)
    for statement in dialect.schema_teardown():
        session.execute(statement)


# What effective() predicts, the server confirms in the same words.
CONFIRMED: list[tuple[str, str, Levels]] = [
    ("embedded", "postgresql", {"fillfactor": 5}),
    ("embedded", "postgresql", {"toast": "inline"}),
    ("embedded", "postgresql", {"access_method": "zheap"}),
    ("duck", "duckdb", {"blocksize": "20kB"}),
    ("duck", "duckdb", {"blocksize": "8kB"}),
    ("duck", "duckdb", {"blocksize": "2MB"}),
    *(
        ("greenplum", "greenplum6", {"orientation": "ao_row", **levels})
        for levels in [
            {"blocksize": 10000}, {"blocksize": "4MB"}, {"compression": "rle_type"}, {"compression": "zlib:0"},
            {"compression": "zlib:10"}, {"compression": "zstd:20"}, {"compression": "quicklz"}, {"compression": "lz4"},
        ]
    ),
    ("greenplum", "greenplum6", {"orientation": "ao_column", "compression": "rle_type:5"}),
    ("opengauss", "opengauss", {"orientation": "column", "compression": "zstd"}),
]  # fmt: skip


@pytest.mark.parametrize(("fixture", "declared", "levels"), CONFIRMED)
def test_refusals_in_the_words_of_the_server(
    fixture: str, declared: str, levels: Levels, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    session = request.getfixturevalue(fixture)
    dialect = probe(session, declared)
    reason = dialect.effective(levels)[1]
    for statement in dialect.schema_setup():
        session.execute(statement)
    with pytest.raises(StatementFailed) as raised:
        made(session, dialect, levels, tmp_path)
    for statement in dialect.schema_teardown():
        session.execute(statement)
    assert reason is not None
    message = " ".join(str(raised.value).replace("\nDETAIL:", ":").split())
    assert all(part in message for part in reason.split(": ")), message


def test_probe_of_the_embedded_server(embedded: Any) -> None:
    capabilities = probe(embedded).capabilities
    assert capabilities.version.startswith("PostgreSQL 18.")
    assert capabilities.version_number // 10000 == 18
    assert capabilities.page_size == 8192
    assert capabilities.access_methods == {"heap"}
    assert capabilities.index_methods == {"btree", "hash", "gist", "spgist", "gin", "brin"}
    # Built without lz4 and zstd.
    assert capabilities.toast_compression == {"pglz"}
    assert capabilities.wal_compression == {"pglz"}
    assert capabilities.wal_level == "replica"
    assert {"pgstattuple", "pageinspect", "pg_walinspect"} <= capabilities.extensions


def test_probe_of_duckdb(duck: Any) -> None:
    capabilities = probe(duck).capabilities
    assert capabilities.version_number >= 20000
    assert capabilities.codecs == {"none", "auto", "zstd", "dict_fsst", "bitpacking", "rle"}
    assert 16384 in capabilities.block_sizes
    assert capabilities.page_size == 262144


def test_probe_of_greenplum(greenplum: Any) -> None:
    capabilities = probe(greenplum).capabilities
    assert capabilities.version_number == 90426
    assert capabilities.page_size == 32768
    assert capabilities.segments >= 1
    assert {"none", "zlib", "rle_type"} <= capabilities.codecs
    assert "quicklz" not in capabilities.codecs


def test_wal_of_a_load_is_seen_at_once(embedded: Any) -> None:
    dialect = probe(embedded)
    flush, position = dialect.wal_flush_sql(), dialect.wal_sql()
    assert flush is not None
    assert position is not None
    embedded.execute("drop table if exists logged")
    embedded.execute("create table logged (a int, b text)")
    embedded.execute("insert into logged select i, md5(i::text) from generate_series(1, 5000) i")
    embedded.execute("checkpoint")

    def read() -> tuple[int, int]:
        embedded.execute(flush)
        ((node, inserted, images),) = embedded.rows(position)
        assert node is None
        return int(inserted), int(images)

    before = read()
    embedded.execute("update logged set a = a + 1 where a % 50 = 0")
    after = read()
    # Each page that is changed for the first time after a checkpoint is written whole.
    assert after[1] - before[1] >= 40
    assert after[0] - before[0] > 40 * 4000
    embedded.execute("drop table logged")


def test_wal_of_greenplum_by_node(greenplum: Any) -> None:
    position = probe(greenplum).wal_sql()
    assert position is not None
    nodes = {node for node, _, _ in greenplum.rows(position)}
    assert {"coordinator", "seg0"} <= nodes


def test_sizes_of_greenplum_by_segment(greenplum: Any, tmp_path: Path) -> None:
    dialect = probe(greenplum)
    for statement in dialect.schema_setup():
        greenplum.execute(statement)
    place = made(greenplum, dialect, {"orientation": "ao_row", "compression": "zlib:5"}, tmp_path)
    totals = [size.sql for size in dialect.sizes(place.table) if size.metric == "total_bytes"]
    rows = {node: int(size) for sql in totals for node, size in greenplum.rows(sql)}
    segments = [size for node, size in rows.items() if node is not None]
    assert len(segments) == dialect.capabilities.segments
    # The coordinator has the empty auxiliary relations only.
    assert sum(segments) < rows[None] < sum(segments) * 2
    for statement in dialect.schema_teardown():
        greenplum.execute(statement)


def test_toast_levels_of_postgresql_end_where_they_should(embedded: Any, tmp_path: Path) -> None:
    dialect = probe(embedded)
    for statement in dialect.schema_setup():
        embedded.execute(statement)
    sizes = {}
    for toast in ("default", "external"):
        place = made(embedded, dialect, {"toast": toast}, tmp_path)
        sizes[toast] = sizes_of(embedded, dialect, place.table)
        removed(embedded, place)
    # An empty TOAST table has an index of one page; 2,000 values of 4 kB fill more than 8 MB.
    assert sizes["default"]["toast_bytes"] == 8192
    assert sizes["external"]["toast_bytes"] > 8_000_000 > sizes["default"]["total_bytes"]
    for statement in dialect.schema_teardown():
        embedded.execute(statement)


FAMILY = {"embedded": "postgresql", "debian": "postgresql", "zheap": "zheap", "greenplum": "greenplum6"}


@pytest.mark.parametrize(("fixture", "declared"), {**FAMILY, "opengauss": "opengauss"}.items())
def test_rows_of_a_child_are_rows_of_its_parent(
    fixture: str, declared: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    session = request.getfixturevalue(fixture)
    dialect = probe(session, declared)
    for statement in (*dialect.schema_setup(), *dialect.session_settings()):
        session.execute(statement)
    place = made(session, dialect, {}, tmp_path)
    child = dialect.child_sql(place.table, 7)
    assert child is not None
    session.execute(child)
    session.execute(f"insert into {child_name(place.table, 7)} values (0, 'of the child', 0)")
    assert session.value(f"select count(*) from {place.table}") == 2001
    assert session.value(f"select count(*) from only {place.table}") == 2000
    for statement in (dialect.drop_table_sql(child_name(place.table, 7)), *dialect.schema_teardown()):
        session.execute(statement)


def test_settings_that_differ_from_the_default(embedded: Any) -> None:
    dialect = probe(embedded)
    for statement in dialect.session_settings():
        embedded.execute(statement)
    settings = dict(embedded.rows(dialect.recorded_settings_sql()))
    assert settings["max_parallel_workers_per_gather"] == "0"
    assert settings["jit"] == "off"
    assert "work_mem" not in settings, "it stands at its default"
    embedded.execute("reset all")


def test_settings_that_may_hold_a_secret_are_not_read(embedded: Any) -> None:
    dialect = probe(embedded)
    changed = {"restore_command": "fetch --key hush", "log_line_prefix": "postgresql://me:hush@db/x"}
    for name, value in changed.items():
        embedded.execute(f"alter system set {name} = '{value}'")
    embedded.execute("select pg_reload_conf(), pg_sleep(1)")
    try:
        assert embedded.value("select count(*) from pg_settings where setting like '%hush%'") == len(changed)
        settings = dict(embedded.rows(dialect.recorded_settings_sql()))
        assert not changed.keys() & settings.keys()
        assert "hush" not in str(settings)
    finally:
        for name in changed:
            embedded.execute(f"alter system reset {name}")
        embedded.execute("select pg_reload_conf(), pg_sleep(1)")


def test_settings_of_duckdb(duck: Any) -> None:
    dialect = dialect_named("duckdb")
    for statement in dialect.session_settings():
        duck.execute(statement)
    settings = dict(duck.rows(dialect.recorded_settings_sql()))
    assert settings["threads"] == "1"
    assert "max_memory" in settings


def test_a_second_run_is_kept_out(embedded: Any, server_of: Callable[[str], Server]) -> None:
    dialect = probe(embedded)
    for statement in dialect.schema_setup():
        embedded.execute(statement)
    other = open_session(server_of("embedded").url, None, timeout=10)
    with pytest.raises(StatementFailed) as raised:
        other.execute(dialect.schema_setup()[0])
    other.close()
    assert "another run of storage-matrix is at work on this database" in str(raised.value)
    for statement in dialect.schema_teardown():
        embedded.execute(statement)


NUMBERS = (
    *(Column("small", "smallint"), Column("id", "integer"), Column("big", "bigint"), Column("flag", "boolean")),
    *(Column("day", "date"), Column("tiny", "numeric(4,2)"), Column("price", "numeric(10,2)")),
    Column("huge", "numeric(30,2)"),
)


def numbers_in(duck: Any, directory: Path, levels: Levels, option: str | None = None) -> list[str]:
    """What the catalog has against a file of numbers with these levels; ``option`` is said of every column instead."""
    dialect = dialect_named("duckdb")
    place = dialect.block_setup("numbers", str(directory), levels)
    told = ", ".join(f"{column.name} {column.type}{option}" for column in NUMBERS)
    columns = told if option else dialect.columns(NUMBERS, levels)
    for statement in (
        *place.setup,
        f"create table {place.table} ({columns})",
        f"insert into {place.table} select i % 1000, i, i, i % 3 = 0, date '2020-01-01' + (i % 1000)::int,"
        " i % 10, i % 1000, i from range(30000) as keys(i)",
        dialect.checkpoint_sql(place.table),
    ):
        duck.execute(statement)
    return dialect.verify(duck, place.table, NUMBERS, levels)


@pytest.mark.parametrize(
    "levels",
    [
        {"blocksize": "16kB", "compression": "rle"},
        {"blocksize": "32kB", "compression": "bitpacking"},
        {"blocksize": "64kB", "compression": "bitpacking"},
        {"compression": "bitpacking"},
        {"compression": "auto"},
    ],
)
def test_codecs_of_numbers(duck: Any, tmp_path: Path, levels: Levels) -> None:
    assert dialect_named("duckdb").effective(levels) == (levels, None)
    assert numbers_in(duck, tmp_path, levels) == []


def test_a_codec_that_fits_no_column(duck: Any, tmp_path: Path) -> None:
    assert numbers_in(duck, tmp_path, {"compression": "zstd"}) == ["no column can be compressed with zstd"]


BITPACKED = [
    ("16kB", {"small", "flag", "tiny"}),
    ("32kB", {"small", "flag", "tiny", "id", "day"}),
    ("64kB", {"small", "flag", "tiny", "id", "day", "big", "price"}),
    ("128kB", {"small", "flag", "tiny", "id", "day", "big", "price", "huge"}),
]


@pytest.mark.parametrize(("blocksize", "columns"), BITPACKED)
def test_bitpacking_is_silently_ignored_in_small_blocks(
    duck: Any, tmp_path: Path, blocksize: str, columns: set[str]
) -> None:
    """Why it is only asked for where it fits: elsewhere the server takes it and stores plain values."""
    levels = {"blocksize": blocksize, "compression": "bitpacking"}
    assert numbers_in(duck, tmp_path, levels, option=" using compression bitpacking") == []
    stored = duck.rows(
        "select distinct column_name from pragma_storage_info('numbers.main.t')"
        " where segment_type <> 'VALIDITY' and compression = 'BitPacking'"
    )
    assert {name for (name,) in stored} == columns
    dialect = dialect_named("duckdb")
    assert {column.name for column in NUMBERS if dialect.column_option(column, levels)} == columns
