"""Greenplum: append-optimized tables by row or column beside heap, spread over segments.

What stands here was seen on Greenplum 6.24.3 (coordinator and two segments, planner without ORCA).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from experiments.model import Column, Level, Levels
from tasks.dialects import append_optimized, catalog, greenplum_catalog, slices
from tasks.dialects.append_optimized import ORIENTATIONS, is_append_optimized
from tasks.dialects.catalog import option_mismatches, regclass
from tasks.dialects.contract import Session, SizeQuery
from tasks.dialects.dialect import Judged, Refusal, Rule
from tasks.dialects.facts import Capabilities, Fact
from tasks.dialects.levels import Codec, codec_of, encodings_of, index_of, key_of, size_of, switch_of, word_of
from tasks.dialects.plans import ReadPlan, read_json_plan, read_text_plan
from tasks.dialects.postgresql import PostgreSQL, fillfactor_option
from tasks.dialects.quoting import identifier
from tasks.errors import StatementFailed

OPTIONS = "gpdb 6X: src/backend/access/common/reloptions_gp.c"
LIVE = "seen on Greenplum 6.24.3"
OPTIONAL_CODECS = ("zstd", "quicklz")
WITHOUT_KEY = "UNIQUE index must contain all columns in the distribution key of relation"


class Greenplum(PostgreSQL):
    """What the versions have in common; by itself a Greenplum whose version we do not know, treated as 6."""

    name = "greenplum"
    version_pattern = r"Greenplum Database \d"
    partitions: ClassVar[str] = greenplum_catalog.PARTITIONS
    """SQL for the partitions of the table whose ``oid`` is filled in."""
    own_facts: ClassVar[tuple[Fact, ...]] = (
        Fact("version_number", 90426, "Greenplum 6 came from PostgreSQL 9.4.", LIVE),
        Fact("page_size", 32768, "Heap and indexes use pages of 32 kB.", LIVE),
        Fact("index_methods", ("btree", "bitmap", "gist", "spgist", "gin"), "pg_am has hash, which is refused.", LIVE),
        Fact("unique_methods", ("btree", "bitmap"), "bitmap is made, and compares nothing.", LIVE),
        Fact("unique_append_optimized", False, "Neither primary keys.", LIVE),
        Fact("unique_without_key", WITHOUT_KEY, "A unique index lies within a segment.", LIVE),
        Fact("toast_compression", ("pglz",), "TOAST of heap and append-optimized rows.", LIVE),
        Fact("wal_compression", (), "There is no such setting.", LIVE),
        Fact("wal_level", "archive", "The default; append-optimized tables write WAL above minimal.", LIVE),
        Fact("codecs", ("none", "zlib", "zstd", "rle_type"), "zstd where built in, quicklz if commercial.", OPTIONS),
        Fact(
            "codec_levels",
            (("zlib", 1, 9), ("zstd", 1, 19), ("rle_type", 1, 4), ("quicklz", 1, 1)),
            "Lowest and highest level of each codec; without one the level is 1.",
            OPTIONS,
        ),
        Fact("block_sizes", range(8192, 2097153, 8192), "Append-optimized tables: 8 kB to 2 MB, by 8 kB.", OPTIONS),
        Fact("pages_in_plans", False, "Append-optimized tables bypass shared buffers; segments do not count.", LIVE),
        Fact(
            "has_autovacuum",
            False,
            "Autovacuum is disabled but for template0, so none is switched off.",
            "gpdb 6X: src/backend/postmaster/autovacuum.c",
        ),
    )

    def probed(self, session: Session) -> Capabilities:
        return self.with_cluster(session, super().probed(session))

    def with_cluster(self, session: Session, capabilities: Capabilities) -> Capabilities:
        """The number of segments, and the codecs that were built in."""
        missing = {codec for codec in OPTIONAL_CODECS if not _has_codec(session, codec)}
        codecs = (self.capabilities.codecs | set(OPTIONAL_CODECS)) - missing
        count = "select count(*) from gp_segment_configuration where role = 'p' and content >= 0"
        return replace(capabilities, codecs=codecs, segments=int(session.value(count)))

    def effective(self, levels: Levels, key: str | None = None) -> tuple[Levels, str | None]:
        """Rows are spread by the key where no level says otherwise, which unique indexes have to respect."""
        said = levels if "distribution" in levels or key is None else {**levels, "distribution": f"hash({key})"}
        applied, reason = super().effective(said)
        return {factor: level for factor, level in applied.items() if factor in levels}, reason

    def rules(self) -> Mapping[str, Rule]:
        return {
            **super().rules(),
            "orientation": self.judge_orientation,
            "blocksize": self.judge_blocksize,
            "checksum": self.judge_checksum,
            "column_encoding": self.judge_column_encoding,
            "distribution": self.judge_distribution,
        }

    def judge_orientation(self, level: Level, levels: Levels) -> Judged:
        if level not in ORIENTATIONS:
            return Refusal(f'orientation "{level}" is not known; known: {", ".join(ORIENTATIONS)}')
        return level

    def judge_blocksize(self, level: Level, levels: Levels) -> Judged:
        size = size_of("blocksize", level)
        if not is_append_optimized(levels):
            return None
        return _judged(append_optimized.blocksize_refusal(size, self.capabilities.block_sizes), level)

    def judge_compression(self, level: Level, levels: Levels) -> Judged:
        codec = codec_of("compression", level)
        if not is_append_optimized(levels):
            return None
        return "none" if codec.name == "none" else _judged(self._codec_refusal(codec, levels), level)

    def _codec_refusal(self, codec: Codec, levels: Levels) -> str | None:
        return append_optimized.codec_refusal(codec, levels, self.capabilities.codecs, self.fact("codec_levels"))

    def judge_checksum(self, level: Level, levels: Levels) -> Judged:
        switch_of("checksum", level)
        return level if is_append_optimized(levels) else None

    def judge_column_encoding(self, level: Level, levels: Levels) -> Judged:
        codecs = encodings_of("column_encoding", level).values()
        if levels.get("orientation") != "ao_column":
            return None
        refusals = (self._codec_refusal(codec, levels) for codec in codecs)
        return _judged(next((refusal for refusal in refusals if refusal), None), level)

    def judge_distribution(self, level: Level, levels: Levels) -> Judged:
        key_of("distribution", level)
        return level

    def judge_toast(self, level: Level, levels: Levels) -> Judged:
        """Columns of column-oriented tables are never toasted."""
        return None if levels.get("orientation") == "ao_column" else super().judge_toast(level, levels)

    def judge_fillfactor(self, level: Level, levels: Levels) -> Judged:
        return None if is_append_optimized(levels) else super().judge_fillfactor(level, levels)

    def judge_index(self, level: Level, levels: Levels) -> Judged:
        if level == self.index_base_level:
            return level
        index = index_of("index", level)
        if index.method == "hash" and self.capabilities.version_number < 120000:
            return Refusal("hash indexes are not supported")
        if index.is_unique and (refusal := self._unique_refusal(index.columns, levels)):
            return Refusal(refusal)
        return super().judge_index(level, levels)

    def _unique_refusal(self, columns: Collection[str], levels: Levels) -> str | None:
        """Rows are compared within a segment, so equal ones must lie on the same."""
        if is_append_optimized(levels) and not self.fact("unique_append_optimized"):
            return "append-only tables do not support unique indexes"
        key = key_of("distribution", levels.get("distribution", "replicated"))
        if key is None:
            return "UNIQUE and DISTRIBUTED RANDOMLY are incompatible"
        return None if set(key) <= set(columns) else str(self.fact("unique_without_key"))

    def residue(self, levels: Levels) -> bool:
        """The first index of an append-optimized table makes a block directory, which outlives the index."""
        return is_append_optimized(levels) and levels.get("index", self.index_base_level) != self.index_base_level

    def has_hint_bits(self, levels: Levels) -> bool:
        """Append-optimized rows have none; VACUUM would only add free-space maps to the auxiliary relations."""
        return not is_append_optimized(levels)

    def column_option(self, column: Column, levels: Levels) -> str:
        """The block size too: a column with a clause of its own would have the default, not that of the table."""
        if column.name not in append_optimized.encodings(levels):
            return ""
        options = append_optimized.column_options(levels, [column.name])[column.name]
        return f" encoding ({_assigned(options)})"

    def storage(self, levels: Levels, key: str) -> str:
        """Distribution is always said: without it the first column is taken, with a notice."""
        options = ", ".join(self.storage_options(levels))
        return f"{f' with ({options})' if options else ''} {_distributed(levels, key)}"

    def storage_options(self, levels: Levels) -> list[str]:
        if not is_append_optimized(levels):
            return fillfactor_option(levels)
        orientation = word_of("orientation", levels["orientation"]).removeprefix("ao_")
        options = _assigned(append_optimized.storage_options(levels))
        return ["appendonly=true", f"orientation={orientation}", *([options] if options else [])]

    def after_create(self, table: str, columns: tuple[Column, ...], levels: Levels) -> list[str]:
        """Compression is that of the table here, not of TOAST."""
        others = {factor: level for factor, level in levels.items() if factor != "compression"}
        return super().after_create(table, columns, others)

    def session_settings(self) -> list[str]:
        """The planner, which every build has; statistics in a step of their own, not inside the load."""
        pinned = ["set optimizer = off", "set gp_autostats_mode = none", "set gp_enable_explain_allstat = on"]
        return [*super().session_settings(), *pinned]

    def explained(self, session: Session, query: str) -> ReadPlan:
        """As text, where the server's JSON is none: gpdb#9410."""
        try:
            return super().explained(session, query)
        except ValueError:
            return self.read_plan(session.rows(f"explain analyze {query.strip().rstrip(';')}"))

    def read_plan(self, rows: list[tuple[Any, ...]]) -> ReadPlan:
        document = rows[0][0]
        if isinstance(document, str) and not document.startswith("["):
            return slices.with_slices(read_text_plan(rows))
        return slices.with_slices(read_json_plan([(slices.parsed(document),)], has_pages=False))

    def verify(self, session: Session, table: str, columns: tuple[Column, ...], levels: Levels) -> list[str]:
        """Of a partitioned table, every partition too: each has storage of its own."""
        parts = greenplum_catalog.partitions(session, table, self.partitions)
        wrong = self.table_mismatches(session, table, levels, columns)
        for part in parts or [table]:
            found = [] if part == table else self.table_mismatches(session, part, levels, columns)
            found += catalog.toast_mismatches(session, part, columns, levels, has_column_compression=False)
            wrong += [mismatch if part == table else f"partition {part}: {mismatch}" for mismatch in found]
        return wrong

    def table_mismatches(
        self, session: Session, table: str, levels: Levels, columns: tuple[Column, ...] = ()
    ) -> list[str]:
        found, asked = self.found_storage(session, table), {}
        if is_append_optimized(levels):
            open_to_all = greenplum_catalog.default_options(session)
            asked = {name: value for name, value in open_to_all.items() if name in found}
            asked |= append_optimized.storage_options(levels)
        asked |= {factor: str(levels[factor]) for factor in ("orientation", "fillfactor") if factor in levels}
        if "distribution" in levels:
            asked["distribution"] = _distributed(levels, "").replace('"', "")
        encodings = {}
        if found["orientation"] == "ao_column":
            encodings = append_optimized.column_options(levels, [column.name for column in columns])
        return [
            *option_mismatches(found, asked),
            *greenplum_catalog.encoding_mismatches(session, table, encodings),
        ]

    def found_storage(self, session: Session, table: str) -> dict[str, str]:
        """The storage of a table by the names that were asked for: pg_class and pg_appendonly, up to Greenplum 6."""
        letter = session.value(f"select relstorage::text from pg_class where oid = {regclass(table)}")
        return {
            **catalog.reloptions(session, table),
            **greenplum_catalog.appendonly_options(session, table),
            "distribution": greenplum_catalog.distribution_of(session, table),
            "orientation": next((name for name, known in ORIENTATIONS.items() if known == letter), str(letter)),
        }

    def sizes(self, table: str) -> list[SizeQuery]:
        return greenplum_catalog.sizes(table, self.partitions)

    def wal_sql(self) -> str | None:
        """By node: the coordinator's position says nothing about the segments'."""
        position = f"{self.wal_position()}, null::bigint"
        segments = f"select 'seg' || gp_segment_id, {position} from gp_dist_random('gp_id')"
        return f"select 'coordinator', {position} union all {segments}"


class Greenplum6(Greenplum):
    """Greenplum 6, as run."""

    name = "greenplum6"
    version_pattern = r"Greenplum Database 6\."


def _has_codec(session: Session, codec: str) -> bool:
    """Whether the server makes a table with that codec: pg_compression has codecs that were not built in."""
    table = f"storage_matrix_probe_{codec}"
    try:
        session.execute(
            f"create temp table {table} (a int) with (appendonly=true, compresstype={codec}) distributed by (a)"
        )
    except StatementFailed:
        return False
    session.execute(f"drop table {table}")
    return True


def _judged(refusal: str | None, level: Level) -> Judged:
    return level if refusal is None else Refusal(refusal)


def _assigned(options: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())


def _distributed(levels: Levels, key: str) -> str:
    columns = key_of("distribution", levels["distribution"]) if "distribution" in levels else (key,)
    if columns:
        return f"distributed by ({', '.join(map(identifier, columns))})"
    return "distributed randomly" if columns is None else "distributed replicated"
