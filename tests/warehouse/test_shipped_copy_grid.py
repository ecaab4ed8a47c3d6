"""Every expectation of copy_grid: plausible data passes, wrong data fails, missing data is inconclusive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.model import Cell, Measurement, Request
from tests.warehouse.shipped import (
    Change,
    Chosen,
    as_it_is,
    first_failed,
    first_lost,
    judged,
    judged_one,
    one,
    put,
    shipped_request,
    times,
    without,
)

DIGEST = "200000:1:2:3:4"
# What a setting saves where it is switched, in every combination of the others.
SAVES = {"wal_level": ("minimal", 0.8), "fsync": ("off", 0.5)}


@pytest.fixture(scope="module")
def request_(tmp_path_factory: pytest.TempPathFactory) -> Request:
    """Of the 64 combinations the sixteen that differ in what the tests look at."""
    whole = shipped_request("copy_grid", tmp_path_factory.mktemp("home"))
    return replace(whole, only={"shared_buffers": ("128MB",), "wal_compression": ("off",)})


def measured(cell: Cell) -> Iterator[Measurement]:
    """Every setting does the same in every combination."""
    seconds = 1.0
    for name, (level, share) in SAVES.items():
        seconds *= share if cell.levels[name] == level else 1.0
    yield one("copy", "commit_time", seconds, clock="client")
    yield one("copy", "wal_bytes", 1000.0 if cell.levels["wal_level"] == "minimal" else 14e6)
    yield one("copy", "row_digest", None, text_value=DIGEST)
    yield one("copy", "file_digest", None, text_value=DIGEST)


def value_of(metric: str, **levels: object) -> Chosen:
    """The values of a metric in the cells with these levels."""
    return lambda cell, found: (
        found.metric == metric and all(cell.levels[name] == level for name, level in levels.items())
    )


WRONG: dict[str, Change] = {
    "no_setting_slows": times(1.5, value_of("commit_time", synchronous_commit="off")),
    "minimal_spares_wal": put(14e6, value_of("wal_bytes", wal_level="minimal", fsync="off")),
    "digests_agree": put(None, value_of("row_digest", fsync="off"), "200000:9:9:9:9"),
    "cells_ended_well": first_failed,
}
MISSING: dict[str, Change] = {
    "no_setting_slows": without(value_of("commit_time", wal_level="minimal", fsync="off")),
    "minimal_spares_wal": without(value_of("wal_bytes", wal_level="replica", fsync="off")),
    "digests_agree": without(value_of("file_digest", fsync="off")),
    "cells_ended_well": first_lost,
}


def test_plausible_data_passes_and_tells_the_effects(request_: Request, tmp_path: Path) -> None:
    verdicts = judged(request_, tmp_path, measured, as_it_is)
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == dict.fromkeys(WRONG, "pass")
    assert verdicts["no_setting_slows"].observed == (
        "embedded, fsync off after on: 0.50 of the time; embedded, wal_level minimal after replica: 0.80 of the time; "
        "embedded, synchronous_commit off after on: 1.00 of the time; "
        "embedded, full_page_writes off after on: 1.00 of the time"
    )


@pytest.mark.parametrize("name", WRONG)
def test_wrong_data_fails(request_: Request, tmp_path: Path, name: str) -> None:
    assert judged_one(request_, tmp_path, measured, WRONG[name], name).outcome == "fail"


@pytest.mark.parametrize("name", MISSING)
def test_missing_data_is_inconclusive(request_: Request, tmp_path: Path, name: str) -> None:
    assert judged_one(request_, tmp_path, measured, MISSING[name], name).outcome == "inconclusive"
