"""The expectations on append-optimized tables alone: good data passes, wrong fails, missing is inconclusive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from experiments.model import Cell, Measurement
from tests.warehouse.shipped import (
    Change,
    Chosen,
    Measured,
    as_it_is,
    first_lost,
    in_one_cell,
    judged,
    judged_one,
    one,
    put,
    shipped_request,
    times,
    without,
)

SIZES = {"8kB": 8192, "32kB": 32768, "2MB": 2097152}


def values(metric: str, **levels: object) -> Chosen:
    """The values of a metric in the cells with these levels."""
    return lambda cell, found: (
        found.metric == metric and all(cell.levels.get(name) == level for name, level in levels.items())
    )


def toast(cell: Cell) -> Iterator[Measurement]:
    """4 kB in each of 20,000 rows: TOAST compresses what is longer than a quarter of the block."""
    block = SIZES[str(cell.levels.get("blocksize", "32kB"))]
    compressed = (
        cell.levels["orientation"] != "ao_column" and cell.levels.get("toast") == "default" and block // 4 < 4096
    )
    yield one("size", "value_bytes", 4096)
    yield one("size", "column_bytes", 91 if compressed else 4100)
    yield one("size", "table_bytes", 2_300_000 if compressed else 82_500_000)
    yield one("size", "toast_bytes", 98_304)
    yield one("load", "row_digest", None, text_value="20000:1:2:3:4")


def compression(cell: Cell) -> Iterator[Measurement]:
    """Repeated text packs well, sorted integers best by run lengths, random bytes not at all."""
    codec, _, level = str(cell.levels["compression"]).partition(":")
    shares = {"repeated": {"zlib": 0.05, "zstd": 0.06, "rle_type": 0.8}, "sorted": {"zlib": 0.2, "zstd": 0.25}}
    share = shares.get(str(cell.levels["shape"]), {}).get(codec, 0.98) if codec != "none" else 1.0
    if (cell.levels["shape"], codec) == ("sorted", "rle_type"):
        share = 0.15
    yield one("size", "table_bytes", 2_000_000 * share * (1 - int(level or 0) / 1000))
    yield one("load", "row_digest", None, text_value=f"20000:{len(str(cell.levels['shape']))}:2:3:4")


def block_size(cell: Cell) -> Iterator[Measurement]:
    """Larger blocks pack better, and a lookup has more to unpack."""
    small, zlib = cell.levels["blocksize"] == "8kB", cell.levels["compression"] != "none"
    yield one("size", "value_bytes", 256)
    yield one("size", "column_bytes", 260)
    yield one("size", "table_bytes", (6_000_000 if small else 4_000_000) if zlib else 11_000_000)
    if cell.levels["index"] == "none":
        yield one("load", "row_digest", None, text_value="40000:1:2:3:4")
    else:
        yield one("size", "block_directory_bytes", 400_000 if small else 229_376)
        for repetition in range(3):
            yield one("lookup", "query_time", 0.002 if small else 0.02, repetition=repetition + 1, clock="client")


class Shipped(NamedTuple):
    """What an experiment's servers give, and for each of its expectations what is wrong and what is missing."""

    measured: Measured
    wrong: dict[str, Change]
    missing: dict[str, Change]


def with_rows(number: int) -> Change:
    """All tables have the same rows, but so many of them."""
    return put(None, values("row_digest"), f"{number}:1:2:3:4")


EXPERIMENTS = {
    "ao_toast": Shipped(
        toast,
        {
            "a_quarter_of_the_block": put(91, values("column_bytes", blocksize="2MB")),
            "without_toast_like_heap": times(0.1, values("table_bytes", toast="external", blocksize="8kB")),
            "toast_makes_it_small": times(10, values("table_bytes", toast="default", blocksize="8kB")),
            "same_rows": with_rows(19_999),
        },
        {
            "a_quarter_of_the_block": without(values("value_bytes", orientation="heap")),
            "without_toast_like_heap": without(values("toast_bytes", orientation="heap")),
            "toast_makes_it_small": without(values("table_bytes", toast="external")),
            "same_rows": first_lost,
        },
    ),
    "ao_compression": Shipped(
        compression,
        {
            "repeated_text_packs": times(10, values("table_bytes", shape="repeated", compression="zlib:9")),
            "random_bytes_do_not": times(0.5, values("table_bytes", shape="random", compression="zstd:19")),
            "run_lengths": times(2, values("table_bytes", shape="sorted", compression="rle_type:4")),
            "highest_level": times(1.2, values("table_bytes", shape="random", compression="zlib:9")),
            "same_rows": put(None, values("row_digest", compression="zlib:5"), "20000:9:9:9:9"),
        },
        {
            "repeated_text_packs": without(values("table_bytes", shape="repeated", compression="none")),
            "random_bytes_do_not": without(values("table_bytes", shape="random", compression="zlib:1")),
            "run_lengths": without(values("table_bytes", compression="rle_type:4")),
            "highest_level": without(values("table_bytes", compression="zlib:1")),
            "same_rows": without(values("row_digest", shape="sorted", compression="zlib:1")),
        },
    ),
    "ao_block_size": Shipped(
        block_size,
        {
            "larger_blocks_pack_better": times(2, values("table_bytes", blocksize="2MB", compression="zlib:5")),
            "plain_sizes_alike": times(1.1, values("table_bytes", blocksize="128kB", compression="none")),
            "block_directory_shrinks": times(3, values("block_directory_bytes", blocksize="2MB")),
            "lookups_like_small_blocks": times(0.01, values("query_time", blocksize="2MB")),
            "toast_stays_out": put(91, values("column_bytes", blocksize="8kB")),
            "same_rows": with_rows(39_999),
        },
        {
            "larger_blocks_pack_better": without(values("table_bytes", blocksize="8kB")),
            "plain_sizes_alike": without(values("table_bytes", blocksize="2MB")),
            "block_directory_shrinks": without(values("block_directory_bytes", blocksize="8kB")),
            "lookups_like_small_blocks": times(10, values("query_time", blocksize="8kB")),
            "toast_stays_out": without(values("value_bytes", blocksize="32kB")),
            "same_rows": first_lost,
        },
    ),
}
WRONG = [(name, expectation) for name, shipped in EXPERIMENTS.items() for expectation in shipped.wrong]
MISSING = [(name, expectation) for name, shipped in EXPERIMENTS.items() for expectation in shipped.missing]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_the_cluster_gives_passes_all(tmp_path: Path, name: str) -> None:
    request = shipped_request(name, tmp_path, targets=("greenplum",))
    verdicts = judged(request, tmp_path, EXPERIMENTS[name].measured, as_it_is)
    assert {expectation: verdict.outcome for expectation, verdict in verdicts.items()} == dict.fromkeys(
        EXPERIMENTS[name].wrong, "pass"
    )


@pytest.mark.parametrize(("name", "expectation"), WRONG)
def test_wrong_data_fails(tmp_path: Path, name: str, expectation: str) -> None:
    request, shipped = shipped_request(name, tmp_path, targets=("greenplum",)), EXPERIMENTS[name]
    verdict = judged_one(request, tmp_path, shipped.measured, shipped.wrong[expectation], expectation)
    assert verdict.outcome == "fail", verdict


@pytest.mark.parametrize(("name", "expectation"), MISSING)
def test_missing_or_doubtful_data_is_inconclusive(tmp_path: Path, name: str, expectation: str) -> None:
    request, shipped = shipped_request(name, tmp_path, targets=("greenplum",)), EXPERIMENTS[name]
    verdict = judged_one(request, tmp_path, shipped.measured, shipped.missing[expectation], expectation)
    assert verdict.outcome == "inconclusive", verdict


@pytest.mark.parametrize("name", ["ao_toast", "ao_block_size"])
def test_other_rows_in_one_table_fail(tmp_path: Path, name: str) -> None:
    request = shipped_request(name, tmp_path, targets=("greenplum",))
    change = in_one_cell("row_digest", put(None, values("row_digest"), f"{request.parameters['rows']}:9:9:9:9"))
    assert judged_one(request, tmp_path, EXPERIMENTS[name].measured, change, "same_rows").outcome == "fail"


@pytest.mark.parametrize("name", ["ao_toast", "ao_block_size"])
def test_one_table_without_a_digest_is_inconclusive(tmp_path: Path, name: str) -> None:
    request = shipped_request(name, tmp_path, targets=("greenplum",))
    change = in_one_cell("row_digest", without(values("row_digest")))
    assert judged_one(request, tmp_path, EXPERIMENTS[name].measured, change, "same_rows").outcome == "inconclusive"


def test_lookups_that_nobody_timed_are_inconclusive(tmp_path: Path) -> None:
    request = shipped_request("ao_block_size", tmp_path, targets=("greenplum",))
    change = without(values("query_time", blocksize="2MB"))
    verdict = judged_one(request, tmp_path, block_size, change, "lookups_like_small_blocks")
    assert verdict.outcome == "inconclusive", verdict
