"""A watch over postmasters: one that dies takes along what it started, so that nobody waits for it in vain."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from tasks.launchers.postmaster import Postmaster
from tasks.launchers.process import started

SECONDS = 0.5


class Watch:
    """Over the postmasters that run at its beginning; ``end`` it before one is stopped or started again.

    A backend outlives its postmaster: it works its statement to the end, then may wait for a checkpointer that has
    gone, and answers no request to cancel, since those come by way of the postmaster.
    """

    def __init__(self, postmasters: Sequence[Postmaster]) -> None:
        pids = [(postmaster, postmaster.pid()) for postmaster in postmasters]
        self._living = {postmaster.name: (postmaster, pid, started(pid)) for postmaster, pid in pids if pid}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="postmasters", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while self._living and not self._ended.wait(SECONDS):
            for name, (postmaster, pid, born) in list(self._living.items()):
                if started(pid) != born:
                    del self._living[name]
                    postmaster.kill_leftovers()

    def end(self) -> None:
        """Nothing is killed any more when it comes back."""
        self._ended.set()
        self._thread.join()
