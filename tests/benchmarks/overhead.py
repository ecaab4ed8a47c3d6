"""Our own overhead: a run's cells against psql that replays, on the same server, every statement that they sent.

    python tests/benchmarks/overhead.py [--rows 100000]

One run measures both walls, one after the other, and prints their ratio; CHECKPOINT, digests and plans are in both.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
import time
from itertools import groupby
from pathlib import Path

from rich.console import Console

from experiments.model import CellResult, Request
from flows.asking import Ask, resolve
from flows.progress import progress_on
from flows.running import run
from tasks.launchers.place import Place
from tasks.launchers.registry import acquire
from tasks.launchers.server import Owner, Server
from tasks.launchers.service import down, up
from tasks.programs import find_program, program_environment
from tasks.target_run import TargetRun
from warehouse.ledger import find_ledger


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        ask = Ask("storage_matrix", ("embedded",), sets=(f"rows={rows}",), repeats=1)
        request, secrets = resolve(ask, home, os.environ)
        place = Place.of(home, os.environ)
        up(request.targets[0], place).close()
        try:
            with progress_on(Console(stderr=True)) as progress:
                finished = run(ask, request, home, secrets, progress)
            ledger = find_ledger(home, finished.run_id)
            results = sorted(ledger.cells(), key=lambda result: result.started_at)
            replayed = replay(acquire(request.targets[0], place, Owner.run()), request, results)
        finally:
            down(request.targets[0], place)
    cells = finished.timings["cells"]
    statements = sum(len(result.statements) for result in results)
    print(f"{rows} rows, {len(results)} cells, {statements} statements")
    print(f"cells  {cells:8.2f} s  (as a Prefect flow, ledger included)")
    print(f"psql   {replayed:8.2f} s")
    print(f"ratio  {cells / replayed:8.3f}")
    print(f"no-op  {finished.timings['noop_cell']:8.4f} s a cell")


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
