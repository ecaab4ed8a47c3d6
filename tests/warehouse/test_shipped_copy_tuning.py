"""Every expectation of copy_tuning: the study's own figures pass, wrong data fails, missing data is inconclusive."""

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

ROWS = 10_000_000
POSTGRESQL = 19.8
# The study's seconds on openGauss, rung by rung.
OPENGAUSS = {
    "default": 122.703615,
    "shared_buffers 128MB": 34.5165,
    "shared_buffers 1GB": 26.735371,
    "further settings": 24.533859,
    "thread pool": 23.859255,
}
MINIMAL = ("wal_level minimal", "full_page_writes off", "fsync off", "io_method sync")
DIGEST = "10000000:1:2:3:4"


@pytest.fixture(scope="module")
def request_(tmp_path_factory: pytest.TempPathFactory) -> Request:
    home = tmp_path_factory.mktemp("home")
    return shipped_request("copy_tuning", home, "published", targets=("embedded", "opengauss"))


def measured(cell: Cell) -> Iterator[Measurement]:
    """What the study's servers would give, had they been asked for all of this."""
    rung = str(cell.levels["rung"])
    seconds = OPENGAUSS[rung] if cell.target == "opengauss" else POSTGRESQL
    for step, share in (("copy_from_file", 1.0), ("copy_from_stdin", 1.1)):
        for repetition in (1, 2, 3):
            taken = seconds * share * (1 + repetition / 1000)
            yield one(step, "commit_time", taken, repetition=repetition, clock="client")
        yield one(step, "wal_bytes", 10_000 if rung in MINIMAL else 69.0 * ROWS)
        yield one(step, "rows", ROWS)
        yield one(step, "row_digest", None, text_value=DIGEST)
        yield one(step, "file_digest", None, text_value=DIGEST)


def value_of(metric: str, target: str, *rungs: str, step: str = "copy_from_file") -> Chosen:
    """The values of a metric on a target, on these rungs or on all."""
    return lambda cell, found: (
        (found.metric, found.step, cell.target) == (metric, step, target)
        and (not rungs or cell.levels["rung"] in rungs)
    )


WRONG: dict[str, Change] = {
    "study_ladder": times(2, value_of("commit_time", "opengauss", "shared_buffers 1GB")),
    "shared_buffers_first": times(3, value_of("commit_time", "opengauss", "shared_buffers 1GB")),
    "default_opengauss_slower": times(0.2, value_of("commit_time", "opengauss", "default")),
    "tuned_opengauss_close": times(0.5, value_of("commit_time", "embedded", "default")),
    "no_rung_slower": times(1.5, value_of("commit_time", "embedded", "fsync off")),
    "minimal_spares_wal": put(1e8, value_of("wal_bytes", "embedded", "fsync off")),
    "other_rungs_keep_wal": times(0.5, value_of("wal_bytes", "embedded", "wal_compression on")),
    "client_costs_little": times(2, value_of("commit_time", "embedded", "default", step="copy_from_stdin")),
    "digests_agree": put(
        None, value_of("row_digest", "opengauss", "thread pool", step="copy_from_stdin"), "10000000:9:9:9:9"
    ),
    "row_counts": put(9_999_999, value_of("rows", "embedded", "default")),
    "cells_ended_well": first_failed,
}
MISSING: dict[str, Change] = {
    "study_ladder": without(value_of("commit_time", "opengauss", "further settings")),
    "shared_buffers_first": without(value_of("commit_time", "opengauss", "default")),
    "default_opengauss_slower": without(value_of("commit_time", "opengauss", "default")),
    "tuned_opengauss_close": without(value_of("commit_time", "embedded", "default")),
    "no_rung_slower": without(value_of("commit_time", "embedded", "fsync off")),
    "minimal_spares_wal": without(value_of("wal_bytes", "embedded", "fsync off")),
    "other_rungs_keep_wal": without(value_of("wal_bytes", "embedded", "default")),
    "client_costs_little": without(value_of("commit_time", "embedded", "default", step="copy_from_stdin")),
    "digests_agree": without(value_of("file_digest", "opengauss", "thread pool")),
    "row_counts": without(lambda cell, found: found.metric == "rows" and cell.levels["rung"] == "default"),
    "cells_ended_well": first_lost,
}


def test_the_studys_own_figures_pass(request_: Request, tmp_path: Path) -> None:
    verdicts = judged(request_, tmp_path, measured, as_it_is)
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == dict.fromkeys(WRONG, "pass")
    assert verdicts["study_ladder"].observed.startswith(
        "opengauss, shared_buffers 128MB: reproduced, 3.55x [3.55, 3.56] against 3.55x; "
    )


@pytest.mark.parametrize("name", WRONG)
def test_wrong_data_fails(request_: Request, tmp_path: Path, name: str) -> None:
    assert judged_one(request_, tmp_path, measured, WRONG[name], name).outcome == "fail"


@pytest.mark.parametrize("name", MISSING)
def test_missing_data_is_inconclusive(request_: Request, tmp_path: Path, name: str) -> None:
    assert judged_one(request_, tmp_path, measured, MISSING[name], name).outcome == "inconclusive"


@pytest.mark.parametrize("name", ["tuned_opengauss_close", "shared_buffers_first"])
def test_without_one_rung_the_best_is_not_known(request_: Request, tmp_path: Path, name: str) -> None:
    lost = without(value_of("commit_time", "opengauss", "thread pool"))
    assert judged_one(request_, tmp_path, measured, lost, name).outcome == "inconclusive"


@pytest.mark.parametrize("name", ["tuned_opengauss_close", "shared_buffers_first"])
def test_a_rung_that_the_server_refuses_is_not_its_best(request_: Request, tmp_path: Path, name: str) -> None:
    def refused(results: list[CellResult]) -> list[CellResult]:
        return [
            replace(one, status="unsupported", measurements=()) if one.cell.levels.get("rung") == "thread pool" else one
            for one in results
        ]

    assert judged_one(request_, tmp_path, measured, refused, name).outcome == "pass"


def test_few_rows_cannot_say_what_the_study_saw(tmp_path: Path) -> None:
    quick = shipped_request("copy_tuning", tmp_path, targets=("embedded", "opengauss"))
    assert judged_one(quick, tmp_path, measured, as_it_is, "study_ladder").outcome == "inconclusive"
