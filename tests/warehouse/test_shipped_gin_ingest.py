"""Every expectation that gin_ingest ships: a plausible run passes, wrong data fails, missing data is inconclusive."""

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

TRANSACTIONS = 20_000
# Six rows of 64 values share a page of the list.
PAGES_PER_ROW = 1 / 6
LIMITS = {"64kB": 8, "4MB": 514, "64MB": 8224}


@pytest.fixture(scope="module")
def request_(tmp_path_factory: pytest.TempPathFactory) -> Request:
    return shipped_request("gin_ingest", tmp_path_factory.mktemp("home"))


def measured(cell: Cell) -> Iterator[Measurement]:
    """Fast into the list, slow into the index, and slower still with the cleanup counted."""
    levels, is_put_off = cell.levels, cell.levels.get("fastupdate") == "on"
    tps = 1500.0 if levels["index"] == "none" else 1200.0 if is_put_off else 900.0
    yield one("ingest", "tps", tps, clock="client")
    yield one("ingest", "tps_including_cleanup", 600.0 if is_put_off else tps, clock="client")
    yield one("ingest", "transactions", TRANSACTIONS, clock="client")
    yield one("ingest", "wal_bytes", TRANSACTIONS * (1500.0 if is_put_off else 8000.0))
    yield one("flush", "wal_bytes", TRANSACTIONS * 8500.0 if is_put_off else 0.0)
    yield one("sizes", "rows", TRANSACTIONS)
    if levels["index"] != "none":
        rows = TRANSACTIONS if is_put_off else 0
        most = LIMITS.get(str(levels.get("gin_pending_list_limit")), 0) * int(levels["tables"])
        yield one("pending", "pending_pages", min(rows * PAGES_PER_ROW, most))
        yield one("pending", "longest_pending_list", min(math.ceil(rows * PAGES_PER_ROW), most) / int(levels["tables"]))
        yield one("pending", "pending_tuples", min(rows, most / PAGES_PER_ROW))
        yield one("pending_left", "pending_pages", 0)
        yield one("pending_left", "pending_tuples", 0)


def metric(name: str, step: str | None = None) -> Chosen:
    return lambda cell, found: found.metric == name and step in (None, found.step)


def unflushed(name: str) -> Chosen:
    """A metric of the cells whose lists are not flushed."""
    return lambda cell, found: found.metric == name and cell.levels.get("gin_pending_list_limit") == "64MB"


WRONG: dict[str, Change] = {
    # 30,440 rows of the study would then fill more than 64 MB.
    "study_flushed_nothing": times(2, unflushed("pending_pages")),
    "the_flush_pays": times(0.1, lambda cell, found: found.step == "flush"),
    "putting_off_saves_no_wal": times(0.5, unflushed("wal_bytes")),
    "lists_keep_their_limit": times(
        3,
        lambda cell, found: (
            found.metric == "longest_pending_list" and cell.levels.get("gin_pending_list_limit") == "64kB"
        ),
    ),
    "cleanup_leaves_nothing": put(1.0, metric("pending_pages", "pending_left")),
    "every_transaction_left_its_row": put(TRANSACTIONS - 1.0, metric("rows")),
    "cells_ended_well": first_failed,
}
MISSING: dict[str, Change] = {
    "study_flushed_nothing": put(None, metric("pending_tuples", "pending")),
    "the_flush_pays": without(lambda cell, found: found.step == "flush" and found.metric == "wal_bytes"),
    "putting_off_saves_no_wal": without(
        lambda cell, found: found.metric == "wal_bytes" and cell.levels.get("fastupdate") == "off"
    ),
    "lists_keep_their_limit": without(unflushed("longest_pending_list")),
    "cleanup_leaves_nothing": without(lambda cell, found: found.step == "pending_left" and cell.levels["tables"] == 64),
    "every_transaction_left_its_row": without(metric("transactions")),
    "cells_ended_well": first_lost,
}


def test_a_plausible_run_passes_all(request_: Request, tmp_path: Path) -> None:
    verdicts = judged(request_, tmp_path, measured, as_it_is)
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == dict.fromkeys(WRONG, "pass")


def test_the_studys_lists_are_told_in_numbers(request_: Request, tmp_path: Path) -> None:
    verdict = judged_one(request_, tmp_path, measured, as_it_is, "study_flushed_nothing")
    told = "1360 bytes of list per row x 30440 rows per table = 39.5 MB, 62 % of the limit after 300 s"
    assert verdict.observed == f"embedded: {told}"


@pytest.mark.parametrize("name", WRONG)
def test_wrong_data_fails(request_: Request, tmp_path: Path, name: str) -> None:
    assert judged_one(request_, tmp_path, measured, WRONG[name], name).outcome == "fail"


@pytest.mark.parametrize("name", MISSING)
def test_missing_data_is_inconclusive(request_: Request, tmp_path: Path, name: str) -> None:
    assert judged_one(request_, tmp_path, measured, MISSING[name], name).outcome == "inconclusive"


def test_a_list_of_mostly_empty_pages_decides_nothing(request_: Request, tmp_path: Path) -> None:
    few = put(50.0, metric("pending_tuples", "pending"))

    assert judged_one(request_, tmp_path, measured, few, "study_flushed_nothing").outcome == "inconclusive"
