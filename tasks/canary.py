"""A short fixed piece of CPU and disk work beside each block: drift of the host shows here first."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from pathlib import Path

CPU_BYTES = 8 * 1024 * 1024
DISK_BYTES = 1024 * 1024


def cpu_seconds() -> float:
    """Seconds to hash 8 MiB of zeros with SHA-256 on one core."""
    data = bytes(CPU_BYTES)
    started = time.perf_counter()
    hashlib.sha256(data).digest()
    return time.perf_counter() - started


def disk_seconds(directory: Path) -> float:
    """Seconds to write 1 MiB to a new file in ``directory`` and sync it."""
    with tempfile.TemporaryFile(dir=directory) as file:
        started = time.perf_counter()
        file.write(bytes(DISK_BYTES))
        file.flush()
        os.fsync(file.fileno())
        return time.perf_counter() - started
