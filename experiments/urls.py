"""Database URLs: which engine they mean, and whether they hold a password. No message of ours repeats a URL."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

from experiments.naming import listed, quoted

URL = re.compile(r"(?P<scheme>[a-z][a-z0-9]*)(?:\+[a-z0-9_]+)?:(?P<rest>.*)", re.DOTALL)
# Scheme -> launcher and dialect; libpq knows both spellings of PostgreSQL's.
SCHEMES = {
    "postgresql": ("dsn", "postgresql"),
    "postgres": ("dsn", "postgresql"),
    "duckdb": ("file", "duckdb"),
}
# What stands before the last @ is user and password, whatever signs a careless password has; libpq takes one in the
# query too.
PASSWORD = re.compile(r"://[^@]*:.*@|[?&](ssl)?password=", re.IGNORECASE | re.DOTALL)


class UrlKind(NamedTuple):
    """What a URL says without its secrets; ``path`` is a directory for files, else None."""

    launcher: str
    dialect: str
    path: str | None


def read_url(url: str) -> UrlKind:
    """What kind of place a URL is; raises ``ValueError`` with a sentence that does not repeat it."""
    match = URL.fullmatch(url)
    if match is None:
        raise ValueError("not a URL such as postgresql://host/database")
    if match["scheme"] not in SCHEMES:
        raise ValueError(f"unknown URL scheme {quoted(match['scheme'])}; {listed('scheme', SCHEMES)}")
    launcher, dialect = SCHEMES[match["scheme"]]
    if launcher == "file":
        return UrlKind(launcher, dialect, _path(match["rest"]))
    if not match["rest"].startswith("//"):
        raise ValueError("not a URL such as postgresql://host/database")
    return UrlKind(launcher, dialect, None)


def _path(rest: str) -> str:
    """As in SQLAlchemy, ``///relative`` and ``////absolute``; a plain path too."""
    path = rest.removeprefix("///") if rest.startswith("///") else rest.removeprefix("//")
    if not path:
        raise ValueError("names no directory; write duckdb:///path")
    return path


def has_password(url: str) -> bool:
    """Whether a password stands in the URL."""
    return bool(PASSWORD.search(unquote(url)))
