"""The state of the caches before a query: as they are, after a restart, or cold down to the operating system's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.model import UserError

if TYPE_CHECKING:
    from tasks.context import CellContext

DROP_CACHES = Path("/proc/sys/vm/drop_caches")


def bring_about(state: str, context: CellContext) -> None:
    """Make the caches ``hot`` (nothing to do), ``restarted`` (shared buffers empty) or ``cold`` (page cache too).

    Raises ``CellUnsupported`` where the server or the host is not ours to do that to.
    """
    from tasks.context import CellUnsupported

    if state == "hot":
        return
    server = context.server
    if not server.is_ours or server.pid == os.getpid():
        raise CellUnsupported(f"cache={state} needs a server that we started, to restart it")
    if state == "cold" and not os.access(DROP_CACHES, os.W_OK):
        raise CellUnsupported("cache=cold needs root, to drop the page cache")
    try:
        server.restart()
    except UserError as error:
        raise CellUnsupported(str(error)) from None
    if state == "cold":
        os.sync()
        DROP_CACHES.write_text("3")
    context.target.reconnect()
