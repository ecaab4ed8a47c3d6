"""openGauss: from PostgreSQL 9.2, with row tables in place or append form (ustore, astore) and column tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from experiments.model import Level, Levels
from tasks.dialects.contract import Session
from tasks.dialects.dialect import Judged, Refusal, Rule, child_name
from tasks.dialects.digests import DigestSpelling
from tasks.dialects.facts import Capabilities, Fact
from tasks.dialects.levels import index_of, word_of
from tasks.dialects.plans import ReadPlan
from tasks.dialects.postgresql import PostgreSQL

LIVE = "seen on openGauss 6.0.2"
ORIENTATIONS = ("heap", "column")
ROW_INDEXES = ("btree", "hash", "gist", "spgist", "gin")
COLUMN_INDEXES = ("psort", "cbtree", "cgin")


class OpenGauss(PostgreSQL):
    """openGauss in compatibility mode PG: in mode A a date is a timestamp and '' is NULL."""

    name = "opengauss"
    version_pattern = r"openGauss|GaussDB"
    own_facts: ClassVar[tuple[Fact, ...]] = (
        Fact("version_number", 90204, "It says that it is PostgreSQL 9.2.4.", LIVE),
        Fact("access_methods", ("astore", "ustore"), "WITH (storage_type=...), of row tables only.", LIVE),
        Fact("index_methods", (*ROW_INDEXES, *COLUMN_INDEXES, "ubtree"), "pg_am, vectors apart.", LIVE),
        Fact("codecs", ("no", "none", "yes", "low", "middle", "high"), "Of column tables; none means no.", LIVE),
        Fact("toast_compression", ("pglz",), "As PostgreSQL 9.2.", LIVE),
        Fact("wal_compression", (), "There is no such setting.", LIVE),
        Fact("wal_level", "hot_standby", "The default.", LIVE),
        Fact("has_inheritance", True, "6.0 takes INHERITS, which older releases refuse (GAUSS-04683).", LIVE),
        Fact("has_autovacuum", False, "It has one of its own; not tried here.", "not run here"),
    )
    # It writes -.05 where others write -0.05.
    spelling: ClassVar[DigestSpelling] = replace(
        PostgreSQL.spelling,
        texts={**PostgreSQL.spelling.texts, "numeric": r"regexp_replace({c}::text, '^(-?)\.', '\10.')"},
    )

    def probed(self, session: Session) -> Capabilities:
        """Storage types are no access methods in the catalog; a system administrator is enough for CHECKPOINT."""
        may = session.value("select rolsuper or rolsystemadmin from pg_roles where rolname = current_user")
        methods = self.capabilities.access_methods
        return replace(super().probed(session), access_methods=methods, has_checkpoint=bool(may))

    def rules(self) -> Mapping[str, Rule]:
        return {**super().rules(), "orientation": self.judge_orientation}

    def judge_orientation(self, level: Level, levels: Levels) -> Judged:
        if level not in ORIENTATIONS:
            return Refusal(f'orientation "{level}" is not known; known: {", ".join(ORIENTATIONS)}')
        return level

    def judge_access_method(self, level: Level, levels: Levels) -> Judged:
        return None if _is_column(levels) else super().judge_access_method(level, levels)

    def judge_compression(self, level: Level, levels: Levels) -> Judged:
        if not _is_column(levels):
            return None
        if level not in self.capabilities.codecs:
            valid = 'Valid string are "no", "yes", "low", "middle", "high" for non-dfs table.'
            return Refusal(f'Invalid string for "COMPRESSION" option: {valid}')
        return level

    def judge_toast(self, level: Level, levels: Levels) -> Judged:
        return None if _is_column(levels) else super().judge_toast(level, levels)

    def judge_fillfactor(self, level: Level, levels: Levels) -> Judged:
        """A column table forbids it (ForbidToSetOptionsForColTbl in reloptions.cpp)."""
        return None if _is_column(levels) else super().judge_fillfactor(level, levels)

    def judge_index(self, level: Level, levels: Levels) -> Judged:
        """Each form of table has its own methods; of a column table btree means cbtree and gin cgin."""
        judged = super().judge_index(level, levels)
        if level == self.index_base_level or isinstance(judged, Refusal):
            return judged
        refusal = _index_refusal(index_of("index", level).method, levels)
        return Refusal(refusal) if refusal else level

    def undo_sql(self) -> str | None:
        """Of ustore tables; the upper 20 bits of a position are the number of its zone."""
        return (
            "select coalesce(sum(('x' || \"insert\")::bit(64)::bigint & ((1::bigint << 44) - 1)), 0)"
            " from gs_undo_meta(0, -1, 0)"
        )

    def child_sql(self, table: str, number: int) -> str:
        """INCLUDING ALL brings the storage parameters of the parent; others beside them are refused."""
        return f"create table {child_name(table, number)} (like {table} including all) inherits ({table})"

    def storage_options(self, levels: Levels) -> list[str]:
        if not _is_column(levels):
            return [
                "orientation=row",
                *_option("storage_type", "access_method", levels),
                *super().storage_options(levels),
            ]
        # The compression of a column table is low where nothing is said.
        compression = [option.replace("none", "no") for option in _option("compression", "compression", levels)]
        return ["orientation=column", *compression, "autovacuum_enabled=off"]

    def read_plan(self, rows: list[tuple[Any, ...]]) -> ReadPlan:
        """Scans of column tables bypass the buffers that EXPLAIN counts."""
        plan = super().read_plan(rows)
        return replace(plan, pages=None) if any(name.startswith("CStore") for name in plan.node_names) else plan


def _is_column(levels: Levels) -> bool:
    return levels.get("orientation") == "column"


def _option(name: str, factor: str, levels: Levels) -> list[str]:
    return [f"{name}={word_of(factor, levels[factor])}"] if factor in levels else []


def _index_refusal(method: str, levels: Levels) -> str | None:
    """Why a method does not fit the form of the table, in the words of the server."""
    if _is_column(levels):
        fits = method in ("btree", "gin", *COLUMN_INDEXES)
        return None if fits else f'access method "{method}" does not support column store'
    if levels.get("access_method") == "ustore":
        return None if method == "ubtree" else f"{method} index is not supported for ustore"
    if method == "ubtree":
        return "ubtree index is only supported for ustore"
    return None if method in ROW_INDEXES else f'access method "{method}" does not support row store'
