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
from pathlib import Path

from experiments.model import CellResult
from flows.asking import Ask, resolve
from flows.progress import progress_on
from flows.running import run
from rich.console import Console
from tasks.launchers.place import Place
from tasks.launchers.registry import acquire
from tasks.launchers.server import Owner, Server
from tasks.launchers.service import down, up
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
        up(request.targets[0], place)
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


def replay(server: Server, request: object, results: list[CellResult]) -> float:
    """Seconds that psql takes for the statements of ``results``; the source rows are made before the clock starts."""
    target = TargetRun(request.targets[0], server, request.timeout)
    target.make_rows(request.experiment, request.parameters)
    script = "".join(f"{statement.sql.rstrip().rstrip(';')};\n" for result in results for statement in result.statements)
    drops = "".join(f"drop table if exists {table};\n" for table in sorted(set(re.findall(r"create table (\S+)", script))))
    pins = "".join(f"{statement};\n" for statement in target.dialect.session_settings())
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(pins + drops + script)
        file.flush()
        started = time.perf_counter()
        subprocess.run(
            [*psql_command(server), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-o", os.devnull, "-f", file.name],
            env={**os.environ, "PGPASSWORD": str(server.url.password)},
            check=True,
        )
        seconds = time.perf_counter() - started
    target.close()
    return seconds


def psql_command(server: Server) -> list[str]:
    """The server's own psql, pointed at it; the password goes by the environment."""
    program = server.programs / "psql" if server.programs else "psql"
    url = server.url
    host = url.query.get("host", url.host)
    port = url.query.get("port", url.port)
    return [str(program), "-h", str(host), "-p", str(port), "-U", str(url.username), "-d", str(url.database)]


if __name__ == "__main__":
    main()
