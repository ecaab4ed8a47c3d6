"""Short connections of the launchers' own: is it up, what is it, one statement. Timed work has sessions of its own."""

from __future__ import annotations

import os
import re
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg
    from sqlalchemy.engine import URL

CANCEL_SECONDS = 5


def connect(url: URL, seconds: int, **more: Any) -> psycopg.Connection[Any]:
    """A psycopg connection with autocommit. ``seconds`` is spent per address that the host name has."""
    import psycopg

    words: dict[str, Any] = {**url.translate_connect_args(database="dbname", username="user"), **url.query}
    return psycopg.connect(**words | {"connect_timeout": seconds, "autocommit": True} | more)


def cancel(connection: psycopg.Connection[Any]) -> None:
    """End the statement that another thread waits for. Where the server takes no such request, its line is cut."""
    import psycopg

    try:
        connection.cancel_safe(timeout=CANCEL_SECONDS)
    except psycopg.Error:
        with (
            suppress(psycopg.Error, OSError),  # it has closed itself meanwhile
            socket.socket(fileno=os.dup(connection.fileno())) as line,
        ):
            line.shutdown(socket.SHUT_RDWR)


def answer(url: URL, sql: str, seconds: int = 5, **more: Any) -> Any:
    """The first column of the first row."""
    with connect(url, seconds, **more) as connection:
        row = connection.execute(sql.encode()).fetchone()
    return row[0] if row else None


def is_up(url: URL) -> bool:
    import psycopg

    try:
        return bool(answer(url, "select true", seconds=2))
    except psycopg.Error:
        return False


def told_without(text: str, secret: object) -> str:
    """A driver's message as one line, without the secret in it."""
    line = re.sub(r"\s+", " ", text).strip()
    return line.replace(str(secret), "***") if secret else line
