"""What all servers of the PostgreSQL family that we launch have in common: settings, restart, revival, end."""

from __future__ import annotations

import os
import re
import secrets
import shlex
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.model import Target, UserError
from experiments.settings import server_text
from tasks.errors import ServerGone
from tasks.launchers.connection import answer, is_up
from tasks.launchers.postmaster import Postmaster, StartFailed, discard
from tasks.launchers.process import Account, wait_until
from tasks.launchers.record import ServerFolder
from tasks.launchers.server import Owner, Server, SettingsRefused
from tasks.launchers.watch import Watch

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

SUPERUSER = "postgres"
RECOVERY_SECONDS = 120
SOCKET_PATH_BYTES = 107
"""What the system allows a socket's path to have (sun_path, without its final zero byte)."""


class LaunchedServer(Server):
    """One or more postmasters in one folder, the one that answers clients first."""

    def __init__(self, target: Target, folder: ServerFolder, nodes: Sequence[Postmaster]) -> None:
        self.target = target.name
        self.folder = folder
        self.nodes = nodes
        self.exchange = folder.path
        self.data_directory = nodes[0].data
        self.bin_directory = nodes[0].programs
        self.program_environment = nodes[0].environment
        self._watch: Watch | None = None

    @property
    def is_temporary(self) -> bool:
        return self.folder.record.owner.kind == "run"

    @property
    def settings(self) -> Mapping[str, str]:
        return {**self.folder.record.settings, **self.folder.record.asked}

    @abstractmethod
    def configure(self) -> None:
        """Write ``settings`` for every node."""

    def start(self) -> None:
        """Start what is down and wait until all of it answers, be it after a recovery of its own."""
        self._unwatch()

        def is_back() -> bool:
            self._start_nodes()
            return self.alive()

        if not wait_until(is_back, RECOVERY_SECONDS):
            raise StartFailed(f"no answer within {RECOVERY_SECONDS} s", is_told=False)
        self._watch = Watch(self.nodes)

    def _unwatch(self) -> None:
        """Before a postmaster ends because we want it to."""
        if self._watch is not None:
            self._watch.end()
            self._watch = None

    def _start_nodes(self) -> None:
        """All at once: each waits for itself, and on a cluster for the others."""
        down = [node for node in self.nodes if node.pid() is None]
        if down:
            with ThreadPoolExecutor(len(down)) as pool:
                list(pool.map(Postmaster.start, down))

    def halt(self) -> None:
        self._unwatch()
        for node in self.nodes:
            node.stop()

    def begin(self, owner: Owner, asked: Mapping[str, str]) -> None:
        """The first start, and the hand-over to its owner once it is up."""
        try:
            self._start_with(asked)
        except StartFailed as failure:
            if asked:
                raise self._refused(asked, failure) from None
            raise self._gone(failure) from None
        if owner.kind == "user":
            self.folder.save(owner=owner)

    def version(self) -> str:
        return str(answer(self.url, "select version()"))

    def processes(self) -> list[int]:
        families = [node.processes() for node in self.nodes]
        return [family[0] for family in families if family] + [pid for family in families for pid in family[1:]]

    def alive(self) -> bool:
        return is_up(self.url)

    def revive(self) -> None:
        self._forget_altered()
        try:
            self.start()
        except StartFailed as failure:
            raise self._gone(failure) from None

    def restart(self, settings: Mapping[str, str] | None = None) -> None:
        former = self.folder.record.asked
        try:
            self._restart_with(former if settings is None else merged(settings))
        except StartFailed as failure:
            if settings is None:
                raise self._gone(failure) from None
            self._go_back(former)
            if not failure.is_told:
                raise ServerGone(f"while it was started: {failure}") from None
            raise self._refused(settings, failure) from None

    def _go_back(self, former: Mapping[str, str]) -> None:
        try:
            self._restart_with(former)
        except StartFailed as failure:
            raise self._gone(failure) from None

    def _restart_with(self, asked: Mapping[str, str]) -> None:
        """The record first: should we be killed, the next user of a server that stays up knows what to undo."""
        self.folder.save(asked=dict(asked))
        self.halt()
        self._start_with(asked)

    def _start_with(self, asked: Mapping[str, str]) -> None:
        """A setting that the server starts without is as good as refused."""
        self.configure()
        self.start()
        refused = [f'"{name}": {words}' for name, words in self.nodes[0].ignored.items() if name in asked]
        if refused:
            raise StartFailed("; ".join(refused))

    def restore(self) -> None:
        self._forget_altered()
        if self.folder.record.asked:
            self.restart({})

    def _forget_altered(self) -> None:
        for node in self.nodes:
            node.forget_altered()

    def stop(self) -> None:
        self._unwatch()
        discard(self.folder)

    def close(self) -> None:
        if self.is_temporary:
            self.stop()
            return
        self.restore()
        self._unwatch()
        self.folder.release()

    def psql_line(self) -> str:
        where = {"-h": self.url.query.get("host") or self.url.host, "-p": self.url.query.get("port") or self.url.port}
        words = [word for pair in {**where, "-U": self.url.username, "-d": self.url.database}.items() for word in pair]
        program, environment = self.client()
        known = {**environment, "PGPASSFILE": self.folder.path / "pgpass"}
        prefix = [f"{name}={shlex.quote(str(value))}" for name, value in known.items()]
        return " ".join([*prefix, shlex.join(str(word) for word in [program, *words])])

    def client(self) -> tuple[Path, Mapping[str, str]]:
        """The psql for people, and the environment that it needs."""
        return self.nodes[0].programs / "psql", self.program_environment

    def _gone(self, reason: object) -> UserError:
        return UserError(f'target "{self.target}": the server is not up: {reason}', 4)

    def _refused(self, settings: Mapping[str, str], reason: object) -> SettingsRefused:
        asked = ", ".join(f"{name} = {value}" for name, value in settings.items())
        return SettingsRefused(f'target "{self.target}": the server refused {asked}: {reason}')


def socket_url(folder: ServerFolder, port: int) -> URL:
    """The server's private socket. SQLAlchemy hides the password wherever a URL is printed."""
    from sqlalchemy.engine import URL

    where = {"host": str(sockets(folder)), "port": str(port)}
    return URL.create("postgresql+psycopg", SUPERUSER, password(folder), database="postgres", query=where)


def sockets(folder: ServerFolder) -> Path:
    return folder.path / "socket"


def access_rules(folder: ServerFolder) -> Path:
    return folder.path / "pg_hba.conf"


def write_access_rules(folder: ServerFolder) -> None:
    """Everybody is asked for the password, on the socket and on loopback; the server's user reads the file."""
    path = access_rules(folder)
    path.write_text("local all all md5\nhost all all 127.0.0.1/32 md5\n")
    path.chmod(0o644)


def make_sockets(folder: ServerFolder) -> None:
    path = make_directory(sockets(folder), folder.record.account)
    if len(os.fsencode(path / ".s.PGSQL.65535")) > SOCKET_PATH_BYTES:
        raise UserError(f"{path}: too long for a socket; set $STORAGE_MATRIX_DATA to a shorter directory")


def make_directory(path: Path, account: Account) -> Path:
    """A directory that only the server's user enters."""
    path.mkdir(mode=0o700)
    if not account.is_self:
        os.chown(path, account.uid, account.gid)
    return path


def make_password(folder: ServerFolder, prefix: str = "") -> None:
    """In libpq's own form, so that a person can use it too; for us only.

    ``prefix`` is for a server that insists on other characters than hex digits; 32 are the most that openGauss takes.
    """
    word = f"{prefix}{secrets.token_hex(16)}"[:32]
    write_private(folder.path / "pgpass", f"*:*:*:{SUPERUSER}:{word}\n")


def password(folder: ServerFolder) -> str:
    return (folder.path / "pgpass").read_text().strip().rpartition(":")[2]


def write_private(path: Path, text: str, account: Account | None = None) -> Path:
    """A file that is closed to others from its first moment, for us or for the server's user."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    if account is not None and not account.is_self:
        os.chown(path, account.uid, account.gid)
    return path


def merged(*tables: Mapping[str, object]) -> dict[str, str]:
    """Settings as text, later ones winning; names are case-insensitive to the server."""
    found: dict[str, tuple[str, str]] = {}
    for table in tables:
        for name, value in table.items():
            if not re.fullmatch(r"[A-Za-z_][\w.]*", name):
                raise UserError(f"server setting {name!r}: not a name of a setting")
            found[name.lower()] = (found.get(name.lower(), (name, ""))[0], server_text(value))
    return dict(found.values())
