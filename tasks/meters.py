"""What a step cost the server: CPU seconds, and bytes that its processes really read and wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple


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


class Total(NamedTuple):
    """What one process has used since it began."""

    cpu_seconds: float = 0.0
    read_bytes: int = 0
    write_bytes: int = 0


def _totals(pids: list[int]) -> dict[int, Total]:
    import psutil

    totals: dict[int, Total] = {}
    for pid in pids:
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                cpu = process.cpu_times()
                io = process.io_counters()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        seconds = cpu.user + cpu.system + cpu.children_user + cpu.children_system
        totals[pid] = Total(seconds, io.read_bytes, io.write_bytes)
    return totals


def _difference(before: dict[int, Total], after: dict[int, Total]) -> Usage:
    if not after:
        return Usage()
    cpu = sum(total.cpu_seconds for total in after.values()) - sum(total.cpu_seconds for total in before.values())
    new = Total()
    return Usage(
        max(cpu, 0.0),
        sum(total.read_bytes - before.get(pid, new).read_bytes for pid, total in after.items()),
        sum(total.write_bytes - before.get(pid, new).write_bytes for pid, total in after.items()),
    )
