"""DuckDB: a column store in our own process, one file per block, since a file has one block size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from experiments.model import Column, Level, Levels
from tasks.dialects.contract import BlockPlace, Session, SizeQuery
from tasks.dialects.dialect import Dialect, Judged, Refusal, Rule
from tasks.dialects.digests import DigestSpelling
from tasks.dialects.duckdb_codecs import CODEC_KINDS, DEFAULT_BLOCK, SMALLEST_BITPACKED, block_size, codec_for
from tasks.dialects.facts import Capabilities, Fact
from tasks.dialects.levels import codec_of, size_of
from tasks.dialects.plans import ReadPlan, read_duckdb_plan
from tasks.dialects.quoting import identifier, literal
from tasks.errors import StatementFailed

DOCS = "https://duckdb.org/docs/stable/"
LIVE = "seen on DuckDB 2.0.1"
HEADER_BYTES = 3 * 4096
"""The main header and two database headers, before the first block."""
RECORDED = (
    *("threads", "max_memory", "storage_compatibility_version", "force_compression", "preserve_insertion_order"),
    *("fsync_mode", "wal_autocheckpoint", "index_scan_max_count", "index_scan_percentage"),
)


def csv_options(format: str) -> dict[str, str]:
    """DuckDB's options for a file as PostgreSQL's COPY reads it by itself: csv, or text with tabs and backslash-N."""
    given = {"header": "false", "delim": "','", "quote": "'\"'", "escape": "'\"'", "nullstr": "''"}
    if format == "text":
        given |= {"delim": "'\t'", "quote": "''", "escape": "''", "nullstr": r"'\N'"}
    return given


def reading_options(format: str) -> dict[str, str]:
    """The same for reading it: nothing is guessed, and a quoted nothing is no NULL."""
    return {**csv_options(format), "auto_detect": "false", "allow_quoted_nulls": "false"}


class DuckDB(Dialect):
    """DuckDB 2.0; a block's table is ``main.t`` of a database of its own."""

    name = "duckdb"
    version_pattern = r"^v\d+\.\d+\.\d+"
    own_facts: ClassVar[tuple[Fact, ...]] = (
        Fact("version_number", 20001, "Seen with 2.0.1.", LIVE),
        Fact(
            "page_size",
            DEFAULT_BLOCK,
            "The block size of a file that was not told another.",
            f"{DOCS}internals/storage",
        ),
        Fact(
            "block_sizes",
            (16384, 32768, 65536, 131072, 262144),
            "A power of two from 16 kB to 256 kB, chosen when the file is made.",
            f"{DOCS}sql/statements/attach",
        ),
        Fact(
            "codecs",
            ("none", "auto", "zstd", "dict_fsst", "bitpacking", "rle"),
            "fsst and dictionary are only read any more, though a table in memory still takes them.",
            LIVE,
        ),
        Fact(
            "smallest_bitpacked_block",
            SMALLEST_BITPACKED,
            "Bytes of block per byte of value: in smaller blocks bitpacking is silently left out.",
            LIVE,
        ),
        Fact("index_methods", ("art",), "The adaptive radix tree is the one general index.", f"{DOCS}sql/indexes"),
        Fact("has_checkpoint", True, "CHECKPOINT of one database.", f"{DOCS}sql/statements/checkpoint"),
        Fact("has_wal", False, "The WAL file is emptied by checkpoints, and bulk loads bypass it: no position.", LIVE),
        Fact("vacuum", False, "VACUUM gives no space back; a checkpoint does.", f"{DOCS}sql/statements/vacuum"),
        Fact("file_per_block", True, "Block size belongs to the file.", f"{DOCS}sql/statements/attach"),
    )
    spelling: ClassVar[DigestSpelling] = DigestSpelling(
        # length() counts characters.
        octets="strlen",
        piece="('0x' || substr(m, {start}, 7))::int",
        texts={
            **dict.fromkeys(("integer", "numeric", "text", "boolean"), "{c}::varchar"),
            # char(n) is a varchar without a length here.
            "char": "rtrim({c}, ' ')",
            "bytes": "lower(hex({c}))",
            "date": "strftime({c}, '%Y-%m-%d')",
            "timestamp": "strftime({c}, '%Y-%m-%d %H:%M:%S.%f')",
            # [1, NULL] as PostgreSQL's {{1,NULL}}
            "integers": "translate({c}::varchar, '[] ', '{{}}')",
        },
    )

    def probed(self, session: Session) -> Capabilities:
        version = str(session.value("select version()"))
        major, minor, patch = (int(part.partition("-")[0]) for part in version.lstrip("v").split(".")[:3])
        codecs = frozenset(codec for codec in CODEC_KINDS if codec == "auto" or _has_codec(session, codec))
        number = major * 10_000 + minor * 100 + patch
        return replace(self.capabilities, version=version, version_number=number, codecs=codecs)

    def rules(self) -> Mapping[str, Rule]:
        return {
            "blocksize": self.judge_blocksize,
            "compression": self.judge_compression,
            "index": self.judge_index,
        }

    def judge_blocksize(self, level: Level, levels: Levels) -> Judged:
        size, legal = size_of("blocksize", level), self.capabilities.block_sizes
        if size in legal:
            return level
        fault = "a power of two"
        if size < min(legal):
            fault = f"greater or equal than the minimum block size of {min(legal)}"
        if size > max(legal):
            fault = f"lesser or equal than the maximum block size of {max(legal)}"
        return Refusal(f"the block size must be {fault}, got {size}")

    def judge_compression(self, level: Level, levels: Levels) -> Judged:
        codec = codec_of("compression", level)
        if codec.name not in self.capabilities.codecs or codec.level is not None:
            known = ", ".join(sorted(self.capabilities.codecs))
            return Refusal(f'DuckDB does not compress with "{level}"; known: {known}')
        if codec.name == "bitpacking" and block_size(levels) < SMALLEST_BITPACKED * 4:
            return Refusal(f"bitpacking does not fit blocks of {levels['blocksize']}: integers are left uncompressed")
        return level

    def column_option(self, column: Column, levels: Levels) -> str:
        """By column: force_compression would be ignored where it does not fit, without a word."""
        codec = codec_for(column, levels)
        return f" using compression {codec}" if codec else ""

    def session_settings(self) -> list[str]:
        """One thread, as the servers run without parallel workers: a result must not hang on the number of cores."""
        return ["set threads = 1"]

    def recorded_settings_sql(self) -> str:
        """Those that bear on storage and plans: there is no default to compare with, and some hold passwords."""
        names = ", ".join(map(literal, RECORDED))
        return f"select name, value from duckdb_settings() where name in ({names}) order by name"

    def block_setup(self, block: str, directory: str, levels: Levels) -> BlockPlace:
        path, database = str(Path(directory) / f"{block}.duckdb"), identifier(block)
        option = f" (block_size {size_of('blocksize', levels['blocksize'])})" if "blocksize" in levels else ""
        table = f"{database}.main.t"
        attach = f"attach if not exists {literal(path)} as {database}{option}"
        detach = f"detach database if exists {database}"
        return BlockPlace(table, (attach, self.drop_table_sql(table)), (detach,), (path, f"{path}.wal"), (attach,))

    def verify(self, session: Session, table: str, columns: tuple[Column, ...], levels: Levels) -> list[str]:
        wrong = []
        database = literal(_database(table))
        found = session.value(f"select block_size from pragma_database_size() where database_name = {database}")
        if "blocksize" in levels and found != size_of("blocksize", levels["blocksize"]):
            wrong.append(f"blocks have {found} bytes, asked for {levels['blocksize']}")
        asked = {column.name: codec for column in columns if (codec := codec_for(column, levels))}
        if levels.get("compression", "auto") != "auto" and not asked:
            wrong.append(f"no column can be compressed with {levels['compression']}")
        for name, codecs in _codecs_found(session, table).items():
            # Segments of one single value are stored as such whatever is asked for.
            if name in asked and (others := codecs - {asked[name], "constant"}):
                wrong.append(f"column {name} is stored {', '.join(sorted(others))}, asked for {asked[name]}")
        return wrong

    def sizes(self, table: str) -> list[SizeQuery]:
        """Blocks of the file by what they hold, after a checkpoint; an index is what is left."""
        storage, database = f"pragma_storage_info({literal(table)})", literal(_database(table))
        blocks = (
            f"select block_id as block from {storage} where persistent"
            f" union all select unnest(additional_block_ids) from {storage}"
        )
        held = f"(select count(distinct block) from ({blocks}) where block >= 0)"
        metadata = f"(select count(distinct block_id) from pragma_metadata_info({database}))"
        parts = {
            "total_bytes": (f"{HEADER_BYTES} + block_size * total_blocks", "the file: its headers and all its blocks"),
            "table_bytes": (f"block_size * {held}", "pragma_storage_info: blocks that hold columns"),
            "index_bytes": (
                f"block_size * (used_blocks - {held} - {metadata})",
                "pragma_database_size: used blocks that hold neither columns nor metadata",
            ),
            "auxiliary_bytes": (
                f"{HEADER_BYTES} + block_size * (free_blocks + {metadata})",
                "headers, metadata (pragma_metadata_info) and free blocks",
            ),
        }
        source = f"from pragma_database_size() where database_name = {database}"
        return [SizeQuery(metric, f"select null, {sql} {source}", method) for metric, (sql, method) in parts.items()]

    def checkpoint_sql(self, table: str) -> str:
        return f"checkpoint {identifier(_database(table))}"

    def copy_sql(self, table: str, source: str, format: str) -> str:
        options = ", ".join(f"{name} {value}" for name, value in reading_options(format).items())
        return f"copy {table} from {source} (format csv, {options})"

    def explain_sql(self, query: str) -> str:
        return f"explain (analyze, format json) {query.strip().rstrip(';')}"

    def read_plan(self, rows: list[tuple[Any, ...]]) -> ReadPlan:
        return read_duckdb_plan(rows)


def _codecs_found(session: Session, table: str) -> dict[str, set[str]]:
    """The codecs of each column's segments on disk."""
    found: dict[str, set[str]] = {}
    for name, codec in session.rows(
        f"select distinct column_name, lower(compression) from pragma_storage_info({literal(table)})"
        " where segment_type <> 'VALIDITY' and persistent"
    ):
        found.setdefault(name, set()).add(codec)
    return found


def _has_codec(session: Session, codec: str) -> bool:
    """Whether the engine knows the codec."""
    column_type = "text" if "text" in CODEC_KINDS[codec] else "integer"
    spelled = "uncompressed" if codec == "none" else codec
    table = "storage_matrix_probe"
    try:
        session.execute(f"create or replace temp table {table} (c {column_type} using compression {spelled})")
    except StatementFailed:
        return False
    session.execute(f"drop table {table}")
    return True


def _database(table: str) -> str:
    """The database in ``"b1".main.t``."""
    return table.partition(".")[0].strip('"')
