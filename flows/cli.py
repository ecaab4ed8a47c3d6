"""The command line, and its manual: every command with its options and an example of each use."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Group, Parameter

from flows.ending import ended
from flows.home import FOLDER, VARIABLE, find_home
from flows.options import NOTHING_SAID, Options
from flows.servers import tell_orphans

# Told to commands by ``launch``, from the global option, the environment or the working directory.
Home = Annotated[Path, Parameter(parse=False)]
Json = Annotated[bool, Parameter(help="One JSON document on standard output, and nothing else there.")]
ExperimentName = Annotated[str, Parameter(help="A name (see storage-matrix list) or the folder of an experiment.")]
RunName = Annotated[str, Parameter(help="A run's id, or latest.")]
TargetName = Annotated[str, Parameter(help="A name (see storage-matrix list), or NAME=URL.")]
Settings = Annotated[
    tuple[str, ...], Parameter(metavar="NAME=VALUE", help="An option of the launcher, or a server setting; repeatable.")
]
# Errors leave the parser as exceptions: ``ended`` makes one line of each.
RAISE: dict[str, Any] = {"exit_on_error": False, "print_error": False, "result_action": "return_value"}


def _version() -> str:
    from importlib.metadata import version

    return version("storage-matrix")


app = App(
    name="storage-matrix",
    help="How should this table be stored? Declared experiments answer it: run them, keep the numbers, judge them.",
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
    version=_version,
    default_parameter=Parameter(negative="", show_default=False),
    help_epilogue="""\
Examples:
  storage-matrix list                  # what there is to run, and where
  storage-matrix plan storage_matrix   # what a run would do; starts nothing
  storage-matrix run storage_matrix    # the study; needs no set-up
  storage-matrix query "from latest"   # the numbers
Every command has examples of its own: storage-matrix run --help
""",
)
app.meta.group_parameters = Group("Global options", sort_key=9)


@app.command(
    sort_key=1,
    name="list",
    help_epilogue="""\
Examples:
  storage-matrix list
  storage-matrix list --json
""",
)
def list_(*, home: Home, json: Json = False) -> int:
    """Show the experiments with their profiles, and the targets."""
    from flows.listing import show

    return show(home, as_json=json)


@app.command(
    sort_key=2,
    help_epilogue="""\
Examples:
  storage-matrix plan storage_matrix
  storage-matrix plan storage_matrix --target greenplum --profile published
  storage-matrix plan storage_matrix --only index=none --only compression=pglz,lz4 --probe
  storage-matrix plan storage_matrix --script 3f9a > cell.sql    # then: psql -f cell.sql
  storage-matrix plan ./my_experiment --json
""",
)
def plan(
    experiment: ExperimentName,
    /,
    *,
    home: Home,
    options: Options = NOTHING_SAID,
    probe: Annotated[bool, Parameter(help="Reach or start the targets and ask what they really support.")] = False,
    script: Annotated[
        str | None, Parameter(metavar="CELL", help="Print a script for psql or duckdb: the cell of this id by hand.")
    ] = None,
) -> int:
    """Show what a run would do: cells, blocks, DDL, what is unsupported, time, disk, WAL.

    Touches no server unless --probe.
    """
    from flows.plan_page import show

    return show(home, options.about(experiment), probe=probe, as_json=options.json, cell=script)


@app.command(
    sort_key=3,
    help_epilogue="""\
Examples:
  storage-matrix run storage_matrix
  storage-matrix run storage_matrix --target embedded --set rows=100000 --repeats 5
  storage-matrix run storage_matrix --target mine=postgresql://me@db.example/bench
  storage-matrix run storage_matrix --only toast=default --seed 7 --timeout 600 --json
Exit codes: 0 all well, 1 a critical expectation failed, 2 wrong usage or spec, 3 some cells failed or timed out,
4 a target could not be reached, 130 interrupted (finished cells are kept).
""",
)
def run(
    experiment: ExperimentName,
    /,
    *,
    home: Home,
    options: Options = NOTHING_SAID,
) -> int:
    """Run an experiment: measure every cell, keep and judge it, write the report."""
    from flows.run_page import run_and_show

    return run_and_show(home, options.about(experiment), as_json=options.json)


@app.command(
    sort_key=4,
    help_epilogue="""\
Examples:
  storage-matrix check
  storage-matrix check 20261130T154500-storage_matrix-3f9a --json
""",
)
def check(
    run: RunName = "latest",
    /,
    *,
    home: Home,
    json: Json = False,
) -> int:
    """Judge a finished run again; touches no target."""
    from flows.reviewing import check_run

    return check_run(home, run, as_json=json)


@app.command(
    sort_key=5,
    help_epilogue="""\
Examples:
  storage-matrix report
  storage-matrix report 20261130T154500-storage_matrix-3f9a
""",
)
def report(run: RunName = "latest", /, *, home: Home) -> int:
    """Write the HTML report of a run, which works offline, and print its tables."""
    from flows.reviewing import report_run

    return report_run(home, run)


@app.command(
    sort_key=6,
    help_epilogue="""\
Examples:
  storage-matrix query "select target, storage_form, load_time, total_bytes from storage_matrix"
  storage-matrix query "from latest where metric = 'total_bytes'" --format csv > sizes.csv
  storage-matrix query "describe measurement"
""",
)
def query(
    sql: Annotated[str, Parameter(help="One query; anything that writes is refused.")],
    /,
    *,
    home: Home,
    format: Annotated[
        Literal["table", "csv", "json", "parquet"],
        Parameter(help="How rows are written; json: a list of objects."),
    ] = "table",
) -> int:
    """Read the warehouse with SQL."""
    from warehouse.querying import query

    query(home, sql, format)
    return 0


@app.command(
    sort_key=7,
    help_epilogue="""\
Examples:
  storage-matrix export numbers/
""",
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
    sort_key=8,
    help_epilogue="""\
Examples:
  storage-matrix rebuild
""",
)
def rebuild(*, home: Home) -> int:
    """Make the warehouse again from the ledger, which is the truth."""
    from flows.reviewing import rebuild_warehouse

    return rebuild_warehouse(home)


target = App(
    name="target",
    help="Reach, start and stop the servers of targets.",
    sort_key=9,
    help_epilogue="""\
Examples:
  storage-matrix target check greenplum    # does it answer, what can it do
  storage-matrix target up embedded        # a server to look around in
  storage-matrix target down embedded
""",
)
app.command(target)


@target.command(
    name="check",
    help_epilogue="""\
Examples:
  storage-matrix target check embedded
  storage-matrix target check mine --set shared_buffers=1GB     # would this server take the setting?
  storage-matrix target check db=postgresql://me@db.example/bench
""",
)
def target_check(name: TargetName, /, *, home: Home, set: Settings = (), json: Json = False) -> int:
    """Reach a target, starting it for the time of the check: version and capabilities."""
    from flows.servers import check_target

    return check_target(home, name, set, as_json=json)


@target.command(
    name="up",
    help_epilogue="""\
Examples:
  storage-matrix target up embedded
  storage-matrix target up embedded --set work_mem=256MB        # a setting of the server
  storage-matrix target up greenplum --set segments=4            # an option of its launcher
""",
)
def target_up(name: TargetName, /, *, home: Home, set: Settings = ()) -> int:
    """Start the server of a target; it stays, and runs use it, until target down."""
    from flows.servers import start_target

    return start_target(home, name, set)


@target.command(
    name="down",
    help_epilogue="""\
Examples:
  storage-matrix target down embedded
""",
)
def target_down(name: TargetName, /, *, home: Home) -> int:
    """Stop what target up has started and remove its files."""
    from flows.servers import stop_target

    return stop_target(home, name)


@app.meta.default
def launch(
    *tokens: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)],
    home: Annotated[
        str | None,
        Parameter(metavar="DIR", help=f"Where all results lie. Else ${VARIABLE}, else {FOLDER}."),
    ] = None,
    debug: Annotated[bool, Parameter(help="Show the traceback of an error.")] = False,
) -> int:
    """Take the global options wherever they stand, then run the command."""
    command, bound, ignored = app.parse_args(tokens, exit_on_error=False, print_error=False)
    if "home" not in ignored:
        return _code(command(*bound.args, **bound.kwargs))
    folder = find_home(home, os.environ)
    tell_orphans(folder)
    return _code(command(*bound.args, **bound.kwargs, home=folder))


def _code(returned: int | None) -> int:
    """Help and version return nothing, and all is well."""
    return returned or 0


def main(arguments: Sequence[str] | None = None) -> None:
    """The console script."""
    told = sys.argv[1:] if arguments is None else list(arguments)
    # A query may begin with a comment; no option has white space in its name.
    words = [f" {word}" if re.match(r"--[^=]*\s", word) else word for word in told]
    sys.exit(ended(lambda: _code(app.meta(words, **RAISE)), debug="--debug" in words))
