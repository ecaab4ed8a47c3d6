"""A server at hand: where it answers, what of it is ours, and how it is started again, set and stopped."""

from __future__ import annotations

import os
import shlex
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from experiments.model import UserError
from tasks.launchers.process import started

if TYPE_CHECKING:
    from sqlalchemy.engine import URL


SECRETS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key")
"""What libpq takes as an option and nobody may read (https://www.postgresql.org/docs/current/libpq-connect.html)."""


class SettingsRefused(UserError):
    """The server said no to a setting; the former settings are in force again and the server is up."""


@dataclass(frozen=True)
class Owner:
    """Who a server lives for: a run (a process, known by number and start time) or the user, until ``target down``."""

    kind: Literal["run", "user"]
    pid: int | None = None
    started: str | None = None

    @classmethod
    def run(cls) -> Owner:
        return cls("run", os.getpid(), started(os.getpid()))

    @classmethod
    def user(cls) -> Owner:
        return cls("user")

    def is_alive(self) -> bool:
        return self.kind == "user" or (self.pid is not None and started(self.pid) == self.started)


class Server(ABC):
    """What a launcher gives back. As a context manager it ends its use, not necessarily the server (``close``)."""

    target: str
    url: URL
    data_directory: Path | None = None
    bin_directory: Path | None = None
    """Where the server's own client programs are (``pgbench``, ``psql``); run them with ``program_environment``."""
    program_environment: Mapping[str, str] = {}
    exchange: Path | None = None
    """A directory of ours that the server can enter: for files that its own COPY reads (make them world-readable)."""
    is_ours = True
    """We launched it: it may be restarted, given any setting, and lose its caches; its processes are visible."""
    host = ""
    """The user's name for the machine that it runs on; empty for this one, and where we were not told."""
    is_exclusive = True
    """Nobody else works on it, so CHECKPOINT is allowed."""

    @property
    def is_temporary(self) -> bool:
        """``close`` removes it with all that is in it."""
        return False

    @property
    def settings(self) -> Mapping[str, str]:
        """What was set on it in order to measure."""
        return {}

    @property
    def node_urls(self) -> Sequence[URL]:
        """The ways to each node of a cluster by itself, for a superuser; empty where there is one node, or no way."""
        return ()

    @property
    def pid(self) -> int | None:
        """The process that answers connections (on a cluster the coordinator's)."""
        return next(iter(self.processes()), None)

    @abstractmethod
    def version(self) -> str:
        """The server's own version text."""

    @abstractmethod
    def processes(self) -> list[int]:
        """Its processes, postmasters first; empty where they cannot be seen."""

    @abstractmethod
    def alive(self) -> bool:
        """It accepts a connection now."""

    @abstractmethod
    def revive(self) -> None:
        """After a crash: wait for its own recovery or start it again; a UserError with exit code 4 if it stays away."""

    @abstractmethod
    def restart(self, settings: Mapping[str, str] | None = None) -> None:
        """Restart with the same settings, or with those of the launch and these; connections are lost.

        Raises SettingsRefused where the server says so, ServerGone where it died of it or was killed; with the former
        settings in force again.
        """

    def restore(self) -> None:  # noqa: B027 - most kinds of server have nothing to undo
        """Back to the settings of the launch."""

    @abstractmethod
    def stop(self) -> None:
        """End it for good and remove its files; a server that is not ours is left alone."""

    def close(self) -> None:
        """End its use: a run's server stops, the user's stays up with the settings that it had."""
        self.stop()

    def free_bytes(self) -> int | None:
        """Free space where its data lies; None where we cannot know."""
        return shutil.disk_usage(self.data_directory).free if self.data_directory else None

    def psql_line(self) -> str:
        """A line to paste into a shell; it names the password's file, never the password or another secret."""
        return f"psql {shlex.quote(str(self._told_url()._replace(drivername='postgresql', password=None)))}"

    def _told_url(self) -> URL:
        """Without the secrets of its query; SQLAlchemy hides the password only."""
        return self.url.difference_update_query(SECRETS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.target} {self._told_url()!r}>"
