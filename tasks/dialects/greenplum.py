"""Greenplum: append-optimized tables by row or column beside heap, spread over segments.

What stands here was seen on Greenplum 6.24.3 (coordinator and two segments, planner without ORCA).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from experiments.model import Column, Level, Levels
from tasks.dialects import append_optimized, catalog
from tasks.dialects.append_optimized import ORIENTATIONS, is_append_optimized
from tasks.dialects.catalog import option_mismatches, regclass
from tasks.dialects.contract import Session, SizeQuery
from tasks.dialects.dialect import Judged, Refusal, Rule
from tasks.dialects.facts import Capabilities, Fact
from tasks.dialects.levels import Codec, codec_of, encodings_of, key_of, size_of, switch_of, word_of
from tasks.dialects.postgresql import PostgreSQL, fillfactor_option
from tasks.dialects.quoting import identifier, literal
from tasks.errors import StatementFailed

OPTIONS = "gpdb 6X: src/backend/access/common/reloptions_gp.c"
LIVE = "seen on Greenplum 6.24.3"
OPTIONAL_CODECS = ("zstd", "quicklz")


class Greenplum(PostgreSQL):
    """What the versions have in common; by itself a Greenplum whose version we do not know, treated as 6."""

    name = "greenplum"
    version_pattern = r"Greenplum Database \d"
    own_facts: ClassVar[tuple[Fact, ...]] = (
        Fact("version_number", 90426, "Greenplum 6 came from PostgreSQL 9.4.", LIVE),
        Fact("page_size", 32768, "Heap and indexes use pages of 32 kB.", LIVE),
        Fact("index_methods", ("btree", "bitmap", "gist", "spgist", "gin"), "pg_am has hash, which is refused.", LIVE),
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
            "autovacuum",
            False,
            "Autovacuum is disabled but for template0, so none is switched off.",
            "gpdb 6X: src/backend/postmaster/autovacuum.c",
        ),
    )

    def probed(self, session: Session) -> Capabilities:
        missing = {codec for codec in OPTIONAL_CODECS if not _has_codec(session, codec)}
        codecs = (self.capabilities.codecs | set(OPTIONAL_CODECS)) - missing
        count = "select count(*) from gp_segment_configuration where role = 'p' and content >= 0"
        return replace(super().probed(session), codecs=codecs, segments=int(session.value(count)))

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
        if str(level).startswith("hash(") and self.capabilities.version_number < 120000:
            return Refusal("hash indexes are not supported")
        return super().judge_index(level, levels)

    def residue(self, levels: Levels) -> bool:
        """The first index of an append-optimized table makes a block directory, which outlives the index."""
        return is_append_optimized(levels) and levels.get("index", self.index_base_level) != self.index_base_level

    def column_option(self, column: Column, levels: Levels) -> str:
        codec = append_optimized.encodings(levels).get(column.name)
        return f" encoding ({_assigned(append_optimized.codec_options(codec))})" if codec else ""

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
        return [*super().session_settings(), "set optimizer = off", "set gp_autostats_mode = none"]

    def verify(self, session: Session, table: str, columns: tuple[Column, ...], levels: Levels) -> list[str]:
        toast = catalog.toast_mismatches(session, table, columns, levels, has_column_compression=False)
        return [*self.table_mismatches(session, table, levels), *toast]

    def table_mismatches(self, session: Session, table: str, levels: Levels) -> list[str]:
        asked = append_optimized.storage_options(levels) if is_append_optimized(levels) else {}
        asked |= {factor: str(levels[factor]) for factor in ("orientation", "fillfactor") if factor in levels}
        if "distribution" in levels:
            asked["distribution"] = _distributed(levels, "").replace('"', "")
        return [
            *option_mismatches(self.found_storage(session, table), asked),
            *_encodings_wrong(session, table, levels),
        ]

    def found_storage(self, session: Session, table: str) -> dict[str, str]:
        """The storage of a table by the names that were asked for: pg_class and pg_appendonly, up to Greenplum 6."""
        oid = regclass(table)
        letter = session.value(f"select relstorage::text from pg_class where oid = {oid}")
        found = catalog.reloptions(session, table) | {"distribution": distribution_of(session, table)}
        found["orientation"] = next((name for name, known in ORIENTATIONS.items() if known == letter), str(letter))
        names = ("blocksize", "compresstype", "compresslevel", "checksum")
        for row in session.rows(f"select {', '.join(names)} from pg_appendonly where relid = {oid}"):
            found |= {name: str(value).lower() for name, value in zip(names, row, strict=True)}
        return found

    def sizes(self, table: str) -> list[SizeQuery]:
        """Asked on the coordinator the functions sum over the primaries and itself; the total also by segment."""
        total, *parts = super().sizes(table)
        by_segment = f"select {SEGMENT}, pg_total_relation_size({regclass(table)}) from gp_dist_random('gp_id')"
        return [replace(total, sql=f"{total.sql} union all {by_segment}"), *parts]

    def wal_sql(self) -> str | None:
        """By node: the coordinator's position says nothing about the segments'."""
        position = f"{self.wal_position()}, null::bigint"
        return f"select 'coordinator', {position} union all select {SEGMENT}, {position} from gp_dist_random('gp_id')"


class Greenplum6(Greenplum):
    """Greenplum 6, as run."""

    name = "greenplum6"
    version_pattern = r"Greenplum Database 6\."


SEGMENT = "'seg' || gp_segment_id"


def distribution_of(session: Session, table: str) -> str:
    """The distribution clause of a table, as we spell it."""
    return str(session.value(f"select pg_get_table_distributedby({regclass(table)})")).lower().replace('"', "")


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


def _encodings_wrong(session: Session, table: str, levels: Levels) -> list[str]:
    """Where the encoding of a column differs from its level."""
    wrong = []
    for column, codec in append_optimized.encodings(levels).items():
        rows = session.rows(
            "select unnest(e.attoptions) from pg_attribute_encoding e"
            " join pg_attribute a on a.attrelid = e.attrelid and a.attnum = e.attnum"
            f" where e.attrelid = {regclass(table)} and attname = {literal(column)}"
        )
        found = dict(str(row[0]).split("=", 1) for row in rows)
        mismatches = option_mismatches(found, append_optimized.codec_options(codec))
        wrong += [f"column {column}: {mismatch}" for mismatch in mismatches]
    return wrong
