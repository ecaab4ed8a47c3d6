"""Greenplum 5, Greenplum 7 and Cloudberry: what sets them apart from Greenplum 6. None of them was run here."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from tasks.dialects import catalog
from tasks.dialects.contract import Session
from tasks.dialects.facts import Capabilities, Fact
from tasks.dialects.greenplum import Greenplum
from tasks.dialects.greenplum_catalog import PARTITION_TREE, distribution_of

NOT_RUN = "not run here"
WITHOUT_KEY = "UNIQUE constraint must contain all columns in the table's distribution key"


class Greenplum5(Greenplum):
    """Greenplum 5, from PostgreSQL 8.3."""

    name = "greenplum5"
    version_pattern = r"Greenplum Database 5\."
    own_facts: ClassVar[tuple[Fact, ...]] = (
        Fact("run_here", False, "Not run here.", NOT_RUN),
        Fact("version_number", 80323, "Greenplum 5 came from PostgreSQL 8.3.", "server_version of 5.x"),
        Fact("codecs", ("none", "zlib", "rle_type"), "zstd came with 6.", "gpdb 5X: reloptions.c"),
        Fact("has_wal", False, "Segments mirror files, not WAL; append-optimized tables write none.", NOT_RUN),
    )

    def probed(self, session: Session) -> Capabilities:
        """Without what PostgreSQL 8.3 cannot be asked: extensions, wal_level, what a setting may be."""
        known = self.capabilities
        version, may = str(session.value("select version()")), catalog.may_checkpoint(session, known.version_number)
        return self.with_cluster(session, replace(known, version=version, has_checkpoint=may))

    def wal_sql(self) -> str | None:
        return None

    def explain_sql(self, query: str) -> str:
        """Options in parentheses are a syntax error there: pgadmin4#1652."""
        return f"explain analyze {query.strip().rstrip(';')}"


class Greenplum7(Greenplum):
    """Greenplum 7: orientation is a table access method; WITH (appendonly=true) is still parsed."""

    name = "greenplum7"
    version_pattern = r"Greenplum Database 7\."
    own_facts: ClassVar[tuple[Fact, ...]] = (
        Fact("run_here", False, "Not run here.", NOT_RUN),
        Fact("version_number", 120012, "Greenplum 7 came from PostgreSQL 12.", "server_version of 7.x"),
        Fact("access_methods", ("heap", "ao_row", "ao_column"), "In pg_class.relam.", "gpdb#16093"),
        Fact("index_methods", ("btree", "bitmap", "hash", "gist", "spgist", "gin", "brin"), "As in 12.", NOT_RUN),
        Fact("wal_level", "replica", "The default since PostgreSQL 10.", NOT_RUN),
        Fact("unique_append_optimized", True, "Since the new format of block directories.", NOT_RUN),
        Fact("unique_without_key", WITHOUT_KEY, "As in 6, in other words.", NOT_RUN),
    )
    partitions = PARTITION_TREE

    def found_storage(self, session: Session, table: str) -> dict[str, str]:
        """reloptions no longer has appendonly and orientation, pg_appendonly no longer the rest: gpdb#14888."""
        return {
            **catalog.reloptions(session, table),
            "orientation": str(catalog.access_method(session, table)),
            "distribution": distribution_of(session, table),
        }


class Cloudberry(Greenplum7):
    """Cloudberry, from PostgreSQL 14."""

    name = "cloudberry"
    version_pattern = r"Cloudberry"
    own_facts: ClassVar[tuple[Fact, ...]] = (
        Fact("version_number", 140004, "Cloudberry came from PostgreSQL 14.", "server_version of 1.x"),
    )
