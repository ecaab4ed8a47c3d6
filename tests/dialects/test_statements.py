"""The SQL of each dialect: these levels in, that text out; no server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from experiments.model import Column, Levels, UserError
from tasks.dialects.dialect import Dialect
from tasks.dialects.registry import dialect_named

COLUMNS = (Column("id", "integer"), Column("c1", "text"), Column("c2", "integer"))
QUIET = "autovacuum_enabled=off, toast.autovacuum_enabled=off"


def at_version(name: str, version: int) -> Dialect:
    dialect = dialect_named(name)
    return replace(dialect, capabilities=replace(dialect.capabilities, version_number=version))


STORAGE: list[tuple[str, Levels, str]] = [
    ("postgresql", {}, f" with ({QUIET})"),
    ("postgresql", {"fillfactor": 70}, f" with (fillfactor=70, {QUIET})"),
    ("postgresql", {"access_method": "heap", "toast": "external"}, f" using heap with ({QUIET})"),
    ("zheap", {"access_method": "zheap", "fillfactor": 70}, f" using zheap with (fillfactor=70, {QUIET})"),
    ("greenplum6", {}, ' distributed by ("id")'),
    ("greenplum6", {"orientation": "heap", "fillfactor": 70}, ' with (fillfactor=70) distributed by ("id")'),
    ("greenplum6", {"orientation": "heap", "distribution": "randomly"}, " distributed randomly"),
    ("greenplum6", {"distribution": "replicated"}, " distributed replicated"),
    (
        "greenplum6",
        {"orientation": "ao_row"},
        ' with (appendonly=true, orientation=row) distributed by ("id")',
    ),
    (
        "greenplum6",
        {"orientation": "ao_row", "blocksize": "8kB", "compression": "none", "checksum": False},
        " with (appendonly=true, orientation=row, blocksize=8192, compresstype=none, checksum=false)"
        ' distributed by ("id")',
    ),
    (
        "greenplum6",
        {"orientation": "ao_column", "blocksize": "2MB", "compression": "zlib:5", "distribution": "hash(c2, id)"},
        " with (appendonly=true, orientation=column, blocksize=2097152, compresstype=zlib, compresslevel=5)"
        ' distributed by ("c2", "id")',
    ),
    (
        "greenplum7",
        {"orientation": "ao_column", "compression": "zstd"},
        ' with (appendonly=true, orientation=column, compresstype=zstd) distributed by ("id")',
    ),
    ("duckdb", {"blocksize": "16kB", "compression": "zstd"}, ""),
    ("opengauss", {}, f" with (orientation=row, {QUIET})"),
    (
        "opengauss",
        {"orientation": "heap", "access_method": "ustore", "fillfactor": 90},
        f" with (orientation=row, storage_type=ustore, fillfactor=90, {QUIET})",
    ),
    ("opengauss", {"orientation": "column"}, " with (orientation=column, autovacuum_enabled=off)"),
    (
        "opengauss",
        {"orientation": "column", "compression": "none"},
        " with (orientation=column, compression=no, autovacuum_enabled=off)",
    ),
]


@pytest.mark.parametrize(("dialect", "levels", "sql"), STORAGE)
def test_storage(dialect: str, levels: Levels, sql: str) -> None:
    assert dialect_named(dialect).storage(levels, "id") == sql


def test_no_access_method_before_twelve() -> None:
    assert at_version("postgresql", 110022).storage({"access_method": "heap"}, "id") == f" with ({QUIET})"


PLAIN = '"id" integer, "c1" text, "c2" integer'
COLUMN_LISTS: list[tuple[str, Levels, str]] = [
    ("postgresql", {"compression": "lz4"}, PLAIN),
    ("greenplum6", {"orientation": "ao_column", "compression": "zlib:5"}, PLAIN),
    (
        "greenplum6",
        {"orientation": "ao_column", "column_encoding": "c1:zstd:5,id:rle_type"},
        '"id" integer encoding (compresstype=rle_type),'
        ' "c1" text encoding (compresstype=zstd, compresslevel=5), "c2" integer',
    ),
    ("duckdb", {}, PLAIN),
    ("duckdb", {"compression": "auto"}, PLAIN),
    (
        "duckdb",
        {"compression": "none"},
        '"id" integer using compression uncompressed, "c1" text using compression uncompressed,'
        ' "c2" integer using compression uncompressed',
    ),
    ("duckdb", {"compression": "zstd"}, '"id" integer, "c1" text using compression zstd, "c2" integer'),
    (
        "duckdb",
        {"compression": "rle"},
        '"id" integer using compression rle, "c1" text, "c2" integer using compression rle',
    ),
]


@pytest.mark.parametrize(("dialect", "levels", "sql"), COLUMN_LISTS)
def test_columns(dialect: str, levels: Levels, sql: str) -> None:
    assert dialect_named(dialect).columns(COLUMNS, levels) == sql


def test_a_type_cannot_become_sql() -> None:
    with pytest.raises(UserError, match='column id: "integer\\); drop table t" is not a type'):
        dialect_named("postgresql").columns((Column("id", "integer); drop table t"),), {})


TOASTED = (*COLUMNS, Column("pad", "char(84)"), Column("price", "numeric(10,2)"), Column("tags", "integer[]"))
AFTER_CREATE: list[tuple[str, int | None, Levels, list[str]]] = [
    ("postgresql", None, {"toast": "default"}, []),
    (
        "postgresql",
        None,
        {"toast": "external"},
        [f'alter table t alter column "{name}" set storage external' for name in ("c1", "pad", "tags")],
    ),
    (
        "postgresql",
        None,
        {"compression": "lz4"},
        [f'alter table t alter column "{name}" set compression lz4' for name in ("c1", "pad", "tags")],
    ),
    ("postgresql", 130000, {"compression": "pglz"}, []),
    ("postgresql", None, {"logged": False}, ["alter table t set unlogged"]),
    ("postgresql", None, {"logged": True}, []),
    ("cloudberry", None, {"orientation": "ao_row", "compression": "zstd:5"}, []),
    (
        "greenplum6",
        None,
        {"orientation": "ao_row", "toast": "main"},
        [f'alter table t alter column "{name}" set storage main' for name in ("c1", "pad", "tags")],
    ),
    ("duckdb", None, {"compression": "zstd"}, []),
]


@pytest.mark.parametrize(("name", "version", "levels", "statements"), AFTER_CREATE)
def test_after_create(name: str, version: int | None, levels: Levels, statements: list[str]) -> None:
    dialect = dialect_named(name) if version is None else at_version(name, version)
    assert dialect.after_create("t", TOASTED, levels) == statements


def test_a_block_on_a_server_is_a_table_in_our_schema() -> None:
    place = dialect_named("greenplum6").block_setup("b12", "/data", {})
    assert place.table == 'storage_matrix."t_b12"'
    assert place.setup == place.teardown == ('drop table if exists storage_matrix."t_b12"',)
    assert place.files == ()


def test_a_block_of_duckdb_is_a_file() -> None:
    place = dialect_named("duckdb").block_setup("b12", "/it's/data", {"blocksize": "16kB"})
    assert place.table == '"b12".main.t'
    assert place.setup == (
        "attach if not exists '/it''s/data/b12.duckdb' as \"b12\" (block_size 16384)",
        'drop table if exists "b12".main.t',
    )
    assert place.teardown == ('detach database if exists "b12"',)
    assert place.files == ("/it's/data/b12.duckdb", "/it's/data/b12.duckdb.wal")


SETTINGS: list[tuple[str, int | None, list[str]]] = [
    (
        "postgresql",
        None,
        [
            "set synchronous_commit = on",
            "set max_parallel_workers_per_gather = 0",
            "set max_parallel_maintenance_workers = 0",
            "set jit = off",
        ],
    ),
    ("postgresql", 100000, ["set synchronous_commit = on", "set max_parallel_workers_per_gather = 0"]),
    (
        "greenplum6",
        None,
        [
            "set synchronous_commit = on",
            "set optimizer = off",
            "set gp_autostats_mode = none",
            "set gp_enable_explain_allstat = on",
        ],
    ),
    ("opengauss", None, ["set synchronous_commit = on"]),
    ("duckdb", None, ["set threads = 1"]),
]


@pytest.mark.parametrize(("name", "version", "statements"), SETTINGS)
def test_session_settings_that_the_version_has(name: str, version: int | None, statements: list[str]) -> None:
    dialect = dialect_named(name) if version is None else at_version(name, version)
    assert dialect.session_settings() == statements


PG_LSN = "pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
XLOG = "pg_xlog_location_diff(pg_current_xlog_insert_location(), '0/0')"
WAL: list[tuple[str, int | None, str | None, str | None]] = [
    ("postgresql", 180000, f"select null::text, {PG_LSN}, (select wal_fpi from pg_stat_wal)", "flush"),
    ("postgresql", 140000, f"select null::text, {PG_LSN}, (select wal_fpi from pg_stat_wal)", None),
    ("postgresql", 130000, f"select null::text, {PG_LSN}, null::bigint", None),
    ("opengauss", None, f"select null::text, {XLOG}, null::bigint", None),
    (
        "greenplum6",
        None,
        f"select 'coordinator', {XLOG}, null::bigint"
        f" union all select 'seg' || gp_segment_id, {XLOG}, null::bigint from gp_dist_random('gp_id')",
        None,
    ),
    ("greenplum5", None, None, None),
    ("duckdb", None, None, None),
]


@pytest.mark.parametrize(("name", "version", "sql", "flush"), WAL)
def test_wal_by_insert_position(name: str, version: int | None, sql: str | None, flush: str | None) -> None:
    dialect = dialect_named(name) if version is None else at_version(name, version)
    assert dialect.wal_sql() == sql
    assert dialect.wal_flush_sql() == (flush and "select pg_stat_force_next_flush()")


def test_why_a_load_may_write_no_wal() -> None:
    postgresql = dialect_named("postgresql")
    assert postgresql.zero_wal_reason({}) is None
    assert postgresql.zero_wal_reason({"logged": True}) is None
    assert postgresql.zero_wal_reason({"logged": False}) == "an unlogged table writes no WAL"
    minimal = replace(postgresql, capabilities=replace(postgresql.capabilities, wal_level="minimal"))
    assert minimal.zero_wal_reason({}) == (
        "wal_level = minimal: a table made or emptied in the loading transaction is synced instead"
    )
    assert dialect_named("duckdb").zero_wal_reason({}) == "duckdb has no WAL position to read"


def test_indexes() -> None:
    postgresql, duckdb = dialect_named("postgresql"), dialect_named("duckdb")
    assert postgresql.create_index_sql('s."t_1"', "btree(c2, id)", "i") == (
        'create index "i" on s."t_1" using btree ("c2", "id")'
    )
    assert postgresql.drop_index_sql('s."t_1"', "i") == 'drop index s."i"'
    assert duckdb.create_index_sql('"b1".main.t', "art(c2)", "i") == 'create index "i" on "b1".main.t using art ("c2")'
    assert duckdb.drop_index_sql('"b1".main.t', "i") == 'drop index "b1".main."i"'


STEPS = [
    ("postgresql", "checkpoint", "vacuum s.t"),
    ("duckdb", 'checkpoint "s"', None),
]


@pytest.mark.parametrize(("name", "checkpoint", "vacuum"), STEPS)
def test_steps(name: str, checkpoint: str, vacuum: str | None) -> None:
    dialect = dialect_named(name)
    assert dialect.checkpoint_sql("s.t") == checkpoint
    assert dialect.vacuum_sql("s.t") == vacuum
    assert dialect.analyze_sql("s.t") == "analyze s.t"


EXPLAIN = [
    ("postgresql", 180000, "explain (analyze, buffers, settings, wal, format json) select 1"),
    ("postgresql", 120000, "explain (analyze, buffers, settings, format json) select 1"),
    ("postgresql", 100000, "explain (analyze, buffers, format json) select 1"),
    ("greenplum6", 90426, "explain (analyze, buffers, format json) select 1"),
    ("greenplum5", 80323, "explain analyze select 1"),
    ("duckdb", 20001, "explain (analyze, format json) select 1"),
]


@pytest.mark.parametrize(("name", "version", "sql"), EXPLAIN)
def test_explain(name: str, version: int, sql: str) -> None:
    assert at_version(name, version).explain_sql("select 1;\n") == sql


def test_one_run_at_a_time_in_our_schema() -> None:
    lock, *schema = dialect_named("postgresql").schema_setup()
    assert "pg_try_advisory_lock" in lock
    assert schema[-2:] == ["drop schema if exists storage_matrix cascade", "create schema storage_matrix"]
    assert dialect_named("duckdb").schema_setup() == []


def test_sizes_have_the_names_of_the_contract() -> None:
    parts = {"total_bytes", "table_bytes", "index_bytes", "auxiliary_bytes"}
    assert {size.metric for size in dialect_named("postgresql").sizes("t")} == {*parts, "toast_bytes", "map_bytes"}
    own = {"toast_bytes", "map_bytes", "aoseg_bytes", "visimap_bytes", "block_directory_bytes", "compression_ratio"}
    assert {size.metric for size in dialect_named("greenplum6").sizes("t")} == {*parts, *own}
    assert {size.metric for size in dialect_named("zheap").sizes("t")} == {
        *parts,
        "toast_bytes",
        "map_bytes",
        "undo_bytes",
    }
    assert {size.metric for size in dialect_named("duckdb").sizes('"b".main.t')} == parts
