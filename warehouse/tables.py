"""What a run ends with on a terminal: results, verdicts, and what could not be measured. Fits 100 columns."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from warehouse.formatting import counted, spelled
from warehouse.labels import read_names
from warehouse.medians import words
from warehouse.method import lacks, without_checkpoint
from warehouse.outcomes import Refusal, broken_rows, failures, happened, repeated, unsupported, verdicts
from warehouse.result_tables import ResultTable, result_tables
from warehouse.selecting import Row

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

OUTCOME_STYLES = {
    "pass": "green",
    "fail": "bold red",
    "inconclusive": "yellow",
    "error": "bold magenta",
    "not_applicable": "dim",
}
FAILED = "red"
HEADING_WIDTH = 9

# Levels, claims and server messages are data: they go into Text, never into a string that rich takes for markup.


def result_table(connection: DuckDBPyConnection) -> list[Table]:
    """A table per target: medians in the study's shape, or by step where the experiment has steps of its own."""
    names = read_names(connection)
    return [_result_table(table, spelled(names.shared[table.target])) for table in result_tables(connection, names)]


def _result_table(result: ResultTable, shared: str) -> Table:
    title = f"{result.target}: {shared} throughout" if shared else result.target
    table = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    words = [word for line in result.lines for word in line.form.split()]
    width = max(map(len, words), default=0)
    table.add_column("storage form", overflow="fold", vertical="top", min_width=width)
    for column in result.columns:
        is_text = column in result.texts
        table.add_column(
            Text("\n".join(wrap(column, HEADING_WIDTH))), justify="left" if is_text else "right", overflow="fold"
        )
    for line in result.lines:
        style = None if line.status == "ok" else FAILED
        table.add_row(Text(line.form), *(Text(value) for value in line.values), style=style)
    return table


def verdict_tables(connection: DuckDBPyConnection) -> list[Table]:
    """A table of the verdicts, what needs attention first, each with what was seen; none where nothing was expected."""
    told = verdicts(connection)
    return [_verdict_table(told)] if told else []


def _verdict_table(told: list[Row]) -> Table:
    table = Table(title="verdicts", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("outcome", no_wrap=True)
    table.add_column("severity", no_wrap=True)
    table.add_column("claim", overflow="fold", ratio=1)
    table.add_column("seen", overflow="fold", ratio=1)
    for verdict in told:
        outcome = Text(verdict["outcome"].replace("_", " "), OUTCOME_STYLES[verdict["outcome"]])
        table.add_row(outcome, Text(verdict["severity"]), Text(verdict["claim"]), Text(_seen(verdict)))
    return table


def _seen(verdict: Row) -> str:
    """What was seen, with the first row that broke the check."""
    return ": ".join([verdict["detail"], *broken_rows(verdict)[:1]])


def unsupported_lines(connection: DuckDBPyConnection) -> list[str]:
    """One line per reason: how many cells, on which target, which levels they have in common."""
    return [_line(refusal) for refusal in unsupported(connection)]


def failure_lines(connection: DuckDBPyConnection) -> list[str]:
    """One line per reason why cells failed, timed out, were cancelled or never ran, with the SQLSTATE."""
    return [_line(refusal) for refusal in failures(connection, read_names(connection))]


def repeat_lines(connection: DuckDBPyConnection) -> list[str]:
    """One line per reason why cells were measured again; the results are those of the last attempt."""
    return [_line(refusal) for refusal in repeated(connection, read_names(connection))]


def lack_lines(connection: DuckDBPyConnection) -> list[str]:
    """One line per reason why metrics are missing from cells that otherwise went well."""
    return [
        f"{lack.target}: no {', '.join(map(words, lack.metrics))} ({counted(lack.cells, 'cell')}): {lack.reason}"
        for lack in lacks(connection)
    ]


def checkpoint_lines(connection: DuckDBPyConnection) -> list[str]:
    """One line per target whose loads are not known to be durable."""
    return [
        f"{target}: {reason}; its load times end with the commit"
        for target, reason in without_checkpoint(connection).items()
    ]


def _line(refusal: Refusal) -> str:
    cells = f" ({refusal.cells})" if refusal.cells else ""
    reason = f": {refusal.reason}" if refusal.reason else ""
    state = f" [SQLSTATE {refusal.sqlstate}]" if refusal.sqlstate else ""
    return f"{refusal.target}: {counted(refusal.count, 'cell')} {happened(refusal.status)}{cells}{reason}{state}"
