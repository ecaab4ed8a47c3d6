"""Our own overhead: a run's cells against psql that replays, on the same server, every statement that they sent.

    python tests/benchmarks/overhead.py [--rows 100000] [--pairs 5]

Each pair measures both walls, one after the other, CHECKPOINT, digests and plans in both. The very same statements take
some 10 % more or less from one replay to the next, hence several pairs, all of them printed, and their median.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import NamedTuple

from experiments.model import CellResult, Request
from flows.asking import Ask, resolve
from tasks.launchers.place import Place
from tasks.launchers.registry import acquire
from tasks.launchers.server import Owner, Server
from tasks.launchers.service import down, up
from tasks.programs import find_program, program_environment
from tasks.target_run import TargetRun
from warehouse.ledger import RunLedger, find_ledger

RUN = "from flows.cli import main; main()"


class Pair(NamedTuple):
    """Wall seconds: of the run's cells as a Prefect flow, ledger included; of those, what statements took; of psql."""

    cells: float
    statements: float
    psql: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home, rows = Path(folder), f"rows={asked.rows}"
        request, _ = resolve(Ask("storage_matrix", ("embedded",), sets=(rows,), repeats=1), home, os.environ)
        place = Place.of(home, os.environ)
        up(request.targets[0], place).close()
        command = [sys.executable, "-c", RUN, "--home", folder, "run", "storage_matrix", "--target", "embedded"]
        try:
            pairs = []
            for _ in range(asked.pairs):
                subprocess.run([*command, "--set", rows, "--repeats", "1"], check=True, capture_output=True)
                pairs.append(measured(find_ledger(home), request, place))
                print("cells {:6.2f} s, of it statements {:6.2f} s; psql {:6.2f} s".format(*pairs[-1]), flush=True)
            finished = find_ledger(home).finished()
        finally:
            down(request.targets[0], place)
    assert finished is not None
    print(f"median of cells / psql        {median(pair.cells / pair.psql for pair in pairs):.3f}")
    print(f"median of cells / statements  {median(pair.cells / pair.statements for pair in pairs):.3f}")
    print(f"a no-op cell                  {finished.timings['noop_cell']:.4f} s")


def measured(ledger: RunLedger, request: Request, place: Place) -> Pair:
    """The walls of a finished run and of the replay of its statements."""
    finished = ledger.finished()
    assert finished is not None
    results = sorted(ledger.cells(), key=lambda result: result.started_at)
    statements = sum(statement.seconds for result in results for statement in result.statements)
    psql = replay(acquire(request.targets[0], place, Owner.run()), request, results)
    return Pair(finished.timings["cells"], statements, psql)


def replay(server: Server, request: Request, results: list[CellResult]) -> float:
    """Seconds that psql takes for the statements of ``results``; the source rows are made before the clock starts."""
    psql = find_program(server, "psql")
    target = TargetRun(request.targets[0], server, request.timeout)
    target.make_rows(request.experiment, request.parameters)
    pins = "".join(f"{statement};\n" for statement in target.dialect.session_settings())
    script = pins + "".join(statements_of(list(block)) for _, block in groupby(results, lambda one: one.cell.block_id))
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        started = time.perf_counter()
        subprocess.run(
            [str(psql), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-o", os.devnull, "-f", file.name],
            env=program_environment(server),
            check=True,
        )
        seconds = time.perf_counter() - started
    target.close()
    return seconds


def statements_of(block: list[CellResult]) -> str:
    """The statements of a block's cells, and the drop of its table, which the run has between its cells too."""
    sent = "".join(f"{statement.sql.rstrip().rstrip(';')};\n" for result in block for statement in result.statements)
    tables = re.findall(r"create table (\S+)", sent)
    return sent + "".join(f"drop table {table};\n" for table in tables)


if __name__ == "__main__":
    main()
