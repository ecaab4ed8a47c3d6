"""The command line, and its manual: every command with its options and an example of each use."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, CycloptsError, Group, Parameter

from flows.options import NOTHING_SAID, Options
from flows.ending import ended

Home = Annotated[Path, Parameter(parse=False)]
"""Found by ``launcher`` from the global option, the environment or the working directory."""

app = App(
    name="storage-matrix",
    help="How should this table be stored? Declared experiments answer it: run them, keep the numbers, judge them.",
    help_format="plaintext",
    default_parameter=Parameter(negative="", show_default=False),
    help_epilogue="""
Examples:
  storage-matrix run storage_matrix                    # the study, on the two targets that need no set-up
  storage-matrix plan storage_matrix --set rows=1e6    # what that would take, before anything starts
  storage-matrix query "from latest"                   # the numbers
Each command explains itself: storage-matrix plan --help
""",
)
app.meta.group_parameters = Group("Global options", sort_key=9)
target = App(name="target", help="Reach, start and stop the servers of targets.")
app.command(target)


@app.command(
    name="list",
    help_epilogue="""
Examples:
  storage-matrix list
  storage-matrix list --json
""",
)
def list_(*, home: Home, json: Annotated[bool, Parameter(help="One JSON document.")] = False) -> int:
    """Show experiments with their profiles, and targets, with one line each."""
    from flows.listing import show

    return show(home, as_json=json)


@app.command(
    help_epilogue="""
Examples:
  storage-matrix plan storage_matrix
  storage-matrix plan storage_matrix --target greenplum --profile published
  storage-matrix plan storage_matrix --only index=none --only compression=pglz,lz4 --probe
  storage-matrix plan storage_matrix --target embedded --script 3f9a | psql -v ON_ERROR_STOP=1
  storage-matrix plan ./my_experiment --json
"""
)
def plan(
    experiment: Annotated[str, Parameter(help="A name (see storage-matrix list) or the folder of an experiment.")],
    /,
    *,
    home: Home,
    options: Options = NOTHING_SAID,
    probe: Annotated[bool, Parameter(help="Reach or start the targets and ask what they really support.")] = False,
    script: Annotated[
        str | None, Parameter(metavar="CELL", help="Print a psql or duckdb script that reproduces this cell by hand.")
    ] = None,
) -> int:
    """Show what a run would do: cells in blocks, their DDL, what is unsupported and why, time, disk and WAL.

    Touches no server unless --probe.
    """
    from flows.planning import show

    return show(home, experiment, options, probe=probe, script=script)


@app.command(
    help_epilogue="""
Examples:
  storage-matrix run storage_matrix
  storage-matrix run storage_matrix --target embedded --set rows=100000 --repeats 5
  storage-matrix run storage_matrix --target mine=postgresql://me@db.example/bench
  storage-matrix run storage_matrix --only toast=default --seed 7 --timeout 600 --json
Exit codes: 0 all well, 1 a critical expectation failed, 2 wrong usage or spec, 3 some cells failed or timed out,
4 a target could not be reached, 130 interrupted (finished cells are kept).
"""
)
def run(
    experiment: Annotated[str, Parameter(help="A name (see storage-matrix list) or the folder of an experiment.")],
    /,
    *,
    home: Home,
    options: Options = NOTHING_SAID,
) -> int:
    """Run an experiment: measure every cell, keep it in the ledger, judge it, write the report."""
    from flows.running import run_and_show

    return run_and_show(home, experiment, options)


@app.command(
    help_epilogue="""
Examples:
  storage-matrix check
  storage-matrix check 20261130T154500-storage_matrix-3f9a --json
"""
)
def check(
    run: Annotated[str, Parameter(help="A run's id, or latest.")] = "latest",
    /,
    *,
    home: Home,
    json: Annotated[bool, Parameter(help="One JSON document.")] = False,
) -> int:
    """Judge a finished run again; touches no target."""
    from flows.reviewing import check_run

    return check_run(home, run, as_json=json)


@app.command(
    help_epilogue="""
Examples:
  storage-matrix report
  storage-matrix report 20261130T154500-storage_matrix-3f9a
"""
)
def report(run: Annotated[str, Parameter(help="A run's id, or latest.")] = "latest", /, *, home: Home) -> int:
    """Write the HTML report of a run, which works offline, and print its tables."""
    from flows.reviewing import report_run

    return report_run(home, run)


@app.command(
    help_epilogue="""
Examples:
  storage-matrix query "select target, storage_form, load_time, total_bytes from storage_matrix"
  storage-matrix query "from latest where metric = 'total_bytes'" --format csv > sizes.csv
  storage-matrix query "describe measurement"
"""
)
def query(
    sql: Annotated[str, Parameter(help="One query; anything that writes is refused.")],
    /,
    *,
    home: Home,
    format: Annotated[
        Literal["table", "csv", "json", "parquet"], Parameter(help="How the rows are written; json is a list of objects.")
    ] = "table",
) -> int:
    """Read the warehouse with SQL."""
    from warehouse.querying import query

    query(home, sql, format)
    return 0


@app.command(
    help_epilogue="""
Examples:
  storage-matrix export numbers/
"""
)
def export(
    folder: Annotated[Path, Parameter(metavar="DIR", help="Where the files go; made where it is missing.")],
    /,
    *,
    home: Home,
) -> int:
    """Write every table and view of the warehouse as a Parquet file."""
    from warehouse.querying import export

    for file in export(home, folder):
        print(file)
    return 0


@app.command(
    help_epilogue="""
Examples:
  storage-matrix rebuild
"""
)
def rebuild(*, home: Home) -> int:
    """Make the warehouse again from the ledger, which is the truth."""
    from flows.reviewing import rebuild_warehouse

    return rebuild_warehouse(home)


def main(arguments: Sequence[str] | None = None) -> None:
    """The console script."""
    sys.exit(ended(launch, list(sys.argv[1:] if arguments is None else arguments)))
