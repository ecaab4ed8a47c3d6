"""One connection to a target: it runs SQL, logs and times every statement, and tells its errors apart."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from experiments.model import Statement
from tasks.errors import ServerGone, StatementFailed, StatementTimeout
from tasks.launchers.connection import cancel
from tasks.nodes import Nodes

if TYPE_CHECKING:
    import psycopg
    from duckdb import DuckDBPyConnection
    from sqlalchemy.engine import URL

# What becomes of a statement that is cancelled is ours to tell.
logging.getLogger("psycopg").setLevel(logging.ERROR)

Row = tuple[Any, ...]
COPY_BLOCK = 128 * 1024
"""As psql sends them, more or less; larger ones are no faster."""


GONE = ("57P", "58M01")
"""Classes of SQLSTATE: the server shuts down or has crashed; a cluster has lost the way to one of its nodes."""


class Session(Protocol):
    """What steps and dialects ask of a connection. ``statements`` is the log since it was last emptied.

    ``is_settled`` says that nothing was changed since the last checkpoint, ``is_hinted`` that the rows of the block's
    table have the hint bits that a first scan sets. ``stop``, from another thread, ends what runs and refuses what
    follows, until ``is_stopped`` is taken back. After ``deadline`` (monotonic seconds) no statement begins.
    """

    statements: list[Statement]
    is_settled: bool
    is_hinted: bool
    is_stopped: bool
    deadline: float | None

    def timed(self, sql: str) -> tuple[list[Row], float]:
        """The rows and the seconds by the client's monotonic clock, the fetch included."""
        ...

    def rows(self, sql: str) -> list[Row]: ...

    def value(self, sql: str) -> Any: ...

    def execute(self, sql: str) -> None: ...

    def on_each_node(self, sql: str) -> None:
        """Run a statement that every node of a cluster does for itself, on all of them at once where we reach them."""
        ...

    def send(self, sql: str, file: Path) -> float:
        """Run a COPY FROM STDIN with the bytes of ``file``; the seconds that it took."""
        ...

    def lightly(self) -> AbstractContextManager[None]:
        """What is sent inside leaves a checkpoint no more to write than pages of the catalog."""
        ...

    def stop(self) -> None: ...

    def close(self) -> None: ...


class LoggedSession:
    """The half of a session that no driver changes."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self.is_settled = False
        self.is_hinted = False
        self.is_stopped = False
        self.deadline: float | None = None

    def timed(self, sql: str) -> tuple[list[Row], float]:
        return self._clocked(sql, lambda: self._run(sql))

    def send(self, sql: str, file: Path) -> float:
        return self._clocked(sql, lambda: self._send(sql, file))[1]

    def _clocked(self, sql: str, run: Callable[[], list[Row]]) -> tuple[list[Row], float]:
        if self.is_stopped:
            raise StatementFailed("interrupted")
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise StatementTimeout("its statements together did not end within the limit of a step")
        started = time.perf_counter()
        try:
            rows = run()
        finally:
            seconds = time.perf_counter() - started
            self.statements.append(Statement(sql, seconds))
            self.is_settled = self.is_hinted = False
        return rows, seconds

    @contextmanager
    def lightly(self) -> Iterator[None]:
        before = self.is_settled, self.is_hinted
        yield
        self.is_settled, self.is_hinted = before

    def rows(self, sql: str) -> list[Row]:
        return self.timed(sql)[0]

    def value(self, sql: str) -> Any:
        """The first column of the first row, or None where there is no row."""
        rows = self.rows(sql)
        return rows[0][0] if rows else None

    def execute(self, sql: str) -> None:
        self.timed(sql)

    def on_each_node(self, sql: str) -> None:
        self.execute(sql)

    def stop(self) -> None:
        self.is_stopped = True
        self._cancel()

    def _cancel(self) -> None:
        raise AssertionError("each session says how it ends a statement")

    def _run(self, sql: str) -> list[Row]:
        raise AssertionError("each session says how it runs a statement")

    def _send(self, sql: str, file: Path) -> list[Row]:
        raise StatementFailed("this engine takes no rows from its client", None)


class PostgresSession(LoggedSession):
    """The raw psycopg connection below a SQLAlchemy engine, in autocommit.

    ``timeout`` in seconds becomes the server's own statement_timeout; ``nodes`` are the ways to the single nodes of a
    cluster. Raises ``ServerGone`` where nobody answers.
    """

    def __init__(self, url: URL, timeout: float, nodes: Sequence[URL] = ()) -> None:
        super().__init__()
        import psycopg
        from psycopg.types.string import TextLoader

        from tasks.engines import family_engine

        self.engine = family_engine(url)
        try:
            self._pooled = self.engine.raw_connection()
            self._nodes = Nodes(nodes, timeout)
        except psycopg.Error as error:
            raise ServerGone(one_line(error)) from None
        connection: Any = self._pooled.driver_connection
        self._connection = connection
        self._connection.autocommit = True
        # Greenplum 6 calls plans JSON that are none: dialects read their text.
        self._connection.adapters.register_loader("json", TextLoader)
        self.execute(f"set statement_timeout = {int(timeout * 1000)}")
        self.statements.clear()

    def _run(self, sql: str) -> list[Row]:
        import psycopg

        try:
            cursor = self._connection.execute(sql)
            while cursor.nextset():
                pass
            return cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            raise self._told_apart(error) from None

    def on_each_node(self, sql: str) -> None:
        self._clocked(sql, lambda: self._run_on_nodes(sql) if self._nodes else self._run(sql))

    def _run_on_nodes(self, sql: str) -> list[Row]:
        import psycopg

        try:
            self._nodes.execute(sql)
        except psycopg.Error as error:
            raise self._told_apart(error) from None
        return []

    def _send(self, sql: str, file: Path) -> list[Row]:
        import psycopg

        try:
            with file.open("rb") as rows, self._connection.cursor() as cursor, cursor.copy(sql) as copy:
                while block := rows.read(COPY_BLOCK):
                    copy.write(block)
        except psycopg.Error as error:
            raise self._told_apart(error) from None
        return []

    def _told_apart(self, error: psycopg.Error) -> Exception:
        message = one_line(error)
        if self._connection.closed or self._nodes.is_lost or (error.sqlstate or "").startswith(GONE):
            return ServerGone(message)
        if error.sqlstate == "57014" and "statement timeout" in message:
            return StatementTimeout(message, error.sqlstate)
        return StatementFailed(message, error.sqlstate)

    def _cancel(self) -> None:
        cancel(self._connection)
        self._nodes.cancel()

    def close(self) -> None:
        self._nodes.close()
        self._pooled.invalidate()
        self.engine.dispose()


class DuckDBSession(LoggedSession):
    """DuckDB in this process: an empty database in memory to which the blocks' files are attached."""

    def __init__(self, spill: Path | None, timeout: float) -> None:
        super().__init__()
        self.timeout = timeout
        self._connection = connect_duckdb(spill)

    def _run(self, sql: str) -> list[Row]:
        import duckdb

        expired = threading.Event()
        timer = threading.Timer(self.timeout, self._expire, (expired,))
        timer.daemon = True
        timer.start()
        try:
            result = self._connection.execute(sql)
            return result.fetchall() if result.description else []
        except RuntimeError as error:
            # So it tells of a signal that it has noticed itself.
            if "interrupted" in str(error):
                raise KeyboardInterrupt from error
            raise
        except duckdb.InterruptException as error:
            if expired.is_set():
                raise StatementTimeout(f"no end after {self.timeout:g} s", None) from None
            raise KeyboardInterrupt from error
        except duckdb.FatalException as error:
            raise ServerGone(one_line(error)) from None
        except duckdb.Error as error:
            raise StatementFailed(one_line(error), None) from None
        finally:
            timer.cancel()

    def _expire(self, expired: threading.Event) -> None:
        expired.set()
        self._connection.interrupt()

    def _cancel(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()


def connect_duckdb(spill: Path | None) -> DuckDBPyConnection:
    """A database in memory, without the progress bar: it would be drawn on standard output, inside timed statements."""
    import duckdb

    connection = duckdb.connect(":memory:", config={"temp_directory": str(spill)} if spill else {})
    connection.execute("set enable_progress_bar = false")
    return connection


def open_session(
    url: URL, spill: Path | None, timeout: float, nodes: Sequence[URL] = ()
) -> PostgresSession | DuckDBSession:
    """The session that speaks to ``url``; ``spill`` is where DuckDB may put what memory cannot hold."""
    if url.get_backend_name() == "duckdb":
        return DuckDBSession(spill, timeout)
    return PostgresSession(url, timeout, nodes)


def one_line(error: object) -> str:
    """A server's message on one line."""
    return " ".join(str(error).split())
