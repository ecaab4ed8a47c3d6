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
    """SQL for one size: rows of node (NULL is the whole target) and bytes; ``method`` says what is counted."""

    metric: str
    sql: str
    method: str


@dataclass(frozen=True)
class BlockPlace:
    """Where a block's rows live. ``files`` are for the caller to remove once ``teardown`` has run."""

    table: str
    setup: tuple[str, ...]
    teardown: tuple[str, ...]
    files: tuple[str, ...] = ()
