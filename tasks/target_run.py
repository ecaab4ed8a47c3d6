"""One target during one run: up, probed, with a schema of our own, the rows made and the looked-up values read."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from experiments.model import Experiment, Level, Levels, Target, UserError
from experiments.sqlfiles import rendered_sql, sql_file
from experiments.template import Fragment
from tasks.datafiles import RowFile
from tasks.dialects.dialect import Dialect
from tasks.dialects.quoting import identifier
from tasks.dialects.registry import probe
from tasks.environment import host_facts
from tasks.errors import ServerGone, StatementFailed, StatementTimeout
from tasks.launchers.server import Server, SettingsRefused
from tasks.session import DuckDBSession, PostgresSession, open_session

IDLE_SECONDS = 0.25
NOT_ALLOWED = "42501"
"""SQLSTATE insufficient_privilege."""


class TargetRun:
    """The live side of a target. ``values`` are the placeholders that every cell of it shares.

    ``data`` is where files of rows are kept, ``settings`` what the block has set on the server.
    ``failure`` is set where the rows could not be made: every cell of this target then fails with that reason.
    ``note_environment`` is called when other settings have made another environment; ``program`` is a client program
    that runs beside the session.
    """

    def __init__(self, target: Target, server: Server, timeout: float, data: Path | None = None) -> None:
        self.target = target
        self.server = server
        self.timeout = timeout
        self.data = data or Path(server.exchange or ".")
        self.settings: Mapping[str, str] = {}
        self.values: dict[str, object] = {}
        self.failure: StatementFailed | None = None
        self.environment_id: str | None = None
        self.note_environment: Callable[[], None] = lambda: None
        self.program: subprocess.Popen[str] | None = None
        self._reach: tuple[str, ...] = ()
        self.session = self._connect()
        try:
            self.dialect: Dialect = probe(self.session, target.dialect)
            self._pin()
            self.make_room()
        except BaseException:
            self.session.close()
            raise

    def _connect(self) -> PostgresSession | DuckDBSession:
        try:
            return open_session(self.server.url, self.server.data_directory, self.timeout, self.server.node_urls)
        except ServerGone as error:
            raise UserError(f"target {self.target.name}: no connection: {error}", exit_code=4) from None

    def _pin(self) -> None:
        """Pin the session, but for what the block or the target has set on the server: that is to hold."""
        for statement in self.dialect.session_settings():
            if statement.split()[1] not in self.server.settings:
                self.session.execute(statement)

    def make_room(self) -> None:
        """Our schema, empty: what a killed run left in it goes; a run that is still at work keeps us out."""
        try:
            for statement in self.dialect.schema_setup():
                self.session.execute(statement)
        except StatementFailed as error:
            url, told = self.server.url, str(error)
            if error.sqlstate == NOT_ALLOWED:
                database, role = identifier(url.database or ""), identifier(url.username or "")
                told += f"; it needs: grant create on database {database} to {role}"
            raise UserError(f"target {self.target.name}: no schema of our own: {told}", exit_code=4) from None

    def reconnect(self) -> None:
        """A new session after a restart or a crash, pinned like the one before, that goes on with its log.

        Raises ``UserError`` where the server does not answer, or another run has come in meanwhile.
        """
        former = self.session
        former.close()
        self.session = self._connect()
        try:
            for statement in (*self.dialect.lock_sql(), *self._reach):
                self.session.execute(statement)
            self._pin()
        except (StatementFailed, ServerGone) as error:
            raise UserError(f"target {self.target.name}: {error}", exit_code=4) from None
        self.session.statements = former.statements
        self.session.is_stopped, self.session.deadline = former.is_stopped, former.deadline

    def settle(self, settings: Mapping[str, str]) -> None:
        """Have the server run with ``settings`` on top of those of its launch; it restarts where it does not yet.

        Raises ``SettingsRefused`` with the former ones in force, ``UserError`` where it does not come back, and
        ``ServerGone`` where it has died before: that is to be told, not mended by the way.
        """
        if settings == self.settings:
            return
        if not self.server.alive():
            raise ServerGone("found dead before a restart")
        try:
            self.server.restart(settings)
        except SettingsRefused:
            self.reconnect()
            raise
        self.settings = dict(settings)
        self.reconnect()
        # What it can do may hang on a setting: wal_level for one.
        self.dialect = self.dialect.probe(self.session)
        self.note_environment()

    def file(self, experiment: Experiment, name: str, levels: Levels) -> RowFile:
        """A file of the experiment for these levels; not yet made."""
        return RowFile.of(experiment, name, {**self.values, **levels}, self.data, self.server.exchange)

    def make_rows(self, experiment: Experiment, parameters: Mapping[str, Level]) -> None:
        """Make the source table and read the looked-up values from it."""
        self.values = dict(parameters)
        try:
            if experiment.source is not None:
                place = self.dialect.block_setup("source", str(self.server.data_directory), {})
                self.values["source"] = Fragment(place.table)
                self._reach = place.reach
                for statement in (*place.setup, self._sql(experiment, experiment.source)):
                    self.session.execute(statement)
            for name, file in experiment.values.items():
                self.values[name] = self._looked_up(experiment, name, file)
        except StatementFailed as error:
            if self.has_died(error):
                raise ServerGone(str(error)) from None
            self.failure = error

    def has_died(self, error: Exception) -> bool:
        """Whether an error is the server's death. On a cluster a node may die behind the one that we talk to."""
        is_refused = isinstance(error, StatementFailed) and not isinstance(error, StatementTimeout)
        return isinstance(error, ServerGone) or (is_refused and not self.server.alive())

    def _looked_up(self, experiment: Experiment, name: str, file: str) -> Any:
        value = self.session.value(self._sql(experiment, file))
        if value is None:
            shown = sql_file(experiment.sql, file, self.dialect.lineage)
            raise StatementFailed(f"value {name}: sql/{shown} gave no row to look up", None)
        return value

    def _sql(self, experiment: Experiment, name: str) -> str:
        return rendered_sql(experiment, name, self.dialect.lineage, self.values)

    def environment(self) -> dict[str, Any]:
        """The circumstances of this target: host, engine, settings that differ from the default, idle WAL."""
        settings = {name: value for name, value, *_ in self.session.rows(self.dialect.recorded_settings_sql())}
        return {**self._lasting_facts, "settings": settings}

    @cached_property
    def _lasting_facts(self) -> dict[str, Any]:
        """What a restart with other settings does not change."""
        facts = host_facts(Path(self.server.data_directory or "."))
        facts["dialect"] = self.dialect.name
        facts["engine"] = self.dialect.capabilities.version
        facts["is_ours"] = self.server.is_ours
        facts["checkpoint"] = self.no_checkpoint or "before timed steps and after loads"
        facts["idle_wal_bytes_per_second"] = self.idle_wal
        return facts

    @property
    def no_checkpoint(self) -> str | None:
        """Why there is no CHECKPOINT before timed steps and after loads; None where there is."""
        if not self.server.is_exclusive:
            return "no checkpoint: the target is not exclusive"
        return None if self.dialect.capabilities.has_checkpoint else "no checkpoint: the role has no right to it"

    @cached_property
    def idle_wal(self) -> float | None:
        """Bytes of WAL a second that the server writes when nobody asks it anything; None where it has no WAL."""
        statement = self.dialect.wal_sql()
        if statement is None:
            return None
        before = sum(float(row[1]) for row in self.session.rows(statement))
        time.sleep(IDLE_SECONDS)
        return (sum(float(row[1]) for row in self.session.rows(statement)) - before) / IDLE_SECONDS

    def processes(self) -> list[int]:
        """The server's processes; none where only some are seen: of a cluster that is not ours the coordinator's."""
        is_partly_seen = self.dialect.capabilities.segments > 0 and not self.server.is_ours
        return [] if is_partly_seen else self.server.processes()

    def close(self) -> None:
        """Remove what is ours from a server that stays, and leave it; where that fails the next run does it."""
        try:
            for statement in () if self.server.is_temporary else self.dialect.schema_teardown():
                self.session.execute(statement)
        except (StatementFailed, ServerGone):
            return
        finally:
            self.session.close()
            self.server.close()


def place_levels(dialect: Dialect, levels: Levels, table: str, experiment: Experiment) -> dict[str, object]:
    """The placeholders that differ from cell to cell: table, columns, storage and the levels themselves."""
    schema = table.rpartition(".")[0]
    return {
        **levels,
        "table": Fragment(table),
        "columns": Fragment(dialect.columns(experiment.columns, levels)),
        "storage": Fragment(dialect.storage(levels, experiment.key)),
        "schema": Fragment(schema),
        "table_name": table,
        "schema_name": schema,
    }
