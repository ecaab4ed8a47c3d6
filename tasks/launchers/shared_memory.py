"""Shared memory that a killed server leaves: a System V segment lives until somebody removes it or the machine stops.

openGauss has all its buffers in one; PostgreSQL since 9.3 only a few bytes.
"""

from __future__ import annotations

from pathlib import Path

from tasks.launchers.process import Account

SEGMENTS = Path("/proc/sysvipc/shm")


def remove_segment(lock: Path, account: Account) -> None:
    """Remove the segment that a lock file names, if the process named there made it and nobody is attached to it.

    Numbers come back, so the number alone would not do.
    """
    found = _named(lock)
    if found is not None and found in _abandoned(account.uid):
        account.run(["ipcrm", "-m", found[1]], Path("/"))


def _named(lock: Path) -> tuple[str, str] | None:
    """Postmaster and segment; its key and number stand in the last line that has two words."""
    try:
        pid, *lines = lock.read_text().splitlines()
    except (OSError, ValueError):
        return None
    pairs = [words for words in map(str.split, lines) if len(words) == 2 and all(word.isdigit() for word in words)]
    return (pid.strip(), pairs[-1][1]) if pairs else None


def _abandoned(uid: int) -> set[tuple[str, str]]:
    """Maker and number of every segment of a user that no process is attached to."""
    try:
        _, *lines = SEGMENTS.read_text().splitlines()
    except (OSError, ValueError):
        return set()
    rows = (line.split() for line in lines)
    return {(row[4], row[1]) for row in rows if row[6] == "0" and row[7] == str(uid)}
