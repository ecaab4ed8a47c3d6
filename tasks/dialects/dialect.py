"""The base of every dialect: facts about an engine first, then the SQL that differs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Self

from experiments.model import Column, Level, Levels
from tasks.dialects import digests
from tasks.dialects.column_types import kind_of
from tasks.dialects.contract import Autovacuum, BlockPlace, Session, SizeQuery
from tasks.dialects.facts import Capabilities, Fact, capabilities_from, hash_of
from tasks.dialects.levels import index_of
from tasks.dialects.plans import ReadPlan
from tasks.dialects.quoting import identifier

# Factors that are about storage; a dialect drops those of them that mean nothing to it. Any other factor is the
# experiment's own placeholder and left alone.
STORAGE_FACTORS = frozenset(
    {"orientation", "access_method", "blocksize", "compression", "checksum", "column_encoding", "distribution"}
    | {"toast", "fillfactor", "logged", "index", "fastupdate", "gin_pending_list_limit"}
)


@dataclass(frozen=True)
class Refusal:
    """Why an engine cannot give a level, in the words of its server where they are known."""

    reason: str


# A level as it applies (perhaps spelled as the one that means the same), why it is refused, or None: it means nothing.
Judged = Level | Refusal | None
Rule = Callable[[Level, Levels], Judged]


@dataclass(frozen=True)
class Dialect(ABC):
    """An engine, as its facts describe it or as the live server was probed."""

    capabilities: Capabilities

    name: ClassVar[str]
    own_facts: ClassVar[tuple[Fact, ...]]
    version_pattern: ClassVar[str | None] = None
    """What ``select version()`` looks like; None where the text does not tell the engine from its ancestor."""
    index_base_level: ClassVar[str] = "none"
    spelling: ClassVar[digests.DigestSpelling]

    @classmethod
    def from_facts(cls) -> Self:
        """The dialect before any server was asked."""
        return cls(capabilities_from(facts_of(cls)))

    @property
    def lineage(self) -> tuple[str, ...]:
        """The dialect and its ancestors, itself first."""
        return lineage_of(type(self))

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every fact that holds: its own, and those of its ancestors that it does not replace."""
        return facts_of(type(self))

    @property
    def facts_hash(self) -> str:
        """A hash that changes with the value of a fact; a probe does not change it."""
        return hash_of(self.name, self.facts)

    def fact(self, name: str) -> Any:
        """The value of a fact."""
        return next(fact.value for fact in self.facts if fact.name == name)

    def probe(self, session: Session) -> Self:
        """The same dialect with what the live server really supports."""
        return replace(self, capabilities=replace(self.probed(session), probed=True))

    @abstractmethod
    def probed(self, session: Session) -> Capabilities:
        """The capabilities of the live server."""

    def effective(self, levels: Levels, key: str | None = None) -> tuple[Levels, str | None]:
        """The levels that really apply, and why the engine refuses them if it does.

        ``key`` is the column that rows are told apart by. Raises ``UserError`` for a level that no engine could read.
        """
        rules = self.rules()
        applied: dict[str, Level] = {}
        reason = None
        for factor, level in levels.items():
            judged = rules[factor](level, levels) if factor in rules else self._unruled(factor, level)
            if isinstance(judged, Refusal):
                reason = reason or judged.reason
                applied[factor] = level
            elif judged is not None:
                applied[factor] = judged
        return applied, reason

    @abstractmethod
    def rules(self) -> Mapping[str, Rule]:
        """How each storage factor that means something here is judged."""

    @staticmethod
    def _unruled(factor: str, level: Level) -> Judged:
        return None if factor in STORAGE_FACTORS else level

    def judge_index(self, level: Level, levels: Levels) -> Judged:
        """An index needs an access method that the server has."""
        if level == self.index_base_level:
            return level
        method = index_of("index", level).method
        if method not in self.capabilities.index_methods:
            return Refusal(f'access method "{method}" does not exist')
        return level

    def found(self, factor: str) -> tuple[Level, ...]:
        """The levels of a factor that the server has, whether an experiment declares them or not."""
        return ()

    def residue(self, levels: Levels) -> bool:
        """Whether the in-place levels leave something on the table that taking them back does not remove."""
        return False

    def columns(self, columns: tuple[Column, ...], levels: Levels) -> str:
        """What stands between the parentheses of CREATE TABLE."""
        return ", ".join(f"{identifier(c.name)} {_checked(c).type}{self.column_option(c, levels)}" for c in columns)

    def column_option(self, column: Column, levels: Levels) -> str:
        """What follows a column's type."""
        return ""

    def storage(self, levels: Levels, key: str) -> str:
        """What follows the parentheses of CREATE TABLE; ``key`` is the column that rows are told apart by."""
        return ""

    def after_create(self, table: str, columns: tuple[Column, ...], levels: Levels) -> list[str]:
        """Statements that give an empty table what CREATE TABLE cannot say."""
        return []

    @abstractmethod
    def session_settings(self) -> list[str]:
        """SET statements that pin what would otherwise differ from run to run."""

    @abstractmethod
    def recorded_settings_sql(self) -> str:
        """Rows of name and value: the settings that belong to the circumstances of a measurement."""

    def lock_sql(self) -> list[str]:
        """Statements that keep other runs out for as long as the session lasts."""
        return []

    def schema_setup(self) -> list[str]:
        """Statements that make room for us on the server and remove what an earlier run left; once per run."""
        return []

    def schema_teardown(self) -> list[str]:
        """Statements that remove all that is ours."""
        return []

    @abstractmethod
    def block_setup(self, block: str, directory: str, levels: Levels) -> BlockPlace:
        """Where the rows of a block live; ``directory`` is ours, for engines that keep a file per block."""

    @abstractmethod
    def verify(self, session: Session, table: str, columns: tuple[Column, ...], levels: Levels) -> list[str]:
        """Where the storage in the catalog differs from the levels, one sentence each; after load and checkpoint."""

    @abstractmethod
    def sizes(self, table: str) -> list[SizeQuery]:
        """The sizes of a table and its parts: total is table, toast, index and auxiliary together."""

    def column_size_sql(self, table: str, column: Column) -> str | None:
        """One row: mean bytes of a value as it is stored, and as it is; None where values are not stored one by one."""
        return None

    def wal_flush_sql(self) -> str | None:
        """To be run just before ``wal_sql``, so that the session's own counters are in it."""
        return None

    def wal_sql(self) -> str | None:
        """Rows of node (NULL is the only one), insert position in bytes, full-page images so far or NULL."""
        return None

    def zero_wal_reason(self, levels: Levels) -> str | None:
        """Why a load may write no WAL here; None where 0 bytes are a fault of the measurement."""
        return None if self.capabilities.has_wal else f"{self.name} has no WAL position to read"

    @abstractmethod
    def checkpoint_sql(self, table: str) -> str:
        """Make all that was written durable in its final place."""

    def is_stumble(self, message: str) -> bool:
        """Whether a CHECKPOINT that failed with these words did so for no reason of ours; the next makes up for it."""
        return False

    def has_hint_bits(self, levels: Levels) -> bool:
        """Whether the first reader of a loaded table writes to it what VACUUM would have written."""
        return True

    def vacuum_sql(self, table: str, *, full: bool = False) -> str | None:
        """Set visibility and give space back to the table, or ``full`` to the disk; None where that means nothing."""
        return None

    def autovacuum(self, table: str) -> Autovacuum | None:
        """How autovacuum is let loose on the table; None where there is none."""
        return None

    def child_sql(self, table: str, number: int) -> str | None:
        """Make a table below another one, like it and with its indexes; None where tables have no children."""
        return None

    def locks_sql(self) -> str | None:
        """One row: max_locks_per_transaction, and for how many sessions the lock table is made; None without one."""
        return None

    def extension_sql(self, name: str) -> str | None:
        """Create an extension; None where there are none of that kind."""
        return None

    def extension_schema_sql(self, name: str) -> str | None:
        """The schema that an extension is in, by no row where it has not been created."""
        return None

    def add_to_path_sql(self, schema: str) -> str:
        """Find functions in that schema, too."""
        raise AssertionError(f"{self.name} has no search path to extend by {schema}")

    def index_options(self, levels: Levels) -> str:
        """What follows the columns of CREATE INDEX."""
        return ""

    def analyze_sql(self, table: str) -> str:
        """Gather the optimizer's statistics."""
        return f"analyze {table}"

    def statistics_target_sql(self, target: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Statements before ANALYZE and after it, for it to look at more or fewer rows, where it can be told."""
        return (), ()

    def create_index_sql(self, table: str, level: Level, name: str) -> str:
        """Build the index of a level that is not the base level."""
        index = index_of("index", level)
        columns = ", ".join(map(identifier, index.columns))
        kind = "unique index" if index.is_unique else "index"
        return f"create {kind} {identifier(name)} on {table} using {index.method} ({columns})"

    def drop_index_sql(self, table: str, name: str) -> str:
        """Drop it again; an index lives in the schema of its table."""
        return f"drop index {table.rpartition('.')[0]}.{identifier(name)}"

    def drop_table_sql(self, table: str) -> str:
        """Drop the table, if it is there."""
        return f"drop table if exists {table}"

    @abstractmethod
    def explain_sql(self, query: str) -> str:
        """Run a query and have its plan told."""

    @abstractmethod
    def read_plan(self, rows: list[tuple[Any, ...]]) -> ReadPlan:
        """The plan in the rows that ``explain_sql`` gave."""

    def explained(self, session: Session, query: str) -> ReadPlan:
        """Run a query and read its plan."""
        return self.read_plan(session.rows(self.explain_sql(query)))

    def digest_sql(self, table: str, columns: tuple[Column, ...]) -> str:
        """One row: the count and four sums, the same for the same rows on every engine."""
        return digests.digest_sql(self.spelling, table, columns)

    def fingerprint_sql(self, table: str, columns: tuple[Column, ...]) -> str | None:
        """One row that tells tables on this server apart, and faster; None where there is no such hash."""
        return digests.fingerprint_sql(self.spelling, table, columns)

    def copy_sql(self, table: str, source: str, format: str) -> str:
        """COPY rows into the table; ``source`` is the literal of a path that the server can read, or ``stdin``.

        In the form of before PostgreSQL 9.0, which the whole family still takes; without a word the format is text.
        """
        return f"copy {table} from {source}{' csv' if format == 'csv' else ''}"

    def truncate_sql(self, table: str) -> str:
        """Empty the table."""
        return f"truncate {table}"

    def undo_sql(self) -> str | None:
        """Bytes of undo that the server has written so far; None where there is no undo log."""
        return None


def child_name(table: str, number: int) -> str:
    """The name of a table's child: ``schema."t_0"`` below ``schema."t"``."""
    schema, _, name = table.rpartition(".")
    return f"{schema}.{identifier(f'{name.strip(chr(34))}_{number}')}"


def lineage_of(dialect: type[Dialect]) -> tuple[str, ...]:
    """The names of a dialect and its ancestors, itself first."""
    return tuple(
        ancestor.name for ancestor in dialect.__mro__ if issubclass(ancestor, Dialect) and "name" in vars(ancestor)
    )


@cache
def facts_of(dialect: type[Dialect]) -> tuple[Fact, ...]:
    """Its own facts and those of its ancestors that it does not replace."""
    facts: dict[str, Fact] = {}
    for ancestor in reversed(dialect.__mro__):
        facts |= {fact.name: fact for fact in vars(ancestor).get("own_facts", ())}
    return tuple(facts.values())


def _checked(column: Column) -> Column:
    kind_of(column)
    return column
