"""The nodes of a cluster, each spoken to by itself: for what they can all do at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from tasks.launchers.connection import cancel, connect

if TYPE_CHECKING:
    from sqlalchemy.engine import URL


class Nodes:
    """One connection to each node; none at all where the server has no nodes that we can reach.

    ``timeout`` in seconds becomes the statement_timeout. Raises ``psycopg.Error``.
    """

    def __init__(self, urls: Sequence[URL], timeout: float) -> None:
        self._connections = [connect(url, 10) for url in urls]
        for connection in self._connections:
            connection.execute(f"set statement_timeout = {int(timeout * 1000)}".encode())

    def __bool__(self) -> bool:
        return bool(self._connections)

    @property
    def is_lost(self) -> bool:
        """Whether a node has closed its connection."""
        return any(connection.closed for connection in self._connections)

    def execute(self, sql: str) -> None:
        """Run a statement on every node at once; back when the last one has done it, or one has failed."""
        pool = ThreadPoolExecutor(len(self._connections))
        try:
            list(pool.map(lambda connection: connection.execute(sql.encode()), self._connections))
        except KeyboardInterrupt:
            self.cancel()
            raise
        finally:
            pool.shutdown(wait=False)

    def cancel(self) -> None:
        """End what runs on them; may be called from another thread."""
        for connection in self._connections:
            cancel(connection)

    def close(self) -> None:
        for connection in self._connections:
            connection.close()
