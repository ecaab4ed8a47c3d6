"""CPU seconds and bytes of processes, held against what they say of themselves."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from tasks.meters import metered

WORK = """
import sys
sys.stdin.readline()
sum(i * i for i in range(4_000_000))
open(sys.argv[1], "wb").write(bytes(3_000_000))
print("done", flush=True)
sys.stdin.readline()
"""


def test_a_process_is_counted_as_the_system_counts_it(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", WORK, str(tmp_path / "file")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        seen = psutil.Process(process.pid)
        with metered(lambda: [process.pid]) as reading:
            before = sum(seen.cpu_times()[:2])
            process.stdin.write("go\n")
            process.stdin.flush()
            assert process.stdout.readline() == "done\n"
            spent = sum(seen.cpu_times()[:2]) - before
        process.stdin.close()
    assert reading.usage.cpu_seconds == pytest.approx(spent, abs=0.03)
    assert reading.usage.cpu_seconds > 0.05


def test_processes_that_are_gone_cost_nothing_that_we_know():
    with metered(lambda: [2**22 + 1]) as reading:
        pass
    assert (reading.usage.cpu_seconds, reading.usage.read_bytes, reading.usage.write_bytes) == (None, None, None)
