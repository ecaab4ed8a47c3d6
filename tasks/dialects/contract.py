"""What a dialect needs of a connection, and what it gives back to those who have one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


class Session(Protocol):
    """A connection that runs SQL. A refused statement raises ``StatementFailed``."""

    def rows(self, sql: str) -> list[tuple[Any, ...]]: ...

    def value(self, sql: str) -> Any: ...

    def execute(self, sql: str) -> None: ...


@dataclass(frozen=True)
class SizeQuery:
    """SQL for one size: rows of node (NULL is the whole target) and value; ``method`` says what is counted.

    ``absent`` is the reason of a NULL. With one the server may also refuse to answer; without one that fails the step.
    """

    metric: str
    sql: str
    method: str
    absent: str | None = None


@dataclass(frozen=True)
class BlockPlace:
    """Where a block's rows live. ``files`` are for the caller to remove once ``teardown`` has run.

    ``reach`` is what a new session needs before it sees them.
    """

    table: str
    setup: tuple[str, ...]
    teardown: tuple[str, ...]
    files: tuple[str, ...] = ()
    reach: tuple[str, ...] = ()


@dataclass(frozen=True)
class Autovacuum:
    """How autovacuum is let loose on a table and called back, and the SQL that tells of its ``visits``.

    ``is_on`` is SQL for whether the server runs it anyway; where it does not, ``start`` and ``stop`` change a setting
    of the whole server.
    """

    is_on: str
    start: tuple[str, ...]
    allow: str
    visits: str
    is_at_work: str
    dead_tuples: str
    forbid: str
    stop: tuple[str, ...]
