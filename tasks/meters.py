"""What a step cost the server: CPU seconds, bytes that its processes really read and wrote, and WAL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import psutil


@dataclass
class Usage:
    """CPU seconds and bytes of a set of processes; None where the host hides them."""

    cpu_seconds: float | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None


@dataclass
class Reading:
    """Filled when the measured step has ended."""

    usage: Usage = field(default_factory=Usage)


@contextmanager
def metered(processes: Callable[[], list[int]]) -> Iterator[Reading]:
    """Count what ``processes`` (asked before and after) used in between.

    CPU of a process that ends meanwhile arrives in its parent's children time; its bytes are lost.
    """
    reading = Reading()
    before = _totals(processes())
    yield reading
    reading.usage = _difference(before, _totals(processes()))


Totals = dict[int, tuple[float, int, int]]


def _totals(pids: list[int]) -> Totals:
    totals: Totals = {}
    for pid in pids:
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                cpu = process.cpu_times()
                io = process.io_counters()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        seconds = cpu.user + cpu.system + cpu.children_user + cpu.children_system
        totals[pid] = (seconds, io.read_bytes, io.write_bytes)
    return totals


def _difference(before: Totals, after: Totals) -> Usage:
    if not after:
        return Usage()
    zero = (0.0, 0, 0)
    cpu = sum(totals[0] for totals in after.values()) - sum(totals[0] for totals in before.values())
    read, written = (
        sum(totals[part] - before.get(pid, zero)[part] for pid, totals in after.items()) for part in (1, 2)
    )
    return Usage(max(cpu, 0.0), read, written)
