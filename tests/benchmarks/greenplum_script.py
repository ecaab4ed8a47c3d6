"""The study's plain script against our run of the same forms on the same Greenplum cluster, its start apart.

    GPHOME=/usr/local/gpdb python tests/benchmarks/greenplum_script.py [--rows 100000] [--autostats none]

One run measures both walls, one after the other, and prints them with the CPU seconds of the servers' processes, which
a busy host stretches less. The script gathers statistics inside its loads, as Greenplum does unless told otherwise
(gp_autostats_mode = on_no_stats); ours does so in a step of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import psutil
from rich.console import Console

from flows.asking import Ask, resolve
from flows.progress import progress_on
from flows.running import Finished, run
from tasks.launchers.place import Place
from tasks.launchers.server import Server
from tasks.launchers.service import down, up
from tasks.meters import metered
from warehouse.querying import query

FORM = "appendonly=true, blocksize={}, orientation={}, compresstype={}, checksum=false"
COMPRESSIONS = ("none", "zlib, compresslevel=5", "zlib, compresslevel=9")


class Spent(NamedTuple):
    """Wall seconds, CPU seconds of the cluster's processes, and those of all that is neither the cluster nor us."""

    wall: float
    cpu: float
    others: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--autostats", default="on_no_stats", choices=["on_no_stats", "none"])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        ask = Ask("storage_matrix", ("greenplum",), profile="study", sets=(f"rows={asked.rows}",), repeats=1)
        request, secrets = resolve(ask, home, os.environ)
        place = Place.of(home, os.environ)
        server = up(request.targets[0], place)
        try:
            script = spent(server, lambda: play(server, script_of(asked.rows, asked.autostats)))
            server.close()
            time.sleep(1)  # until the script's backends have ended: their CPU seconds are not ours
            results: list[Finished] = []
            with progress_on(Console(stderr=True)) as progress:
                ours = spent(server, lambda: results.append(run(ask, request, home, secrets, progress)))
            show(script, ours, results[0])
            query(home, "select storage_form, total_bytes from storage_matrix order by position")
        finally:
            down(request.targets[0], place)


def show(script: Spent, ours: Spent, finished: Finished) -> None:
    """Both walls in one table."""
    seconds = finished.timings
    measured = seconds["set_up"] + seconds["cells"]
    print(f"{'':44}{'wall s':>8}{'server CPU s':>14}{'others CPU s':>14}")
    print(f"{'the script, psql -f':44}{script.wall:8.1f}{script.cpu:14.1f}{script.others:14.1f}")
    print(f"{'our run: rows made, 26 cells measured':44}{measured:8.1f}{ours.cpu:14.1f}{ours.others:14.1f}")
    print(f"{'our run with Prefect, verdicts and report':44}{ours.wall:8.1f}")
    print(f"{'ratio, measured part':44}{measured / script.wall:8.2f}{ours.cpu / script.cpu:14.2f}")
    print("  ".join(f"{phase} {value:.1f}" for phase, value in seconds.items()))


def spent(server: Server, action: Callable[[], object]) -> Spent:
    """What an action takes."""
    started, busy, own = time.perf_counter(), host_cpu(), own_cpu()
    with metered(server.processes) as reading:
        action()
    cpu = reading.usage.cpu_seconds or 0.0
    return Spent(time.perf_counter() - started, cpu, max(0.0, host_cpu() - busy - (own_cpu() - own) - cpu))


def host_cpu() -> float:
    """CPU seconds that the host has spent on anything."""
    spent = psutil.cpu_times()
    return float(sum(spent) - spent.idle - getattr(spent, "iowait", 0.0))


def own_cpu() -> float:
    """CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def script_of(rows: int, autostats: str) -> str:
    """The script of the study, its 13 forms one after another."""
    forms = [("heap", "")]
    for orientation, compression, blocksize in product(("row", "column"), COMPRESSIONS, (8192, 2097152)):
        name = f"ao_{orientation}_{blocksize}_{compression[-1]}"
        forms.append((name, f" with ({FORM.format(blocksize, orientation, compression)})"))
    opening = ["\\timing", f"set gp_autostats_mode = {autostats};", "create schema study;", "set search_path = study;"]
    statements = [statement for name, storage in forms for statement in form_of(f"t_{name}", storage, rows)]
    sizes = (
        "select tablename, pg_size_pretty(pg_total_relation_size('study.' || tablename))"
        " from pg_tables where schemaname = 'study';"
    )
    return "\n".join([*opening, *statements, sizes, "drop schema study cascade;"])


def form_of(table: str, storage: str, rows: int) -> list[str]:
    """What the study runs on each form."""
    lookup = f"explain analyze select * from {table} where c2 = 1;"
    return [
        f"create table {table}(id int, c1 text, c2 int){storage};",
        f"insert into {table} select id, repeat(md5(random()::text), 128), random()*10000"
        f" from generate_series(1,{rows}) t(id);",
        f"explain analyze select c2,count(*) from {table} group by c2;",
        lookup,
        f"create index idx_{table} on {table}(c2);",
        lookup,
    ]


def play(server: Server, script: str) -> None:
    """Have the server's own psql run it; the drop at its end belongs to neither side and takes milliseconds."""
    assert server.bin_directory is not None
    url = server.url
    where = {"-h": url.query["host"], "-p": url.query["port"], "-U": url.username, "-d": url.database}
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        words = [str(word) for pair in where.items() for word in pair]
        subprocess.run(
            [str(server.bin_directory / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", file.name, *words],
            env={**os.environ, **server.program_environment, "PGPASSWORD": str(url.password)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )


if __name__ == "__main__":
    main()
