"""openGauss: from PostgreSQL 9.2, with row tables in place or append form (ustore, astore) and column tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from experiments.model import Level, Levels
from tasks.dialects.contract import Session
from tasks.dialects.dialect import Judged, Refusal, Rule
from tasks.dialects.facts import Capabilities, Fact
from tasks.dialects.postgresql import PostgreSQL

LIVE = "seen on openGauss 6.0.2"
ORIENTATIONS = {"heap": "row", "column": "column"}


class OpenGauss(PostgreSQL):
    """openGauss in compatibility mode PG: in mode A a date is a timestamp and '' is NULL."""

    name = "opengauss"
    version_pattern = r"openGauss|GaussDB"
    own_facts: ClassVar[tuple[Fact, ...]] = (
        Fact("version_number", 90204, "It says that it is PostgreSQL 9.2.4.", LIVE),
        Fact("access_methods", ("astore", "ustore"), "WITH (storage_type=...), of row tables only.", LIVE),
        Fact("index_methods", ("btree", "hash", "gist", "spgist", "gin", "psort", "ubtree"), "In pg_am.", LIVE),
        Fact("codecs", ("no", "none", "yes", "low", "middle", "high"), "Of column tables; none means no.", LIVE),
        Fact("toast_compression", ("pglz",), "As PostgreSQL 9.2.", LIVE),
        Fact("wal_compression", (), "There is no such setting.", LIVE),
        Fact("wal_level", "hot_standby", "The default.", LIVE),
    )

    def probed(self, session: Session) -> Capabilities:
        """Storage types are no access methods in the catalog."""
        return replace(super().probed(session), access_methods=self.capabilities.access_methods)

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
            return Refusal(f'invalid value for "compression" option: "{level}"')
        return level

    def judge_toast(self, level: Level, levels: Levels) -> Judged:
        return None if _is_column(levels) else super().judge_toast(level, levels)

    def judge_fillfactor(self, level: Level, levels: Levels) -> Judged:
        """A column table forbids it (ForbidToSetOptionsForColTbl in reloptions.cpp)."""
        return None if _is_column(levels) else super().judge_fillfactor(level, levels)

    def storage_options(self, levels: Levels) -> list[str]:
        if _is_column(levels):
            level = levels.get("compression")
            compression = [f"compression={'no' if level == 'none' else level}"] if level else []
            return ["orientation=column", *compression, "autovacuum_enabled=off"]
        storage_type = [f"storage_type={levels['access_method']}"] if "access_method" in levels else []
        return ["orientation=row", *storage_type, *super().storage_options(levels)]


def _is_column(levels: Levels) -> bool:
    return levels.get("orientation") == "column"
