"""Launcher ``dsn``: a server that is already running and not ours. Nothing of it is started, set or stopped."""

from __future__ import annotations

import ipaddress
import os
import socket
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from experiments.language import DSN_SOURCES
from experiments.model import Target, UserError
from tasks.launchers.connection import answer, connect, is_up, told_without
from tasks.launchers.place import Place
from tasks.launchers.process import family
from tasks.launchers.server import Owner, Server, SettingsRefused

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

FORM = "postgresql://USER@HOST:PORT/DATABASE"
ATTEMPT_SECONDS = 4
"""For each address that a host name has."""
PATIENCE_SECONDS = 8
"""For all of them, and for a name server that does not answer either."""


class RunningServer(Server):
    """Reached by URL; ``exclusive`` on the target allows CHECKPOINT."""

    is_ours = False

    def __init__(self, target: Target, url: URL) -> None:
        self.target = target.name
        self.url = url
        self.is_exclusive = target.exclusive
        self.host = str(target.options.get("host", ""))
        self._version = _ask(target.name, url, "select version()")
        self._postmaster = _postmaster(url)

    def version(self) -> str:
        return self._version

    def processes(self) -> list[int]:
        return family(self._postmaster) if self._postmaster else []

    def alive(self) -> bool:
        return is_up(self.url)

    def revive(self) -> None:
        """Its own business; we ask once more."""
        _ask(self.target, self.url, "select 1")

    def restart(self, settings: Mapping[str, str] | None = None) -> None:
        asked = f" with {', '.join(settings)}" if settings else ""
        raise SettingsRefused(f'target "{self.target}": not started by us, so it is not restarted{asked}')

    def stop(self) -> None:
        """Not ours to stop."""


def launch(
    target: Target, place: Place, owner: Owner, settings: Mapping[str, str], secrets: Mapping[str, str]
) -> RunningServer:
    if owner.kind == "user":
        raise UserError(f'target "{target.name}": not a server that storage-matrix starts or stops (launcher dsn)')
    server = RunningServer(target, find_url(target, place.environ, secrets))
    if settings:
        server.restart(settings)
    return server


def find_url(target: Target, environ: Mapping[str, str], secrets: Mapping[str, str]) -> URL:
    """The URL of the command line, or of the one place that the target names."""
    if target.name in secrets:
        return read_url(target, secrets[target.name])
    source = next((name for name in DSN_SOURCES if name in target.options), None)
    if source is None:
        raise UserError(f'target "{target.name}": needs one of {", ".join(DSN_SOURCES)}')
    named = str(target.options[source])
    match source:
        case "service":
            return _url({"service": named})
        case "url_env" if named not in environ:
            raise UserError(f'target "{target.name}": url_env names ${named}, which is not set', 4)
        case "url_env":
            return read_url(target, environ[named])
        case "prefect_block":
            return read_url(target, _prefect_secret(target, named))
    return read_url(target, named)


def read_url(target: Target, text: str) -> URL:
    """A URL or a libpq connection string. A mistake in it is reported without it: it may hold a password."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    scheme, mark, rest = text.strip().partition("://")
    dialect = scheme.partition("+")[0]
    if mark and dialect not in ("postgresql", "postgres"):
        raise UserError(f'target "{target.name}": URL of type "{dialect}"; known is {FORM}')
    try:
        return _url(conninfo_to_dict(f"postgresql://{rest}" if mark else text))
    except (psycopg.Error, ValueError):
        raise UserError(f'target "{target.name}": its URL cannot be read; expected is {FORM}') from None


def _url(words: Mapping[str, Any]) -> URL:
    """Several hosts, sockets and all further options travel in the query, as psycopg names them."""
    from sqlalchemy.engine import URL

    rest = {name: str(value) for name, value in words.items()}
    user, password, database = (rest.pop(name, None) for name in ("user", "password", "dbname"))
    host, port = rest.get("host", ""), rest.get("port", "")
    if not all(number.isdigit() for number in port.split(",") if number) or "@" in f"{database or ''}{host[1:]}":
        # An unescaped / or @ in a password cuts it to pieces, which would be told as host, port and database.
        raise ValueError("not a URL")
    if host and "," not in host and not host.startswith("/") and (not port or port.isdigit()):
        del rest["host"]
        number = int(rest.pop("port")) if port else None
        return URL.create("postgresql+psycopg", user, password, host, number, database, rest)
    return URL.create("postgresql+psycopg", user, password, None, None, database, rest)


def _prefect_secret(target: Target, name: str) -> str:
    from prefect.blocks.system import Secret

    try:
        return str(Secret.load(name, _sync=True).get())  # type: ignore[call-arg, union-attr]
    except ValueError:
        raise UserError(f'target "{target.name}": Prefect has no Secret block "{name}"', 4) from None


def _ask(target: str, url: URL, sql: str) -> str:
    """The answer, asked in a thread: a name server or a host that swallows packets must not hold us longer.

    Raises ``UserError`` with exit code 4 where none comes.
    """
    found: list[str] = []
    failed: list[Exception] = []

    def ask() -> None:
        try:
            found.append(str(answer(url, sql, ATTEMPT_SECONDS)))
        except Exception as error:  # noqa: BLE001 - whatever a driver raises is the reason that we report
            failed.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    if found:
        return found[0]
    reason = told_without(str(failed[0]), url.password) if failed else f"no answer within {PATIENCE_SECONDS} s"
    raise UserError(f'target "{target}": cannot reach {where(url)}: {reason}', 4)


def where(url: URL) -> str:
    """Host, port and database in words; what the URL leaves out comes from libpq's own environment."""
    if "service" in url.query:
        return f'service "{url.query["service"]}"'
    host = url.host or url.query.get("host") or os.environ.get("PGHOST") or "the local socket"
    port = url.port or url.query.get("port") or os.environ.get("PGPORT") or 5432
    database = url.database or os.environ.get("PGDATABASE") or url.username or "its default database"
    return f"host {host}, port {port}, database {database}"


def _postmaster(url: URL) -> int | None:
    """The parent of the process that serves us, if the server runs on this host and we may read its counters.

    A number that the server tells may belong to another process here (a container has numbers of its own): it must be
    a child that started when the server says and be called postgres.
    """
    import psutil
    import psycopg

    if not _is_here(url):
        return None
    try:
        with connect(url, ATTEMPT_SECONDS) as connection:
            row = connection.execute(
                "select pid, extract(epoch from backend_start)::float8"
                " from pg_stat_activity where pid = pg_backend_pid()"
            ).fetchone()
            if row is None:
                return None
            process = psutil.Process(row[0])
            if abs(process.create_time() - row[1]) > 2 or not process.name().startswith("postgres"):
                return None
            parent = process.parent()
            if parent is not None:
                parent.io_counters()
            return parent.pid if parent else None
    except (psutil.Error, psycopg.Error, AttributeError, OverflowError):  # openGauss has 64-bit thread numbers
        return None


def _is_here(url: URL) -> bool:
    host = str(url.host or url.query.get("host") or "/")
    if host.startswith(("/", "@")):
        return True
    try:
        return ipaddress.ip_address(socket.gethostbyname(host)).is_loopback
    except (OSError, ValueError):
        return False
