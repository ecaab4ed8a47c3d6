"""Clusters that are already running: which Greenplum it is, how many segments it has, what our role may do."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.dialects.registry import probe
from tasks.errors import StatementFailed

VERSIONS = {
    "greenplum5": (
        "PostgreSQL 8.3.23 (Greenplum Database 5.29.12 build commit:1234) on x86_64-pc-linux-gnu, compiled by GCC",
        80323,
    ),
    "greenplum6": (
        "PostgreSQL 9.4.26 (Greenplum Database 6.24.3 build commit:25d3498) on x86_64-unknown-linux-gnu",
        90426,
    ),
    "greenplum7": (
        "PostgreSQL 12.12 (Greenplum Database 7.1.0 build commit:e7c2b1f) on x86_64-pc-linux-gnu, compiled by gcc",
        120012,
    ),
    "cloudberry": ("PostgreSQL 14.4 (Apache Cloudberry 1.6.0 build dev) on x86_64-pc-linux-gnu", 140004),
}  # fmt: skip


class Cluster:
    """Answers as a cluster would; ``built_in`` are the codecs of which it makes a table."""

    def __init__(self, dialect: str, segments: int = 4, built_in: tuple[str, ...] = ("zstd",), is_super: bool = True):
        version, number = VERSIONS[dialect]
        self.built_in = built_in
        self.answers: dict[str, Any] = {
            "select version()": version,
            "server_version_num": number,
            "block_size": 32768,
            "wal_level": "archive",
            "gp_segment_configuration": segments,
            "rolsuper": is_super,
        }

    def value(self, sql: str) -> Any:
        return next((answer for part, answer in self.answers.items() if part in sql), None)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return [("btree",), ("bitmap",)] if "pg_am" in sql else []

    def execute(self, sql: str) -> None:
        for codec in ("zstd", "quicklz"):
            if f"compresstype={codec}" in sql and codec not in self.built_in:
                raise StatementFailed(f'unknown compresstype "{codec}"', "42704")


@pytest.mark.parametrize("name", VERSIONS)
def test_versions_are_told_apart_and_segments_counted(name: str) -> None:
    dialect = probe(Cluster(name, segments=4))
    assert dialect.name == name
    assert dialect.capabilities.segments == 4
    assert dialect.capabilities.version == VERSIONS[name][0]


@pytest.mark.parametrize("name", VERSIONS)
def test_codecs_are_those_that_were_built_in(name: str) -> None:
    assert {"none", "zlib", "quicklz"} <= probe(Cluster(name, built_in=("quicklz",))).capabilities.codecs
    assert "zstd" not in probe(Cluster(name, built_in=())).capabilities.codecs


@pytest.mark.parametrize("name", VERSIONS)
@pytest.mark.parametrize("is_super", [True, False])
def test_only_a_superuser_checkpoints(name: str, is_super: bool) -> None:
    assert probe(Cluster(name, is_super=is_super)).capabilities.has_checkpoint is is_super


@pytest.mark.parametrize(
    ("name", "catalog"), [("greenplum5", "pg_partition_rule"), ("cloudberry", "pg_partition_tree")]
)
def test_partitions_are_found_where_the_version_keeps_them(name: str, catalog: str) -> None:
    dialect = probe(Cluster(name))
    assert all(catalog in size.sql for size in dialect.sizes("s.t") if size.metric == "total_bytes")


def test_unique_indexes_of_append_optimized_tables_came_with_7() -> None:
    levels = {"orientation": "ao_row", "index": "unique btree(id)"}
    refused = "append-only tables do not support unique indexes"
    assert probe(Cluster("greenplum6")).effective(levels, "id") == (levels, refused)
    assert probe(Cluster("greenplum7")).effective(levels, "id") == (levels, None)
