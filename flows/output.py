"""Where the command line writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH_OF_A_FILE = 100
"""Columns where there is no terminal: a table in a log or a pipe is as wide on every machine."""


def standard_output() -> Console:
    """For results; emoji and markup stay text, since names and messages may look like either."""
    return _console(stderr=False)


def standard_error() -> Console:
    """For progress."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    class Piped(Console):
        """Rich ends the process with 1 where the reader has gone, which means something else here."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    console = Piped(stderr=stderr, emoji=False, markup=False, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDTH_OF_A_FILE
    return console


def plain_table(*columns: str) -> Table:
    """Columns without lines: it survives being copied into a mail."""
    from rich.table import Table

    return Table(*columns, box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))


def print_json(document: Mapping[str, Any]) -> None:
    """One JSON document on standard output."""
    print(json.dumps(document, indent=2, ensure_ascii=False, default=str))
