"""The command ``run``: what it says before, while and after the flow does the work."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.model import UserError
from flows.asking import Ask, resolve
from flows.outcome import INTERRUPTED
from flows.output import plain_table, print_json, standard_error, standard_output
from flows.planning import prepare
from flows.progress import progress_on
from flows.words import duration
from warehouse.opening import warehouse_file

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from rich.console import Console

    from flows.running import Finished

PARTS = {
    "set_up": "set-up",
    "prefect_start": "Prefect",
    "noop_cell": "no-op cell",
    "cells": "cells",
    "load": "loading",
    "expectations": "expectations",
    "report": "report",
    "publish": "publishing",
}
CELLS = """
select target, cell_id, replicate, levels, status, reason, sqlstate from cell where role = 'result'
order by target, block_id, levels
"""
MEDIANS = """
select cell_id, step, metric, unit, clock, round, n, median, interval_low, interval_high from summary where node is null
order by all
"""


def run_and_show(home: Path, ask: Ask, *, as_json: bool) -> int:
    """Run what was asked and print what came of it. What cannot fit is refused before anything starts."""
    request, secrets = resolve(ask, home, os.environ)
    prepare(request, home)
    from flows.running import run

    try:
        with progress_on(standard_error()) as watcher:
            finished = run(ask, request, home, secrets, watcher)
    except KeyboardInterrupt:
        raise UserError(f"interrupted; finished cells are kept in {home / 'ledger'}", INTERRUPTED) from None
    if as_json:
        print_json(_document(home, request.seed, finished))
    else:
        console = standard_output()
        show_results(console, finished.database)
        _show_endnotes(console, home, request.seed, finished)
    return finished.exit_code


def show_results(console: Console, database: DuckDBPyConnection) -> None:
    """The tables of one run, and what could not be measured."""
    from warehouse import tables

    for table in [*tables.result_table(database), *tables.verdict_tables(database)]:
        console.print(table)
    for line in (*tables.unsupported_lines(database), *tables.checkpoint_lines(database), *tables.lack_lines(database)):
        console.print(line, style="yellow", soft_wrap=True)
    for line in (*tables.repeat_lines(database), *tables.failure_lines(database)):
        console.print(line, style="red", soft_wrap=True)


def _show_endnotes(console: Console, home: Path, seed: int, finished: Finished) -> None:
    """Times wrap between words; paths stay whole, to be copied."""
    console.print()
    notes = plain_table("", "")
    notes.show_header = False
    notes.columns[0].min_width = len("warehouse")
    notes.add_row("run", f"{finished.run_id}, order seed {seed}")
    notes.add_row("time", spent(finished.timings))
    console.print(notes)
    for line in (
        f"warehouse  {finished.publication.put_off or warehouse_file(home)}",
        f"report     {finished.report}",
        *finished.publication.skipped,
    ):
        console.print(line, soft_wrap=True)


def spent(timings: Mapping[str, float]) -> str:
    """``cells 41 s, report 2.0 s``: wall time by part of the run."""
    return ", ".join(f"{PARTS.get(part, part)} {duration(seconds)}" for part, seconds in timings.items())


def _document(home: Path, seed: int, finished: Finished) -> dict[str, Any]:
    return {
        "run_id": finished.run_id,
        "exit_code": finished.exit_code,
        "seed": seed,
        "timings": finished.timings,
        "warehouse": str(warehouse_file(home)),
        "put_off": finished.publication.put_off,
        "report": str(finished.report),
        "cells": _cells(finished.database),
        "verdicts": [vars(verdict) for verdict in finished.verdicts],
    }


def _cells(database: DuckDBPyConnection) -> list[dict[str, Any]]:
    """Every cell with its levels and the medians of what was measured."""
    from warehouse.selecting import rows

    medians: dict[str, list[dict[str, Any]]] = {}
    for row in rows(database, MEDIANS):
        medians.setdefault(row.pop("cell_id"), []).append(row)
    return [
        {**cell, "levels": json.loads(cell["levels"]), "medians": medians.get(cell["cell_id"], [])}
        for cell in rows(database, CELLS)
    ]
