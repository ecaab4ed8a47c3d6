"""A watch over postmasters: one that dies takes along what it started, so that nobody waits for it in vain."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from tasks.launchers.postmaster import Postmaster

SECONDS = 0.5


class Watch:
    """Over postmasters that run; ``end`` it before one is stopped or started again.

    A backend outlives its postmaster: it works its statement to the end, then may wait for a checkpointer that has
    gone, and answers no request to cancel, since those come by way of the postmaster.
    """

    def __init__(self, postmasters: Sequence[Postmaster]) -> None:
        self._living = list(postmasters)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="postmasters", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while self._living and not self._ended.wait(SECONDS):
            for postmaster in [one for one in self._living if one.pid() is None]:
                self._living.remove(postmaster)
                postmaster.kill_leftovers()

    def end(self) -> None:
        """Nothing is killed any more when it comes back."""
        self._ended.set()
        self._thread.join()
