"""What can go wrong with a statement, told apart: refused, out of time, or nobody there any more."""

from __future__ import annotations


class StatementFailed(Exception):
    """The server refused a statement. ``sqlstate`` is None where the engine has none (DuckDB)."""

    def __init__(self, message: str, sqlstate: str | None = None) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate


class StatementTimeout(StatementFailed):
    """The statement ran longer than its limit and was cancelled."""


class ServerGone(Exception):
    """The connection broke: the server died or cannot be reached any more."""
