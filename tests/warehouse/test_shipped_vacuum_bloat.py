"""Every expectation of vacuum_bloat: the study's own figures pass, wrong data fails, missing data is inconclusive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.model import Cell, CellResult, Measurement, Request
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

PAGE = 8192
FRESH_PAGES = 1235
FRESH_SECONDS = 0.0606
# How many times as long count(*) takes after so many updates, as the study has it.
SLOWER = {0: 1.0, 1: 1.25, 2: 1.65, 3: 2.0, 4: 2.4, 5: 2.83, 6: 3.22}
BATCHES, BATCHES_WITH_VACUUM = 13, 5
DIGEST = "100000:1:2:3:4"


@pytest.fixture(scope="module")
def request_(tmp_path_factory: pytest.TempPathFactory) -> Request:
    return shipped_request("vacuum_bloat", tmp_path_factory.mktemp("home"))


def measured(cell: Cell) -> Iterator[Measurement]:
    """What the study's server would give."""
    updates, vacuum = int(cell.levels["updates"]), str(cell.levels["vacuum"])
    yield one("load", "row_digest", None, text_value=DIGEST)
    for number in range(updates + 1):
        yield one("updates", "action", None, text_value="update" if number else "nothing", round=number)
        yield from looked_at(cell, number, SLOWER[number], 1 + number)
    last = updates + 1
    slower, size = SLOWER[updates], 1 + updates
    if vacuum == "VACUUM FULL":
        slower, size = 1.04, 1
    elif vacuum != "none":
        slower = 1.4
    yield one("updates", "action", None, text_value="vacuum", round=last)
    yield from looked_at(cell, last, slower, size)
    if updates == 1:
        yield from batches(cell, last, size)


def looked_at(cell: Cell, number: int, slower: float, size: float) -> Iterator[Measurement]:
    for repetition in range(1, 8):
        seconds = FRESH_SECONDS * slower * (1 + (repetition - 4) / 500)
        yield one("count", "query_time", seconds, round=number, repetition=repetition, clock="client")
    yield one("count", "result_digest", None, text_value="1:77", round=number)
    yield sized(cell, number, size)


def sized(cell: Cell, number: int, size: float) -> Measurement:
    """Half-full pages never grow."""
    pages = FRESH_PAGES * (2 if cell.levels["fillfactor"] == 50 else size)
    return one("size", "table_bytes", round(pages) * PAGE, round=number)


def batches(cell: Cell, last: int, size: float) -> Iterator[Measurement]:
    room = 10 if cell.levels["vacuum"] in ("VACUUM", "autovacuum") else 0
    for turn in range(1, BATCHES + 1):
        size += 0.1 if turn > room else 0
        yield one("batches", "action", None, text_value="batch", round=last + turn)
        yield sized(cell, last + turn, size)
    for turn in range(1, BATCHES_WITH_VACUUM + 1):
        yield one("batches", "action", None, text_value="vacuum_between, batch", round=last + BATCHES + turn)
        yield sized(cell, last + BATCHES + turn, size)


def count_in(number: int, **levels: object) -> Chosen:
    """The times of count(*) in one round of the tables with these levels."""
    return lambda cell, found: (
        found.metric == "query_time"
        and found.round == number
        and all(cell.levels[name] == level for name, level in levels.items())
    )


def size_from(first: int, **levels: object) -> Chosen:
    """The sizes from one round on, of the tables with these levels."""
    return lambda cell, found: (
        found.metric == "table_bytes"
        and found.round is not None
        and found.round >= first
        and all(cell.levels[name] == level for name, level in levels.items())
    )


def size_in(number: int, **levels: object) -> Chosen:
    """The size in one round alone."""
    later = size_from(number, **levels)
    return lambda cell, found: later(cell, found) and found.round == number


def metric(name: str) -> Chosen:
    return lambda cell, found: found.metric == name


WRONG: dict[str, Change] = {
    "slower_after_one_update": put(FRESH_SECONDS, count_in(1)),
    "slower_after_two_updates": put(FRESH_SECONDS, count_in(2)),
    "slower_after_five_updates": put(FRESH_SECONDS, count_in(5)),
    "slower_after_six_updates": put(FRESH_SECONDS, count_in(6)),
    "slower_after_vacuum": put(FRESH_SECONDS, count_in(3, updates=2, vacuum="VACUUM")),
    "vacuum_full_makes_good": times(1.5, count_in(3, updates=2, vacuum="VACUUM FULL")),
    "bloat_and_its_end": times(0.5, size_from(7, updates=6, vacuum="VACUUM")),
    "space_is_used_again": times(2, size_from(5, updates=1, fillfactor=100, vacuum="VACUUM")),
    "vacuum_between_batches": times(2, size_from(18, updates=1, fillfactor=100)),
    "half_full_pages_do_not_grow": times(1.5, size_from(1, fillfactor=50)),
    "rows_stay": put(
        None, lambda cell, found: found.metric == "row_digest" and cell.levels["updates"] == 6, "1:9:9:9:9"
    ),
    "cells_ended_well": first_failed,
}
MISSING: dict[str, Change] = {
    **{name: without(metric("query_time")) for name in WRONG if name.startswith("slower")},
    "vacuum_full_makes_good": without(count_in(3, updates=2, vacuum="VACUUM FULL")),
    "bloat_and_its_end": without(size_from(7, updates=6, vacuum="VACUUM FULL")),
    "space_is_used_again": without(size_from(0, updates=1, vacuum="none")),
    "vacuum_between_batches": without(size_from(16, updates=1, vacuum="none")),
    "half_full_pages_do_not_grow": without(size_from(0, fillfactor=50, updates=6)),
    "rows_stay": without(lambda cell, found: found.metric == "result_digest" and cell.levels["updates"] == 5),
    "cells_ended_well": first_lost,
}
MISSING_IN_ONE_TABLE: dict[str, Change] = {
    "slower_after_one_update": without(count_in(1, updates=6, vacuum="none")),
    "slower_after_two_updates": without(count_in(2, updates=6, vacuum="none")),
    "slower_after_five_updates": without(count_in(5, updates=6, vacuum="none")),
    "slower_after_six_updates": without(count_in(6, updates=6, vacuum="none")),
    "space_is_used_again": without(size_in(5, updates=1, vacuum="VACUUM")),
    "vacuum_between_batches": without(size_in(18, updates=1, vacuum="VACUUM")),
    "half_full_pages_do_not_grow": without(size_in(2, updates=6, vacuum="none")),
}


def test_the_studys_own_figures_pass(request_: Request, tmp_path: Path) -> None:
    verdicts = judged(request_, tmp_path, measured, as_it_is)
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == dict.fromkeys(WRONG, "pass")


def test_a_reproduced_claim_is_told_with_our_interval(request_: Request, tmp_path: Path) -> None:
    verdicts = judged(request_, tmp_path, measured, as_it_is)
    assert (
        verdicts["slower_after_two_updates"].observed
        == "embedded, 100,000 rows: reproduced, 1.65x [1.65, 1.65] against 1.65x"
    )
    assert (
        verdicts["slower_after_vacuum"].observed
        == "embedded, 100,000 rows: reproduced, 1.40x [1.38, 1.42] against 1.40x"
    )


@pytest.mark.parametrize("name", WRONG)
def test_wrong_data_fails(request_: Request, tmp_path: Path, name: str) -> None:
    assert judged_one(request_, tmp_path, measured, WRONG[name], name).outcome == "fail"


@pytest.mark.parametrize("name", MISSING)
def test_missing_data_is_inconclusive(request_: Request, tmp_path: Path, name: str) -> None:
    assert judged_one(request_, tmp_path, measured, MISSING[name], name).outcome == "inconclusive"


@pytest.mark.parametrize("name", MISSING_IN_ONE_TABLE)
def test_the_other_tables_do_not_make_up_for_one(request_: Request, tmp_path: Path, name: str) -> None:
    verdict = judged_one(request_, tmp_path, measured, MISSING_IN_ONE_TABLE[name], name)
    assert verdict.outcome == "inconclusive"


def test_a_table_that_failed_is_counted(request_: Request, tmp_path: Path) -> None:
    def change(results: list[CellResult]) -> list[CellResult]:
        failed = next(one for one in results if one.cell.levels.get("updates") == 6)
        return [replace(one, status="failed") if one is failed else one for one in results]

    verdict = judged_one(request_, tmp_path, measured, change, "slower_after_six_updates")
    assert verdict.outcome == "inconclusive"
    assert "1 of 4 cells gave no time" in verdict.detail


def test_cells_beside_which_the_host_was_busy_do_not_count(request_: Request, tmp_path: Path) -> None:
    def measured_on_a_busy_host(cell: Cell) -> Iterator[Measurement]:
        yield from measured(cell)
        is_quiet = cell.levels["updates"] == 6
        yield one("canary", "canary_cpu_time", 0.005 if is_quiet else 0.011)

    two = judged_one(request_, tmp_path / "a", measured_on_a_busy_host, as_it_is, "slower_after_two_updates")
    vacuum = judged_one(request_, tmp_path / "b", measured_on_a_busy_host, as_it_is, "slower_after_vacuum")

    assert two.outcome == "pass"
    assert two.observed.startswith("embedded, 100,000 rows: reproduced, 1.65x")
    assert vacuum.outcome == "inconclusive"
    assert "of 1 cells none was quiet: the host was busy, or count(*) did not settle" in vacuum.detail


def test_an_interval_across_the_edge_decides_nothing(request_: Request, tmp_path: Path) -> None:
    def change(results: list[CellResult]) -> list[CellResult]:
        slower = times(1.1, count_in(3, updates=2, vacuum="VACUUM"))
        half = count_in(3, updates=2, vacuum="VACUUM")
        return times(1.08, lambda cell, found: half(cell, found) and found.repetition > 4)(slower(results))

    verdict = judged_one(request_, tmp_path, measured, change, "slower_after_vacuum")

    assert verdict.outcome == "inconclusive"
    assert "our interval, 1.52 to 1.68, crosses the edge of 1.20 to 1.60" in verdict.detail


def test_times_that_did_not_settle_decide_nothing(request_: Request, tmp_path: Path) -> None:
    half = count_in(3, updates=2, vacuum="VACUUM")
    change = times(1.5, lambda cell, found: half(cell, found) and found.repetition > 4)

    verdict = judged_one(request_, tmp_path, measured, change, "slower_after_vacuum")

    assert verdict.outcome == "inconclusive"
    assert "of 1 cells none was quiet: the host was busy, or count(*) did not settle" in verdict.detail
