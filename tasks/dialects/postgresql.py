"""PostgreSQL 10 to 18: pages of a fixed size, TOAST for long values, table access methods since 12."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from experiments.model import Column, Level, Levels
from tasks.dialects import catalog, gin, upkeep
from tasks.dialects.column_types import toastable
from tasks.dialects.contract import Autovacuum, BlockPlace, Session, SizeQuery
from tasks.dialects.dialect import Dialect, Judged, Refusal, Rule, child_name
from tasks.dialects.digests import DigestSpelling
from tasks.dialects.facts import Capabilities, Fact
from tasks.dialects.levels import index_of, number_of, switch_of, word_of
from tasks.dialects.plans import ReadPlan, read_json_plan
from tasks.dialects.quoting import identifier

DOCS = "https://www.postgresql.org/docs/18/"
SCHEMA = "storage_matrix"
INDEX_METHODS = ("btree", "hash", "gist", "spgist", "gin", "brin")
STRATEGIES = ("default", "plain", "main", "external", "extended")
LOCK = 5_748_372
"""Key of the advisory lock that says that a run of ours is at work in the schema."""

SECRETIVE = "conninfo|command|passphrase|password|secret|token|key"
SECRETS = "passw|secret|://[^/ ]*:[^/ ]*@"
"""Names of settings, and values, that are never read: an archive_command often holds a key."""

QUIET = ("autovacuum_enabled=off", "toast.autovacuum_enabled=off")
"""Autovacuum would change sizes and times while they are read; a step lets it loose where it is what is measured."""

# Pinned so that a plan does not hang on the number of cores, and a commit is durable; by the version that has them.
PINNED = (
    (0, "set synchronous_commit = on"),
    (90600, "set max_parallel_workers_per_gather = 0"),
    (110000, "set max_parallel_maintenance_workers = 0"),
    (110000, "set jit = off"),
)
EXPLAIN_OPTIONS = ((90000, "analyze, buffers"), (120000, "settings"), (130000, "wal"), (90000, "format json"))


class PostgreSQL(Dialect):
    """PostgreSQL, and the ancestor of all that came from it."""

    name = "postgresql"
    version_pattern: ClassVar[str | None] = r"PostgreSQL \d+"
    own_facts: ClassVar[tuple[Fact, ...]] = (
        Fact("version_number", 180000, "The facts hold from 10 on; 18 is assumed until a server was asked.", DOCS),
        Fact("page_size", 8192, "One size for all tables of a build.", f"{DOCS}storage-page-layout.html"),
        Fact("access_methods", ("heap",), "The core has one table access method.", f"{DOCS}tableam.html"),
        Fact("index_methods", INDEX_METHODS, "Extensions add others, bloom for one.", f"{DOCS}indexes-types.html"),
        Fact("unique_methods", ("btree",), "amcanunique.", f"{DOCS}indexes-unique.html"),
        Fact(
            "toast_compression",
            ("pglz", "lz4"),
            "TOAST compresses with pglz, since 14 also with lz4 where it was built in.",
            f"{DOCS}runtime-config-client.html#GUC-DEFAULT-TOAST-COMPRESSION",
        ),
        Fact("toast_strategies", STRATEGIES, "external never compresses.", f"{DOCS}storage-toast.html"),
        Fact("wal_compression", ("pglz", "lz4", "zstd"), "lz4, zstd since 15.", f"{DOCS}runtime-config-wal.html"),
        Fact("fillfactor", range(10, 101), "Percent of each page.", f"{DOCS}sql-createtable.html"),
        Fact("wal_level", "replica", "The default.", f"{DOCS}runtime-config-wal.html"),
        Fact("has_wal", True, "Positions in the WAL can be asked for.", f"{DOCS}functions-admin.html"),
        Fact("has_checkpoint", True, "CHECKPOINT needs a superuser or pg_checkpoint.", f"{DOCS}sql-checkpoint.html"),
        Fact("has_toast", True, "A row must fit on a page; TOAST sees to that.", f"{DOCS}storage-toast.html"),
        Fact("can_copy", True, "COPY FROM STDIN.", f"{DOCS}sql-copy.html"),
        Fact("has_inheritance", True, "INHERITS; LIKE copies the indexes.", f"{DOCS}sql-createtable.html"),
        Fact("has_autovacuum", True, "It is told by table too.", f"{DOCS}routine-vacuuming.html#AUTOVACUUM"),
        Fact("pages_in_plans", True, "EXPLAIN (ANALYZE, BUFFERS) counts page accesses.", f"{DOCS}sql-explain.html"),
    )
    spelling: ClassVar[DigestSpelling] = DigestSpelling(
        octets="octet_length",
        piece="('x' || substr(m, {start}, 7))::bit(28)::int",
        hashed="hashtext({text})",
        mixed="hashint8(({}::bigint << 32) | ({}::bigint & 4294967295))",
        texts={
            **dict.fromkeys(("integer", "numeric", "text", "boolean", "integers"), "{c}::text"),
            "char": "rtrim({c}::text, ' ')",
            "bytes": "encode({c}, 'hex')",
            # to_char, so that DateStyle does not matter; it gives NULL for infinity.
            "date": "coalesce(to_char({c}, 'YYYY-MM-DD'), {c}::text)",
            "timestamp": "coalesce(to_char({c}, 'YYYY-MM-DD HH24:MI:SS.US'), {c}::text)",
        },
    )

    def probed(self, session: Session) -> Capabilities:
        return catalog.server_capabilities(session, self.capabilities)

    def rules(self) -> Mapping[str, Rule]:
        return {
            "access_method": self.judge_access_method,
            "compression": self.judge_compression,
            "toast": self.judge_toast,
            "fillfactor": self.judge_fillfactor,
            "logged": self.judge_logged,
            "index": self.judge_index,
            "fastupdate": self.judge_fastupdate,
            "gin_pending_list_limit": self.judge_pending_list_limit,
        }

    def found(self, factor: str) -> tuple[Level, ...]:
        return tuple(sorted(self.capabilities.access_methods)) if factor == "access_method" else ()

    def judge_access_method(self, level: Level, levels: Levels) -> Judged:
        if word_of("access_method", level) not in self.capabilities.access_methods:
            return Refusal(f'access method "{level}" does not exist')
        return level

    def judge_compression(self, level: Level, levels: Levels) -> Judged:
        """Compression here is that of TOAST, which external and plain storage never use."""
        if levels.get("toast") in catalog.UNCOMPRESSED:
            return None
        if level in self.capabilities.toast_compression:
            return level
        if level in self.fact("toast_compression"):
            return Refusal(f"{level} is not built into this server")
        hint = "; toast = external stores values uncompressed" if level == "none" else ""
        return Refusal(f'invalid compression method "{level}"{hint}')

    def judge_toast(self, level: Level, levels: Levels) -> Judged:
        if level not in self.fact("toast_strategies"):
            return Refusal(f'invalid storage type "{level}"')
        return level

    def judge_fillfactor(self, level: Level, levels: Levels) -> Judged:
        legal = self.fact("fillfactor")
        if number_of("fillfactor", level) not in legal:
            bounds = f'Valid values are between "{legal.start}" and "{legal.stop - 1}".'
            return Refusal(f'value {level} out of bounds for option "fillfactor": {bounds}')
        return level

    def judge_index(self, level: Level, levels: Levels) -> Judged:
        judged = super().judge_index(level, levels)
        if level == self.index_base_level or isinstance(judged, Refusal):
            return judged
        index = index_of("index", level)
        if index.is_unique and index.method not in self.fact("unique_methods"):
            return Refusal(f'access method "{index.method}" does not support unique indexes')
        return judged

    def judge_fastupdate(self, level: Level, levels: Levels) -> Judged:
        """Only GIN puts new entries aside."""
        switch_of("fastupdate", level)
        return level if gin.is_gin(levels) else None

    def judge_pending_list_limit(self, level: Level, levels: Levels) -> Judged:
        """Where no list is kept, its limit means nothing."""
        refused = gin.limit_refusal(level)
        if not gin.has_pending_list(levels):
            return None
        if self.capabilities.version_number < 90500:
            refused = 'unrecognized parameter "gin_pending_list_limit"'
        return Refusal(refused) if refused else level

    def judge_logged(self, level: Level, levels: Levels) -> Judged:
        if not switch_of("logged", level) and self.capabilities.version_number < 90500:
            return Refusal("no ALTER TABLE SET UNLOGGED before PostgreSQL 9.5")
        return level

    def storage(self, levels: Levels, key: str) -> str:
        using = ""
        if "access_method" in levels and self.capabilities.version_number >= 120000:
            using = f" using {word_of('access_method', levels['access_method'])}"
        return f"{using} with ({', '.join(self.storage_options(levels))})"

    def storage_options(self, levels: Levels) -> list[str]:
        return [*fillfactor_option(levels), *QUIET]

    def after_create(self, table: str, columns: tuple[Column, ...], levels: Levels) -> list[str]:
        """Storage and compression by column; 13 and earlier compress with pglz without being told."""
        changes = []
        if levels.get("toast", "default") != "default":
            changes.append(f"set storage {word_of('toast', levels['toast'])}")
        if "compression" in levels and self.capabilities.version_number >= 140000:
            changes.append(f"set compression {word_of('compression', levels['compression'])}")
        statements = [
            f"alter table {table} alter column {identifier(column.name)} {change}"
            for column in toastable(columns)
            for change in changes
        ]
        if not self._is_logged(levels):
            statements.append(f"alter table {table} set unlogged")
        return statements

    @staticmethod
    def _is_logged(levels: Levels) -> bool:
        return switch_of("logged", levels.get("logged", True))

    def session_settings(self) -> list[str]:
        return self._by_version(PINNED)

    def _by_version(self, choices: tuple[tuple[int, str], ...]) -> list[str]:
        return [text for since, text in choices if self.capabilities.version_number >= since]

    def recorded_settings_sql(self) -> str:
        """What differs from the compiled-in value, less what may hold a secret: connection strings, commands, keys."""
        return (
            "select name, setting || coalesce(' ' || nullif(unit, ''), '') from pg_settings"
            " where setting is distinct from boot_val and source not in ('default', 'override', 'client')"
            f" and name !~* '{SECRETIVE}' and setting !~* '{SECRETS}' order by name"
        )

    def lock_sql(self) -> list[str]:
        taken = "another run of storage-matrix is at work on this database"
        return [f"do $$ begin if not pg_try_advisory_lock({LOCK}) then raise exception '{taken}'; end if; end $$"]

    def schema_setup(self) -> list[str]:
        return [*self.lock_sql(), *self._drop_schema(), f"create schema {SCHEMA}"]

    def schema_teardown(self) -> list[str]:
        return [*self._drop_schema(), f"select pg_advisory_unlock({LOCK})"]

    def _drop_schema(self) -> list[str]:
        one_by_one = self._by_version(((110000, upkeep.drop_tables(SCHEMA)),))
        return [*one_by_one, f"drop schema if exists {SCHEMA} cascade"]

    def block_setup(self, block: str, directory: str, levels: Levels) -> BlockPlace:
        table = f"{SCHEMA}.{identifier(f't_{block}')}"
        drop = self.drop_table_sql(table)
        return BlockPlace(table, setup=(drop,), teardown=(drop,))

    def verify(self, session: Session, table: str, columns: tuple[Column, ...], levels: Levels) -> list[str]:
        return [
            *self.table_mismatches(session, table, levels),
            *catalog.toast_mismatches(session, table, columns, levels, self.capabilities.version_number >= 140000),
        ]

    def table_mismatches(self, session: Session, table: str, levels: Levels) -> list[str]:
        """Where the table as a whole differs from the levels."""
        asked = dict(option.split("=") for option in self.storage_options(levels) if not option.startswith("toast."))
        wrong = catalog.option_mismatches(catalog.reloptions(session, table), asked)
        if "access_method" in levels and self.capabilities.version_number >= 120000:
            found = catalog.access_method(session, table)
            wrong += catalog.option_mismatches(
                {"access method": str(found)}, {"access method": levels["access_method"]}
            )
        if catalog.is_logged(session, table) != self._is_logged(levels):
            wrong.append(f"the table is {'un' if self._is_logged(levels) else ''}logged")
        return wrong

    def sizes(self, table: str) -> list[SizeQuery]:
        return catalog.sizes(table)

    def statistics_target_sql(self, target: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """It looks at 300 rows for each of the target, which is 100 by default; a cluster sends them to one node."""
        name = "default_statistics_target"
        return (f"set {name} = {target}",), (f"reset {name}",)

    def column_size_sql(self, table: str, column: Column) -> str | None:
        return catalog.column_size(table, column)

    def wal_flush_sql(self) -> str | None:
        return "select pg_stat_force_next_flush()" if self.capabilities.version_number >= 150000 else None

    def wal_sql(self) -> str | None:
        """By insert position: with synchronous_commit off, what is inserted may not be written yet."""
        images = "(select wal_fpi from pg_stat_wal)" if self.capabilities.version_number >= 140000 else "null::bigint"
        return f"select null::text, {self.wal_position()}, {images}"

    def wal_position(self) -> str:
        """Bytes inserted into this node's WAL since it was made."""
        if self.capabilities.version_number >= 100000:
            return "pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
        return "pg_xlog_location_diff(pg_current_xlog_insert_location(), '0/0')"

    def zero_wal_reason(self, levels: Levels) -> str | None:
        if not self._is_logged(levels):
            return "an unlogged table writes no WAL"
        if self.capabilities.wal_level == "minimal":
            return "wal_level = minimal: a table made or emptied in the loading transaction is synced instead"
        return super().zero_wal_reason(levels)

    def checkpoint_sql(self, table: str) -> str:
        return "checkpoint"

    def vacuum_sql(self, table: str, *, full: bool = False) -> str | None:
        return f"vacuum {'full ' if full else ''}{table}"

    def autovacuum(self, table: str) -> Autovacuum | None:
        return upkeep.autovacuum(table) if self.capabilities.has_autovacuum else None

    def child_sql(self, table: str, number: int) -> str | None:
        if not self.capabilities.has_inheritance:
            return None
        options = ", ".join(self.storage_options({}))
        made = f"create table {child_name(table, number)} (like {table} including all) inherits ({table})"
        return f"{made} with ({options})" if options else made

    def locks_sql(self) -> str | None:
        return upkeep.LOCKS

    def extension_sql(self, name: str) -> str | None:
        return f"create extension if not exists {identifier(name)} schema {SCHEMA}"

    def extension_schema_sql(self, name: str) -> str | None:
        return upkeep.extension_schema(name)

    def add_to_path_sql(self, schema: str) -> str:
        return upkeep.add_to_path(schema)

    def index_options(self, levels: Levels) -> str:
        options = ", ".join(f"{name}={value}" for name, value in gin.index_options(levels).items())
        return f" with ({options})" if options else ""

    def explain_sql(self, query: str) -> str:
        return f"explain ({', '.join(self._by_version(EXPLAIN_OPTIONS))}) {query.strip().rstrip(';')}"

    def read_plan(self, rows: list[tuple[Any, ...]]) -> ReadPlan:
        return read_json_plan(rows, has_pages=self.capabilities.pages_in_plans)


def fillfactor_option(levels: Levels) -> list[str]:
    """The storage parameter, where there is such a level."""
    return [f"fillfactor={number_of('fillfactor', levels['fillfactor'])}"] if "fillfactor" in levels else []
