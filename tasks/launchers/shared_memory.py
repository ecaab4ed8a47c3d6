"""Shared memory that a killed server leaves: a System V segment lives until somebody removes it or the machine stops.

openGauss has all its buffers in one; PostgreSQL since 9.3 only a few bytes.
"""

from __future__ import annotations

from pathlib import Path

from tasks.launchers.process import Account, wait_until

SEGMENTS = Path("/proc/sysvipc/shm")
PATIENCE_SECONDS = 5
"""A process that was killed takes a while to let go of a large segment."""

Segment = tuple[str, str]
"""The process that made it, and its number: numbers come back, so the number alone would not do."""


def remove_segment(lock: Path, account: Account) -> None:
    """Remove the segment that a lock file names, if the process named there made it and nobody is attached to it."""
    found = _named(lock)
    if found is None:
        return
    wait_until(lambda: not _attached(account.uid).get(found), PATIENCE_SECONDS)
    if _attached(account.uid).get(found) == 0:
        account.run(["ipcrm", "-m", found[1]], Path("/"))


def _named(lock: Path) -> Segment | None:
    """Key and number of the segment stand in the last line that has two words."""
    try:
        pid, *lines = lock.read_text().splitlines()
    except (OSError, ValueError):
        return None
    pairs = [words for words in map(str.split, lines) if len(words) == 2 and all(word.isdigit() for word in words)]
    return (pid.strip(), pairs[-1][1]) if pairs else None


def _attached(uid: int) -> dict[Segment, int]:
    """How many processes are attached to each segment of a user."""
    try:
        _, *lines = SEGMENTS.read_text().splitlines()
    except (OSError, ValueError):
        return {}
    rows = (line.split() for line in lines)
    return {(row[4], row[1]): int(row[6]) for row in rows if row[7] == str(uid)}
