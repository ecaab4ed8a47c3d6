"""Every expectation of engine_copy: what the layouts and the study say passes, wrong data fails, missing is inconclusive."""

from __future__ import annotations

import math
from collections.abc import Iterator
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

ROWS = 100_000
# Rows on a page, as pageinspect would count them, by access method and fillfactor.
ROWS_PER_PAGE = {
    ("heap", 100): 61,
    ("heap", 90): 55,
    ("heap", 80): 49,
    ("zheap", 100): 76,
    ("zheap", 90): 68,
    ("zheap", 80): 61,
}
# The study's bytes of WAL for a row.
WAL = {"heap": 107.4, "zheap": 105.6}
DIGEST = "100000:1:2:3:4"
STUDY_SPEED = 0.962


@pytest.fixture(scope="module")
def request_(tmp_path_factory: pytest.TempPathFactory) -> Request:
    return shipped_request("engine_copy", tmp_path_factory.mktemp("home"), targets=("zheap",))


def measured(cell: Cell) -> Iterator[Measurement]:
    """What the study's server would give."""
    method, fillfactor = str(cell.levels["access_method"]), int(cell.levels["fillfactor"])
    rows = ROWS * int(cell.levels["scale"])
    on_a_page = ROWS_PER_PAGE[method, fillfactor]
    yield one("filling", "rows_per_page", on_a_page)
    yield one("size", "table_bytes", 8192 * (math.ceil(rows / on_a_page) + (method == "zheap")))
    skips = method == "heap" and cell.levels["wal_level"] == "minimal"
    yield one("copy", "wal_bytes", 20_000 if skips else WAL[method] * rows)
    for repetition in (1, 2, 3):
        seconds = rows * 2.6e-6 * (STUDY_SPEED if method == "zheap" else 1) * (1 + repetition / 1000)
        yield one("copy", "commit_time", seconds, repetition=repetition, clock="client")
    yield one("copy", "rows", rows)
    yield one("copy", "row_digest", None, text_value=DIGEST)
    yield one("copy", "file_digest", None, text_value=DIGEST)


def value_of(metric: str, **levels: object) -> Chosen:
    """The values of a metric in the cells with these levels."""
    return lambda cell, found: (
        found.metric == metric and all(cell.levels[name] == level for name, level in levels.items())
    )


WRONG: dict[str, Change] = {
    "rows_per_page": times(0.9, value_of("rows_per_page", access_method="zheap", fillfactor=90)),
    "bytes_per_row": times(1.2, value_of("table_bytes", access_method="heap", fillfactor=80)),
    "not_fillfactor": times(1.1, value_of("table_bytes", access_method="zheap", fillfactor=100)),
    "why_it_looked_like_fillfactor": put(62, value_of("rows_per_page", access_method="zheap", fillfactor=80)),
    "study_size": times(1.2, value_of("table_bytes", access_method="zheap", fillfactor=100)),
    "study_wal": times(1.1, value_of("wal_bytes", access_method="zheap")),
    "study_time": times(1.2, value_of("commit_time", access_method="zheap")),
    "minimal_spares_wal": put(1e7, value_of("wal_bytes", access_method="heap", wal_level="minimal")),
    "zheap_spares_no_wal": put(2e4, value_of("wal_bytes", access_method="zheap", wal_level="minimal")),
    "compression_saves_nothing": times(0.5, value_of("wal_bytes", wal_compression="on")),
    "digests_agree": put(None, value_of("row_digest", scale=5, fillfactor=80), "100000:9:9:9:9"),
    "row_counts": put(99_999, value_of("rows", scale=1, fillfactor=80)),
    "cells_ended_well": first_failed,
}
MISSING: dict[str, Change] = {
    "rows_per_page": without(value_of("rows_per_page", fillfactor=90)),
    "bytes_per_row": without(value_of("table_bytes", fillfactor=80)),
    "not_fillfactor": without(value_of("table_bytes", access_method="heap", fillfactor=90)),
    "why_it_looked_like_fillfactor": without(value_of("rows_per_page", access_method="heap", fillfactor=100)),
    "study_size": without(value_of("table_bytes", access_method="heap", fillfactor=100, scale=5)),
    "study_wal": without(value_of("wal_bytes", access_method="zheap", scale=5)),
    "study_time": without(value_of("commit_time", access_method="zheap", scale=1)),
    "minimal_spares_wal": without(value_of("wal_bytes", access_method="heap", wal_level="minimal")),
    "zheap_spares_no_wal": without(value_of("wal_bytes", access_method="zheap", wal_level="minimal")),
    "compression_saves_nothing": without(value_of("wal_bytes", access_method="heap", wal_compression="on")),
    "digests_agree": without(value_of("file_digest", scale=5, fillfactor=80)),
    "row_counts": without(value_of("rows", scale=5, fillfactor=80)),
    "cells_ended_well": first_lost,
}


def test_the_layouts_and_the_studys_own_figures_pass(request_: Request, tmp_path: Path) -> None:
    verdicts = judged(request_, tmp_path, measured, as_it_is)
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == dict.fromkeys(WRONG, "pass")


def test_the_open_question_is_answered_in_numbers(request_: Request, tmp_path: Path) -> None:
    verdict = judged_one(request_, tmp_path, measured, as_it_is, "not_fillfactor")
    assert verdict.observed.startswith("zheap at fillfactor 100: 19.7 % saved, 19.7 % by layout; ")


@pytest.mark.parametrize("name", WRONG)
def test_wrong_data_fails(request_: Request, tmp_path: Path, name: str) -> None:
    assert judged_one(request_, tmp_path, measured, WRONG[name], name).outcome == "fail"


@pytest.mark.parametrize("name", MISSING)
def test_missing_data_is_inconclusive(request_: Request, tmp_path: Path, name: str) -> None:
    assert judged_one(request_, tmp_path, measured, MISSING[name], name).outcome == "inconclusive"


def test_times_that_cannot_be_told_apart_decide_nothing(request_: Request, tmp_path: Path) -> None:
    noise = times(1 / STUDY_SPEED, value_of("commit_time", access_method="zheap"))
    assert judged_one(request_, tmp_path, measured, noise, "study_time").outcome == "inconclusive"
