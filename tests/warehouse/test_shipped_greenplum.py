"""What storage_matrix expects of a Greenplum: the study's shape passes, wrong data fails, missing is inconclusive."""

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
from warehouse.loading import run_database

# Main data of 100,000 rows on two segments of Greenplum 6.24.3, by orientation, block size and compression.
TABLE = {
    ("heap", None, None): 468_156_416,
    ("ao_row", "8kB", "none"): 11_436_440,
    ("ao_row", "2MB", "none"): 412_305_544,
    ("ao_row", "8kB", "zlib:5"): 3_386_128,
    ("ao_row", "2MB", "zlib:5"): 4_790_344,
    ("ao_row", "8kB", "zlib:9"): 3_387_736,
    ("ao_row", "2MB", "zlib:9"): 4_789_816,
    ("ao_column", "8kB", "none"): 414_403_584,
    ("ao_column", "2MB", "none"): 410_807_600,
    ("ao_column", "8kB", "zlib:5"): 9_989_248,
    ("ao_column", "2MB", "zlib:5"): 3_798_752,
    ("ao_column", "8kB", "zlib:9"): 9_989_952,
    ("ao_column", "2MB", "zlib:9"): 3_792_104,
}
INDEX, TOAST = 2_424_832, 98_304
GENERATED = "statement that also makes the rows, commit and checkpoint"
BITMAP = "Gather Motion, Bitmap Heap Scan, Bitmap Index Scan"
DIGEST = "100000:1:2:3:4"


@pytest.fixture(scope="module")
def request_(tmp_path_factory: pytest.TempPathFactory) -> Request:
    return shipped_request("storage_matrix", tmp_path_factory.mktemp("home"), "study", targets=("greenplum",))


def measured(cell: Cell) -> Iterator[Measurement]:
    """What the cluster gave."""
    form = cell.levels["orientation"], cell.levels.get("blocksize"), cell.levels.get("compression")
    indexed, heap = cell.levels["index"] != "none", form[0] == "heap"
    # The block directory has an entry for each block of a column, of which 8 kB hold one value only.
    auxiliary = 262_144 if heap else 196_608 + indexed * (2_916_352 if form[:2] == ("ao_column", "8kB") else 229_376)
    yield one("size", "table_bytes", TABLE[form])
    yield one("size", "toast_bytes", TOAST)
    yield one("size", "index_bytes", INDEX * indexed)
    yield one("size", "auxiliary_bytes", auxiliary)
    yield one("size", "total_bytes", TABLE[form] + TOAST + auxiliary + INDEX * indexed)
    yield one("size", "column_bytes", 91 if form[:2] == ("ao_row", "8kB") else 4100)
    yield one("size", "value_bytes", 4096)
    yield one("size", "skew", 0.0016)
    yield one("lookup", "query_time", 0.01, clock="client")
    yield one("lookup", "plan_nodes", None, text_value=BITMAP if indexed else "Gather Motion, Seq Scan")
    yield one("lookup", "result_digest", None, text_value="10:1")
    if not indexed:
        yield one("load", "rows", 100_000)
        yield one("load", "row_digest", None, text_value=DIGEST)


def value_of(metric: str, **levels: object) -> Chosen:
    """The values of a metric in the cells with these levels."""
    return lambda cell, found: (
        found.metric == metric and all(cell.levels.get(name) == level for name, level in levels.items())
    )


WRONG: dict[str, Change] = {
    "compressed_below_heap": times(100, value_of("total_bytes", compression="zlib:5")),
    "compressed_below_uncompressed": times(200, value_of("total_bytes", compression="zlib:9")),
    "column_below_row": times(1.5, value_of("total_bytes", orientation="ao_column", blocksize="2MB")),
    "level_9_not_larger": times(1.02, value_of("table_bytes", compression="zlib:9", blocksize="2MB")),
    "toast_explains": put(4100, value_of("column_bytes", orientation="ao_row", compression="none")),
    "index_nodes": put(None, value_of("plan_nodes", index="btree(c2)"), "Gather Motion, Seq Scan"),
    "even_segments": put(0.11, value_of("skew", orientation="heap")),
    "sizes_as_published": times(1.2, value_of("total_bytes", orientation="ao_row", blocksize="8kB")),
    "cells_ended_well": first_failed,
}
MISSING: dict[str, Change] = {
    "compressed_below_heap": without(value_of("total_bytes", orientation="heap")),
    "compressed_below_uncompressed": without(value_of("total_bytes", compression="none")),
    "column_below_row": without(value_of("index_bytes", orientation="ao_row")),
    "level_9_not_larger": without(value_of("table_bytes", compression="zlib:5")),
    "toast_explains": without(value_of("column_bytes", orientation="ao_row")),
    "index_nodes": without(value_of("plan_nodes", orientation="heap")),
    "even_segments": without(value_of("skew", compression="zlib:9")),
    "sizes_as_published": without(value_of("total_bytes", orientation="ao_column")),
    "cells_ended_well": first_lost,
}


def test_what_the_cluster_gave_passes_all_that_applies(request_: Request, tmp_path: Path) -> None:
    verdicts = judged(request_, tmp_path, measured, as_it_is)
    assert {name: verdict.outcome for name, verdict in verdicts.items()} == {
        **dict.fromkeys(verdicts, "pass"),
        "index_not_slower": "not_applicable",
    }
    assert verdicts["toast_explains"].observed.startswith(
        "ao_row 8kB compression=none: 40.6 times smaller than heap because TOAST compressed its rows, longer than a"
        " quarter of the 8kB block, before they came to it: mean stored size 91 of 4096 bytes; a scan reads as much less; "
        "ao_row 8kB zlib:5: 2.9 times smaller than the same by column because TOAST compressed its rows"
    )


@pytest.mark.parametrize("name", WRONG)
def test_wrong_data_fails(request_: Request, tmp_path: Path, name: str) -> None:
    assert judged_one(request_, tmp_path, measured, WRONG[name], name).outcome == "fail"


@pytest.mark.parametrize("name", MISSING)
def test_missing_data_is_inconclusive(request_: Request, tmp_path: Path, name: str) -> None:
    assert judged_one(request_, tmp_path, measured, MISSING[name], name).outcome == "inconclusive"


@pytest.mark.parametrize(
    "nodes",
    [
        "Gather Motion, Index Scan",
        "Gather Motion, Index Only Scan",
        "Gather Motion, Dynamic Bitmap Heap Scan, Dynamic Bitmap Index Scan",
    ],
)
def test_an_index_is_read_by_nodes_of_several_names(request_: Request, tmp_path: Path, nodes: str) -> None:
    change = put(None, value_of("plan_nodes", index="btree(c2)"), nodes)
    assert judged_one(request_, tmp_path, measured, change, "index_nodes").outcome == "pass"


def test_a_small_run_is_not_held_against_the_study(tmp_path: Path) -> None:
    request = shipped_request("storage_matrix", tmp_path, "quick", targets=("greenplum",))
    assert judged_one(request, tmp_path, measured, as_it_is, "sizes_as_published").outcome == "not_applicable"


def test_the_study_is_beside_ours_like_with_like(tmp_path: Path) -> None:
    """A load that makes its rows meets the study's, and only that one."""
    reasons = {}
    for profile, method in {"study": "statement, commit and checkpoint", "generated": GENERATED}.items():
        home = tmp_path / profile
        request = shipped_request("storage_matrix", home, profile, targets=("greenplum",))
        judged(request, home, lambda cell, method=method: loads(cell, method), as_it_is, ("row_counts",))
        with run_database(next((home / "ledger").iterdir())) as database:
            found = database.execute("select distinct reason from against_published where step = 'load'").fetchall()
            reasons[profile] = [reason for (reason,) in found]
    assert reasons == {"study": ["the study's load includes making the rows, ours does not"], "generated": [None]}


def loads(cell: Cell, method: str) -> Iterator[Measurement]:
    """A load that was measured by that method."""
    if cell.levels["index"] == "none":
        yield replace(one("load", "load_time", 1.0, clock="client"), method=method)
