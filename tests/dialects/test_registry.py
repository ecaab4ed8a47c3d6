"""Dialects are found by their modules, told apart by the server's own words, and hashed by their facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from experiments.model import UserError
from tasks.dialects.dialect import Dialect
from tasks.dialects.facts import Fact, capabilities_from, hash_of
from tasks.dialects.registry import dialect_named, lineages, probe, recognise

LINEAGES = {
    "cloudberry": ("cloudberry", "greenplum7", "greenplum", "postgresql"),
    "duckdb": ("duckdb",),
    "greenplum": ("greenplum", "postgresql"),
    "greenplum5": ("greenplum5", "greenplum", "postgresql"),
    "greenplum6": ("greenplum6", "greenplum", "postgresql"),
    "greenplum7": ("greenplum7", "greenplum", "postgresql"),
    "lightdb": ("lightdb", "postgresql"),
    "opengauss": ("opengauss", "postgresql"),
    "postgresql": ("postgresql",),
    "zheap": ("zheap", "postgresql"),
}
NOT_RUN = {"cloudberry", "greenplum5", "greenplum7", "lightdb"}

VERSIONS = {
    "PostgreSQL 18.6 on x86_64-pc-linux-gnu, compiled by gcc (GCC) 14.2.1, 64-bit": "postgresql",
    "PostgreSQL 12beta1 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit": "postgresql",
    "PostgreSQL 8.3.23 (Greenplum Database 5.28.0 build commit:1b7e) on x86_64-pc-linux-gnu": "greenplum5",
    "PostgreSQL 9.4.26 (Greenplum Database 6.24.3 build commit:25d3) on x86_64-unknown-linux-gnu": "greenplum6",
    "PostgreSQL 12.12 (Greenplum Database 7.1.0 build commit:e7c2) on x86_64-pc-linux-gnu": "greenplum7",
    "PostgreSQL 9.4.26 (Greenplum Database 8.0.0 build dev) on x86_64-pc-linux-gnu": "greenplum",
    "PostgreSQL 14.4 (Cloudberry Database 1.5.4 build dev) on x86_64-pc-linux-gnu": "cloudberry",
    "PostgreSQL 14.4 (Apache Cloudberry 2.0.0-incubating build dev) on x86_64-pc-linux-gnu": "cloudberry",
    "(openGauss 6.0.2 build 6285c0ef) compiled at 2026-11-30 15:43:26 commit 0 last mr  release": "opengauss",
    "(openGauss-lite 6.0.2 build 9303670f) compiled at 2026-11-30": "opengauss",
    "PostgreSQL 9.2.4 (openGauss 1.0.1 build 13b34b53) compiled at 2020-10-12": "opengauss",
    "LightDB 13.8-22.3 on x86_64-unknown-linux-gnu": "lightdb",
    "v2.0.1": "duckdb",
}


def test_lineages() -> None:
    assert lineages() == LINEAGES


@pytest.mark.parametrize(("version", "name"), VERSIONS.items())
def test_recognise(version: str, name: str) -> None:
    assert recognise(version) == name


def test_unknown_server() -> None:
    with pytest.raises(UserError) as raised:
        recognise("MariaDB 11.4")
    assert str(raised.value) == (
        'no dialect knows a server that says "MariaDB 11.4"; known: cloudberry, duckdb, greenplum, greenplum5,'
        " greenplum6, greenplum7, lightdb, opengauss, postgresql, zheap"
    )
    assert raised.value.exit_code == 4


def test_unknown_name() -> None:
    with pytest.raises(UserError, match=r'unknown dialect "postgres"; .*did you mean "postgresql"') as raised:
        dialect_named("postgres")
    assert raised.value.exit_code == 2


@pytest.mark.parametrize("name", LINEAGES)
def test_every_fact_has_a_sentence_and_a_source(name: str) -> None:
    facts = dialect_named(name).facts
    assert len({fact.name for fact in facts}) == len(facts)
    for fact in facts:
        assert fact.sentence.endswith("."), fact
        assert fact.source, fact


@pytest.mark.parametrize("name", LINEAGES)
def test_engines_that_were_not_run_say_so(name: str) -> None:
    assert dialect_named(name).capabilities.run_here is (name not in NOT_RUN)


@pytest.mark.parametrize("name", LINEAGES)
def test_an_engine_has_what_every_step_needs(name: str) -> None:
    dialect = dialect_named(name)
    assert dialect.capabilities.version_number > 0
    assert not dialect.capabilities.probed
    assert dialect.effective({"index": "none", "rows_per_batch": 5}) == ({"index": "none", "rows_per_batch": 5}, None)


def test_a_hash_follows_values_alone() -> None:
    fact = Fact("page_size", 8192, "One size.", "a page")
    told_otherwise = Fact("page_size", 8192, "The same, said better.", "another page")
    changed = Fact("page_size", 32768, "One size.", "a page")
    assert hash_of("x", [fact]) == hash_of("x", [told_otherwise])
    assert hash_of("x", [fact]) != hash_of("x", [changed])
    assert hash_of("x", [fact]) != hash_of("y", [fact])


def test_hashes_differ_between_dialects_and_survive_a_probe() -> None:
    hashes = {dialect_named(name).facts_hash for name in LINEAGES}
    assert len(hashes) == len(LINEAGES)
    probed = dialect_named("duckdb").probe(Answering("v2.1.0"))
    assert probed.capabilities.version_number == 20100
    assert probed.capabilities.probed
    assert probed.facts_hash == dialect_named("duckdb").facts_hash


def test_capabilities_come_from_facts_of_that_name() -> None:
    facts = [
        Fact("codecs", ("none", "zstd"), "Two.", "a page"),
        Fact("block_sizes", range(8192, 32769, 8192), "Four.", "a page"),
        Fact("colour", "blue", "No capability.", "a page"),
    ]
    capabilities = capabilities_from(facts)
    assert capabilities.codecs == {"none", "zstd"}
    assert list(capabilities.block_sizes) == [8192, 16384, 24576, 32768]
    assert not capabilities.has_wal


@dataclass
class Answering:
    """A server that knows its version, and refuses nothing."""

    version: str

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return []

    def value(self, sql: str) -> Any:
        return self.version if sql == "select version()" else 120000

    def execute(self, sql: str) -> None:
        return None


ZHEAP = Answering("PostgreSQL 12beta1 on x86_64-pc-linux-gnu")
PROBED = [
    (ZHEAP, None, "postgresql"),
    (ZHEAP, "zheap", "zheap"),
    (Answering("v2.0.1"), "duckdb", "duckdb"),
]


@pytest.mark.parametrize(("server", "declared", "name"), PROBED)
def test_a_declared_dialect_counts_where_the_version_leaves_it_open(
    server: Answering, declared: str | None, name: str
) -> None:
    dialect: Dialect = probe(server, declared)
    assert dialect.name == name
    assert dialect.capabilities.version == server.version


def test_a_declared_ancestor_yields_to_the_special_dialect() -> None:
    assert probe(Answering("PostgreSQL 8.3.23 (Greenplum Database 5.28.0 build)"), "postgresql").name == "greenplum5"


def test_a_server_of_another_family() -> None:
    with pytest.raises(UserError) as raised:
        probe(Answering("v2.0.1"), "greenplum6")
    assert str(raised.value) == 'the target says dialect greenplum6, the server says "v2.0.1"'
    assert raised.value.exit_code == 4
