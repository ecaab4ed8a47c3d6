"""What becomes of levels: kept, respelled, dropped because they mean nothing, or refused in the server's words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from experiments.model import Levels, UserError
from tasks.dialects.registry import dialect_named

Case = tuple[str, Levels, Levels]

KEPT: list[Case] = [
    # PostgreSQL: one page size, TOAST compression, no orientation.
    ("postgresql", {"toast": "default", "compression": "lz4"}, {"toast": "default", "compression": "lz4"}),
    ("postgresql", {"toast": "main", "compression": "pglz"}, {"toast": "main", "compression": "pglz"}),
    ("postgresql", {"toast": "external", "compression": "pglz"}, {"toast": "external"}),
    ("postgresql", {"toast": "plain", "compression": "lz4"}, {"toast": "plain"}),
    ("postgresql", {"orientation": "heap", "blocksize": "8kB", "checksum": True}, {}),
    ("postgresql", {"distribution": "hash(id)", "column_encoding": "c1:zstd:5"}, {}),
    ("postgresql", {"fillfactor": 70, "logged": False}, {"fillfactor": 70, "logged": False}),
    ("postgresql", {"access_method": "heap", "index": "brin(c2)"}, {"access_method": "heap", "index": "brin(c2)"}),
    ("postgresql", {"wal_level": "minimal", "clients": 8}, {"wal_level": "minimal", "clients": 8}),
    # zheap
    ("zheap", {"access_method": "zheap", "fillfactor": 100}, {"access_method": "zheap", "fillfactor": 100}),
    # Greenplum: block size, compression and checksum are of append-optimized tables, fillfactor of heap.
    ("greenplum6", {"orientation": "heap", "blocksize": "8kB", "compression": "zlib:5"}, {"orientation": "heap"}),
    ("greenplum6", {"orientation": "heap", "checksum": False}, {"orientation": "heap"}),
    ("greenplum6", {"blocksize": "8kB"}, {}),
    ("greenplum6", {"orientation": "heap", "fillfactor": 70}, {"orientation": "heap", "fillfactor": 70}),
    ("greenplum6", {"orientation": "ao_row", "fillfactor": 70}, {"orientation": "ao_row"}),
    *(
        ("greenplum6", levels, levels)
        for levels in [
            {"orientation": "ao_row", "blocksize": "8kB", "compression": "none"},
            {"orientation": "ao_row", "blocksize": "2MB", "compression": "zlib:9"},
            {"orientation": "ao_column", "blocksize": 32768, "compression": "zstd:19"},
            {"orientation": "ao_column", "compression": "rle_type:4", "checksum": "off"},
            {"orientation": "ao_column", "compression": "zlib", "column_encoding": "c1:zstd:5, c2:rle_type:2"},
            {"orientation": "ao_row", "toast": "external"},
            {"orientation": "ao_row", "distribution": "randomly"},
            {"orientation": "heap", "distribution": "hash(id, c2)", "index": "bitmap(c2)"},
        ]
    ),
    (
        "greenplum6",
        {"orientation": "ao_row", "compression": "none:5"},
        {"orientation": "ao_row", "compression": "none"},
    ),
    ("greenplum6", {"orientation": "ao_column", "toast": "external"}, {"orientation": "ao_column"}),
    ("greenplum6", {"orientation": "ao_row", "column_encoding": "c1:zstd:5"}, {"orientation": "ao_row"}),
    # DuckDB: block size of the file and codec by column.
    ("duckdb", {"blocksize": "16kB", "compression": "zstd"}, {"blocksize": "16kB", "compression": "zstd"}),
    ("duckdb", {"blocksize": "256kB", "compression": "auto"}, {"blocksize": "256kB", "compression": "auto"}),
    ("duckdb", {"blocksize": "32kB", "compression": "bitpacking"}, {"blocksize": "32kB", "compression": "bitpacking"}),
    ("duckdb", {"compression": "bitpacking", "index": "art(c2)"}, {"compression": "bitpacking", "index": "art(c2)"}),
    ("duckdb", {"toast": "external", "fillfactor": 70, "orientation": "heap", "access_method": "heap"}, {}),
    ("duckdb", {"logged": False, "distribution": "randomly"}, {}),
    # openGauss: compression is of column tables, storage type and fillfactor of row tables.
    ("opengauss", {"orientation": "heap", "compression": "low"}, {"orientation": "heap"}),
    ("opengauss", {"orientation": "column", "compression": "high"}, {"orientation": "column", "compression": "high"}),
    ("opengauss", {"orientation": "column", "fillfactor": 70, "toast": "main"}, {"orientation": "column"}),
    ("opengauss", {"orientation": "column", "access_method": "ustore"}, {"orientation": "column"}),
    (
        "opengauss",
        {"access_method": "ustore", "index": "ubtree(c2)"},
        {"access_method": "ustore", "index": "ubtree(c2)"},
    ),
    ("opengauss", {"orientation": "column", "index": "btree(c2)"}, {"orientation": "column", "index": "btree(c2)"}),
    ("opengauss", {"logged": True}, {"logged": True}),
]


@pytest.mark.parametrize(("dialect", "levels", "effective"), KEPT)
def test_levels_that_apply(dialect: str, levels: Levels, effective: Levels) -> None:
    assert dialect_named(dialect).effective(levels) == (effective, None)


AO_ROW = {"orientation": "ao_row"}
AO_COLUMN = {"orientation": "ao_column"}
COLUMN = {"orientation": "column"}
LEVEL_BOUNDS = 'out of bounds for option "compresslevel": Valid values are between "0" and "19".'
SIZE_BOUNDS = 'out of bounds for option "blocksize": Valid values are between "8192" and "2097152".'

REFUSED: list[tuple[str, Levels, str]] = [
    ("postgresql", {"access_method": "zheap"}, 'access method "zheap" does not exist'),
    ("postgresql", {"index": "bitmap(c2)"}, 'access method "bitmap" does not exist'),
    ("postgresql", {"compression": "zlib:5"}, 'invalid compression method "zlib:5"'),
    (
        "postgresql",
        {"compression": "none"},
        'invalid compression method "none"; toast = external stores values uncompressed',
    ),
    ("postgresql", {"toast": "inline"}, 'invalid storage type "inline"'),
    (
        "postgresql",
        {"fillfactor": 5},
        'value 5 out of bounds for option "fillfactor": Valid values are between "10" and "100".',
    ),
    ("greenplum6", {"orientation": "column"}, 'orientation "column" is not known; known: heap, ao_row, ao_column'),
    (
        "greenplum6",
        {**AO_ROW, "blocksize": 10000},
        "block size must be between 8KB and 2MB and be a multiple of 8KB: Got block size 10000.",
    ),
    ("greenplum6", {**AO_ROW, "blocksize": "4kB"}, f"value 4096 {SIZE_BOUNDS}"),
    ("greenplum6", {**AO_COLUMN, "blocksize": "4MB"}, f"value 4194304 {SIZE_BOUNDS}"),
    (
        "greenplum6",
        {**AO_ROW, "compression": "rle_type:1"},
        "rle_type cannot be used with Append Only relations row orientation",
    ),
    ("greenplum6", {**AO_ROW, "compression": "zlib:0"}, 'compresstype "zlib" can\'t be used with compresslevel 0'),
    ("greenplum6", {**AO_ROW, "compression": "zstd:0"}, 'compresstype "zstd" can\'t be used with compresslevel 0'),
    (
        "greenplum6",
        {**AO_ROW, "compression": "zlib:10"},
        "compresslevel=10 is out of range for zlib (should be in the range 1 to 9)",
    ),
    (
        "greenplum6",
        {**AO_COLUMN, "compression": "rle_type:5"},
        "compresslevel=5 is out of range for rle_type (should be in the range 1 to 4)",
    ),
    ("greenplum6", {**AO_ROW, "compression": "zstd:20"}, f"value 20 {LEVEL_BOUNDS}"),
    ("greenplum6", {**AO_ROW, "compression": "zlib:-1"}, f"value -1 {LEVEL_BOUNDS}"),
    ("greenplum6", {**AO_ROW, "compression": "quicklz:1"}, 'unknown compresstype "quicklz"'),
    ("greenplum6", {**AO_ROW, "compression": "lz4"}, 'unknown compresstype "lz4"'),
    ("greenplum5", {**AO_ROW, "compression": "zstd:5"}, 'unknown compresstype "zstd"'),
    ("greenplum6", {**AO_COLUMN, "column_encoding": "c1:lz4"}, 'unknown compresstype "lz4"'),
    ("greenplum6", {"orientation": "heap", "index": "hash(c2)"}, "hash indexes are not supported"),
    ("greenplum6", {"orientation": "heap", "index": "brin(c2)"}, 'access method "brin" does not exist'),
    ("greenplum6", {"logged": False}, "no ALTER TABLE SET UNLOGGED before PostgreSQL 9.5"),
    ("duckdb", {"blocksize": "20kB"}, "the block size must be a power of two, got 20480"),
    (
        "duckdb",
        {"blocksize": "8kB"},
        "the block size must be greater or equal than the minimum block size of 16384, got 8192",
    ),
    (
        "duckdb",
        {"blocksize": "2MB"},
        "the block size must be lesser or equal than the maximum block size of 262144, got 2097152",
    ),
    (
        "duckdb",
        {"compression": "fsst"},
        'DuckDB does not compress with "fsst"; known: auto, bitpacking, dict_fsst, none, rle, zstd',
    ),
    (
        "duckdb",
        {"compression": "zstd:5"},
        'DuckDB does not compress with "zstd:5"; known: auto, bitpacking, dict_fsst, none, rle, zstd',
    ),
    (
        "duckdb",
        {"blocksize": "16kB", "compression": "bitpacking"},
        "bitpacking does not fit blocks of 16kB: integers are left uncompressed",
    ),
    ("duckdb", {"index": "btree(c2)"}, 'access method "btree" does not exist'),
    ("opengauss", {"orientation": "ao_row"}, 'orientation "ao_row" is not known; known: heap, column'),
    ("opengauss", {"access_method": "heap"}, 'access method "heap" does not exist'),
    (
        "opengauss",
        {**COLUMN, "compression": "zstd"},
        'Invalid string for "COMPRESSION" option:'
        ' Valid string are "no", "yes", "low", "middle", "high" for non-dfs table.',
    ),
    ("opengauss", {**COLUMN, "index": "hash(c2)"}, 'access method "hash" does not support column store'),
    ("opengauss", {"index": "psort(c2)"}, 'access method "psort" does not support row store'),
    ("opengauss", {"index": "ubtree(c2)"}, "ubtree index is only supported for ustore"),
    ("opengauss", {"access_method": "ustore", "index": "hash(c2)"}, "hash index is not supported for ustore"),
]


@pytest.mark.parametrize(("dialect", "levels", "reason"), REFUSED)
def test_levels_that_are_refused(dialect: str, levels: Levels, reason: str) -> None:
    assert dialect_named(dialect).effective(levels) == (levels, reason)


PROBED: list[tuple[str, dict[str, Any], Levels, str | None]] = [
    ("postgresql", {"toast_compression": {"pglz"}}, {"compression": "lz4"}, "lz4 is not built into this server"),
    ("postgresql", {"access_methods": {"heap", "zheap"}}, {"access_method": "zheap"}, None),
    ("postgresql", {"index_methods": {"btree", "bloom"}}, {"index": "bloom(c2)"}, None),
    ("greenplum6", {"codecs": {"none", "zlib"}}, {**AO_ROW, "compression": "zstd:1"}, 'unknown compresstype "zstd"'),
    ("greenplum6", {"codecs": {"quicklz"}}, {**AO_ROW, "compression": "quicklz:1"}, None),
    (
        "greenplum6",
        {"codecs": {"quicklz"}},
        {**AO_ROW, "compression": "quicklz:2"},
        "compresslevel=2 is out of range for quicklz (should be 1)",
    ),
    ("greenplum7", {}, {"index": "hash(c2)"}, None),
]


@pytest.mark.parametrize(("dialect", "capabilities", "levels", "reason"), PROBED)
def test_a_probe_overrules_the_facts(
    dialect: str, capabilities: dict[str, Any], levels: Levels, reason: str | None
) -> None:
    known = dialect_named(dialect)
    probed = replace(known, capabilities=replace(known.capabilities, **capabilities))
    assert probed.effective(levels) == (levels, reason)


MISSPELLED: list[tuple[str, Levels, str]] = [
    (
        "greenplum6",
        {**AO_ROW, "blocksize": "8 pages"},
        'factor blocksize: level "8 pages" is not a size such as 8kB or 2MB',
    ),
    ("duckdb", {"blocksize": "big"}, 'factor blocksize: level "big" is not a size such as 8kB or 2MB'),
    (
        "greenplum6",
        {"orientation": "heap", "compression": "'; drop table t"},
        'factor compression: level "\'; drop table t" is not a codec such as none, zlib:5 or zstd',
    ),
    ("postgresql", {"fillfactor": True}, 'factor fillfactor: level "true" is not a whole number'),
    ("postgresql", {"fillfactor": "70%"}, 'factor fillfactor: level "70%" is not a whole number'),
    ("postgresql", {"logged": "maybe"}, 'factor logged: level "maybe" is not true or false'),
    (
        "postgresql",
        {"access_method": "heap; drop"},
        'factor access_method: level "heap; drop" is not a name of small letters, digits and _',
    ),
    (
        "postgresql",
        {"index": "btree(c2); drop"},
        'factor index: level "btree(c2); drop" is not an index; write "none" or "method(column, ...)"',
    ),
    (
        "greenplum6",
        {"distribution": "hash(1)"},
        'factor distribution: level "hash(1)" is not hash(column, ...), randomly or replicated',
    ),
    (
        "greenplum6",
        {**AO_COLUMN, "column_encoding": "zstd"},
        'factor column_encoding: level "zstd" is not column:codec[:level], ... or none',
    ),
]


@pytest.mark.parametrize(("dialect", "levels", "message"), MISSPELLED)
def test_levels_that_no_engine_could_read(dialect: str, levels: Levels, message: str) -> None:
    with pytest.raises(UserError) as raised:
        dialect_named(dialect).effective(levels)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("dialect", "levels", "residue"),
    [
        ("greenplum6", {**AO_ROW, "index": "btree(c2)"}, True),
        ("greenplum6", {**AO_COLUMN, "index": "bitmap(c2)"}, True),
        ("greenplum6", {**AO_ROW, "index": "none"}, False),
        ("greenplum6", {"orientation": "heap", "index": "btree(c2)"}, False),
        ("postgresql", {"index": "btree(c2)"}, False),
        ("duckdb", {"index": "art(c2)"}, False),
    ],
)
def test_an_index_leaves_the_block_directory_behind(dialect: str, levels: Levels, residue: bool) -> None:
    assert dialect_named(dialect).residue(levels) is residue
