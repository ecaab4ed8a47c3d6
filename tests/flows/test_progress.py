"""How a run's progress is told: lines in a log, one live line in a terminal."""

from __future__ import annotations

import io
import itertools
import re
import threading
from dataclasses import replace

import pytest
from rich.console import Console

from experiments.model import Cell, CellResult, Status
from flows import progress
from flows.progress import LiveProgress, PlainProgress, progress_on

HEAP = Cell("a00000000001", "c0ffee000001", "embedded", "postgresql", {"compression": "pglz", "index": "none"}, "b1")
TREE = replace(HEAP, cell_id="a00000000002", levels={"compression": "pglz", "index": "btree(c2)"})
NOOP = replace(HEAP, cell_id="a00000000003", levels={}, role="noop")


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock finds it a second later."""
    ticks = itertools.count()
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(ticks)))


def ended(cell: Cell, status: Status = "ok", reason: str | None = None, attempt: int = 1) -> CellResult:
    return CellResult(cell, status, "2026-11-30T20:00:00+00:00", "2026-11-30T20:00:01+00:00", attempt, reason)


def console(*, terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=100, color_system=None, markup=False)


def written(on: Console) -> str:
    assert isinstance(on.file, io.StringIO)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", on.file.getvalue()).replace("\r", "\n")


def run(watcher: PlainProgress) -> None:
    with watcher:
        watcher.phase("starting embedded")
        watcher.planned(3)
        watcher.measuring(HEAP)
        watcher.measured(ended(HEAP))
        watcher.measuring(TREE)
        watcher.measured(ended(TREE, "failed", "step index_build: out of [memory]"))
        watcher.measuring(NOOP)
        watcher.measured(ended(NOOP))
        watcher.phase("judging")


def test_a_log_gets_a_line_per_event_with_the_time_left() -> None:
    on = console(terminal=False)
    run(PlainProgress(on))
    assert written(on).splitlines() == [
        "starting embedded",
        "[1/3] embedded pglz none: ok, 1.0 s, about 2.0 s left",
        "[2/3] embedded pglz btree(c2): failed (step index_build: out of [memory]), 1.0 s, about 1.0 s left",
        "[3/3] embedded no-op (our own overhead): ok, 1.0 s",
        "judging",
    ]


def test_a_second_attempt_is_not_one_more_cell() -> None:
    on = console(terminal=False)
    watcher = PlainProgress(on)
    watcher.planned(2)
    watcher.measured(ended(HEAP, "failed", "the server died"))
    watcher.measured(ended(HEAP, attempt=2))
    assert [line[:5] for line in written(on).splitlines()] == ["[1/2]", "[1/2]"]


def test_a_terminal_keeps_ended_phases_and_cells_that_did_not_end_well() -> None:
    on = console(terminal=True)
    run(LiveProgress(on))
    kept = [line for line in written(on).splitlines() if line.startswith(("✓", "failed"))]
    assert [re.sub(r", [\d.]+ s$", "", line) for line in kept] == [
        "✓ starting embedded",
        "failed embedded pglz btree(c2): step index_build: out of [memory]",
        "✓ measured 3 cells",
        "✓ judging",
    ]
    assert re.search(r"embedded pglz none .* 1/3 about [\d.]+ s left", written(on))


def test_nothing_draws_between_events() -> None:
    before = threading.active_count()
    with LiveProgress(console(terminal=True)) as watcher:
        watcher.planned(1)
        watcher.measuring(HEAP)
        assert threading.active_count() == before


def test_the_console_decides() -> None:
    assert type(progress_on(console(terminal=False))) is PlainProgress
    assert type(progress_on(console(terminal=True))) is LiveProgress
