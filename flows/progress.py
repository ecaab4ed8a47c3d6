"""How a run goes, on standard error: a live line in a terminal, plain lines elsewhere.

Nothing is drawn between events: a thread that redraws would use CPU during a timed step.
"""

from __future__ import annotations

import time
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self

from experiments.model import Cell, CellResult
from flows.words import cell_in_words, duration
from warehouse.formatting import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MEASURING = "measuring"
STYLES = {"ok": "green", "unsupported": "yellow", "failed": "red", "timeout": "red", "cancelled": "yellow"}


class PlainProgress:
    """One line for each event, for logs. Also counts cells and time for the live line."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.cells = 0
        self.done: set[tuple[str, int]] = set()
        self._cells_started = time.monotonic()

    def phase(self, text: str) -> None:
        """Something other than a cell begins."""
        self._say(text)

    def planned(self, cells: int) -> None:
        """The run has so many cells, and the first begins now."""
        self.cells = cells
        self._cells_started = time.monotonic()

    def measuring(self, cell: Cell) -> None:
        """``cell`` is next; nothing to say about it yet."""

    def measured(self, result: CellResult) -> None:
        """A cell has ended."""
        self._count(result)
        reason = f" ({result.reason})" if result.reason else ""
        self._say(
            f"[{len(self.done)}/{self.cells}] {cell_in_words(result.cell)}: {result.status}{reason}, "
            f"{duration(_seconds(result))}{self._left(', about {} left')}"
        )

    def _count(self, result: CellResult) -> None:
        """A second attempt at a cell is not one more."""
        self.done.add((result.cell.cell_id, result.cell.replicate))

    def _left(self, words: str) -> str:
        """The time left, from the mean of the cells so far: their order is shuffled, so the mean is fair."""
        missing = self.cells - len(self.done)
        if not self.done or missing <= 0:
            return ""
        return words.format(duration((time.monotonic() - self._cells_started) / len(self.done) * missing))

    def _say(self, text: str) -> None:
        self.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class LiveProgress(PlainProgress):
    """A line at the bottom, redrawn at each event; ended phases and cells that did not end well stay above it."""

    def __init__(self, console: Console) -> None:
        from rich.live import Live

        super().__init__(console)
        self._phase: str | None = None
        self._phase_started = time.monotonic()
        self._now = ""
        self._live = Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False)

    def phase(self, text: str) -> None:
        self._end_phase()
        self._phase, self._phase_started, self._now = text, time.monotonic(), f"{text} ..."
        self._draw()

    def planned(self, cells: int) -> None:
        super().planned(cells)
        self.phase(MEASURING)

    def measuring(self, cell: Cell) -> None:
        self._now = cell_in_words(cell)
        self._draw()

    def measured(self, result: CellResult) -> None:
        self._count(result)
        if result.status != "ok":
            self._keep(result.status, STYLES[result.status], f"{cell_in_words(result.cell)}: {result.reason}")
        self._draw()

    def _end_phase(self) -> None:
        if self._phase is not None:
            what = f"measured {counted(len(self.done), 'cell')}" if self._phase == MEASURING else self._phase
            self._keep("✓", "green", f"{what}, {duration(time.monotonic() - self._phase_started)}")
            self._phase = None

    def _keep(self, mark: str, style: str, words: str) -> None:
        from rich.text import Text

        self.console.print(Text.assemble((mark, style), " ", words))

    def _draw(self) -> None:
        self._live.update(self._line(), refresh=True)

    def _line(self) -> Table:
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        line = Table.grid(padding=(0, 1), expand=True)
        line.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        if self._phase != MEASURING:
            line.add_row(self._now)
            return line
        bar = ProgressBar(self.cells, len(self.done), width=24)
        line.add_row(self._now, bar, f"{len(self.done)}/{self.cells}", self._left("about {} left"))
        return line

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._end_phase()
        self._live.stop()


def _seconds(result: CellResult) -> float:
    return (datetime.fromisoformat(result.finished_at) - datetime.fromisoformat(result.started_at)).total_seconds()


def progress_on(console: Console) -> PlainProgress:
    """The way that suits where the console writes."""
    return LiveProgress(console) if console.is_terminal else PlainProgress(console)
