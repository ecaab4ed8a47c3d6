"""What analysts see of a run whose values are known."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from scipy.stats import binom

from warehouse.opening import open_to_read
from warehouse.publishing import publish

STARTED = datetime(2026, 11, 30, 15, 45, tzinfo=UTC)

COUNT = "select count(*) from"


def changed(results, cell_id, **changes):
    return [replace(result, **changes) if result.cell.cell_id == cell_id else result for result in results]


def test_storage_matrix_has_one_wide_row_per_block_and_index(tmp_path, make_run, database):
    connection = database(make_run(tmp_path))
    rows = connection.execute(
        "select storage_form, load_time, total_bytes, group_by, lookup_scan, index_level, index_build, lookup_index,"
        " status from storage_matrix order by position"
    ).fetchall()
    assert rows == [
        ("heap", 12.0, 45_000_000, 1.8, 1.5, "btree(c2)", 1.3, 0.037, "ok"),
        ("ao_row 8kB compression=none", 8.1, 1_500_000, 0.168, 0.096, "btree(c2)", 0.356, 0.032, "ok"),
        ("ao_row 8kB zlib:5", 8.0, 757_000, 0.322, 0.265, "btree(c2)", 0.441, 0.037, "ok"),
    ]


def test_storage_matrix_splits_the_levels_into_columns(tmp_path, make_run, database):
    connection = database(make_run(tmp_path))
    columns = "orientation, access_method, blocksize, compression, toast, fillfactor, load_wal_bytes"
    rows = connection.execute(f"select {columns} from storage_matrix order by position").fetchall()
    assert rows[0] == ("heap", None, None, None, None, None, 1000.0)
    assert rows[2] == ("ao_row", None, "8kB", "zlib:5", None, None, 1000.0)


def test_a_form_without_a_changed_cell_keeps_its_row(tmp_path, make_run, database, matrix, results):
    block = matrix.blocks[0]
    only_base = replace(block, cells=block.cells[:1])
    connection = database(make_run(tmp_path, [results[0]], matrix=replace(matrix, blocks=(only_base,), unsupported=())))
    rows = connection.execute(
        "select storage_form, index_level, total_bytes, lookup_index from storage_matrix"
    ).fetchall()
    assert rows == [("heap", None, 44_000_000, None)]


def test_a_level_in_a_block_of_its_own_has_its_own_load_and_the_base_of_the_form(
    tmp_path, make_run, database, matrix, results, measure
):
    block, (base, index) = matrix.blocks[0], matrix.blocks[0].cells
    alone = replace(index, block_id="b77777777777")
    matrix = replace(
        matrix,
        blocks=(replace(block, cells=(base,)), replace(block, block_id=alone.block_id, cells=(alone,))),
    )
    own = measure("load", "load_time", 99.0, clock="client")
    indexed = replace(results[1], cell=alone, measurements=(*results[1].measurements, own))
    connection = database(make_run(tmp_path, [results[0], indexed], matrix=matrix))
    assert connection.execute("select load_time, group_by, lookup_index from storage_matrix").fetchall() == [
        (99.0, 1.8, 0.037)
    ]


def test_a_failed_cell_keeps_its_row_and_status_but_gives_no_value(tmp_path, make_run, database, results):
    failed = changed(results, "a10000000001", status="failed", reason="out of disk", sqlstate="53100")
    connection = database(make_run(tmp_path, failed))
    columns = "load_time, group_by, index_build, lookup_index, total_bytes, status, reason"
    row = connection.execute(f"select {columns} from storage_matrix where storage_form = 'heap'").fetchone()
    assert row == (12.0, 1.8, None, None, None, "failed", "out of disk")


@pytest.mark.parametrize("status", ["failed", "timeout", "cancelled", "unsupported"])
def test_samples_of_cells_that_are_not_ok_stay_out_of_the_views_of_results(
    tmp_path, make_run, database, results, status
):
    connection = database(make_run(tmp_path, changed(results, "a10000000000", status=status, reason="why")))
    for view in ("sample", "summary", "latest"):
        assert connection.execute(f"{COUNT} {view} where cell_id = 'a10000000000'").fetchone() == (0,)
    kept = connection.execute(f"{COUNT} measurement where cell_id = 'a10000000000'").fetchone()
    assert kept == (len(results[0].measurements),)


def test_warmups_and_the_noop_cell_are_no_results(tmp_path, make_run, database):
    connection = database(make_run(tmp_path))
    assert connection.execute("select max(value) from sample where metric = 'query_time'").fetchone() == (
        pytest.approx(1.98),
    )
    assert connection.execute(f"{COUNT} sample where step = 'noop'").fetchone() == (0,)
    assert connection.execute(f"{COUNT} measurement where step = 'noop'").fetchone() == (1,)


def test_summary_is_the_median_with_an_interval(tmp_path, make_run, database, results, measure):
    samples = [measure("lookup", "tps", float(value), repetition=value) for value in range(1, 11)]
    connection = database(make_run(tmp_path, changed(results, "a10000000000", measurements=tuple(samples))))
    columns = "n, median, minimum, maximum, interval_low, interval_high, coverage"
    row = connection.execute(f"select {columns} from summary where metric = 'tps'").fetchone()
    assert row == (10, 5.5, 1.0, 10.0, 2.0, 9.0, 0.95)


def test_replicates_of_a_block_are_one_summary_and_one_row(tmp_path, make_run, database, matrix, results, measure):
    def again(cell):
        return replace(cell, replicate=2, block_id="b88888888888")

    block = matrix.blocks[0]
    second = replace(block, block_id="b88888888888", replicate=2, cells=tuple(map(again, block.cells)))
    slower = measure("load", "load_time", 14.0, clock="client")
    repeated = [replace(results[0], cell=second.cells[0], measurements=(slower,))]
    plan = replace(matrix, blocks=(*matrix.blocks, second))
    connection = database(make_run(tmp_path, [*results, *repeated], matrix=plan))
    summary = "select n, median from summary where metric = 'load_time' and cell_id = 'a10000000000'"
    assert connection.execute(summary).fetchall() == [(2, 13.0)]
    line = "select load_time, index_level from storage_matrix where storage_form = 'heap'"
    assert connection.execute(line).fetchall() == [(13.0, "btree(c2)")]


def test_one_sample_is_not_sure_of_anything(tmp_path, make_run, database):
    connection = database(make_run(tmp_path))
    row = connection.execute(
        "select n, interval_low, interval_high, coverage from summary"
        " where metric = 'load_time' and cell_id = 'a10000000000'"
    ).fetchone()
    assert row == (1, 12.0, 12.0, 0.0)


def test_the_interval_covers_95_percent_from_6_samples_on(tmp_path, make_run, database):
    connection = database(make_run(tmp_path))
    ranks = connection.execute(
        "select n, greatest(1, floor((n + 1) / 2 - 0.98 * sqrt(n))) from range(6, 2000) t(n)"
    ).fetchall()
    assert all(1 - 2 * binom.cdf(rank - 1, n, 0.5) >= 0.95 for n, rank in ranks)


def test_latest_takes_the_newest_run_with_a_value_of_the_same_content(tmp_path, make_run, results):
    first = make_run(tmp_path)
    failed = changed(results, "a10000000000", status="failed", reason="why")
    second = make_run(tmp_path, failed, started=STARTED + timedelta(hours=1))
    other = [replace(result, cell=replace(result.cell, content_hash="0ther0000000")) for result in results]
    third = make_run(tmp_path, other, started=STARTED + timedelta(hours=2))
    publish(tmp_path)
    connection = open_to_read(tmp_path)
    rows = connection.execute(
        "select cell_id, content_hash, run_id from latest"
        " where metric = 'load_time' and cell_id in ('a10000000000', 'a20000000000') order by all"
    ).fetchall()
    asked = connection.execute("select distinct profile, parameters->>'rows' from latest").fetchall()
    connection.close()
    assert rows == [
        ("a10000000000", "0ther0000000", third.run_id),
        ("a10000000000", "c0ffee000002", first.run_id),
        ("a20000000000", "0ther0000000", third.run_id),
        ("a20000000000", "c0ffee000002", second.run_id),
    ]
    assert asked == [("quick", "20000")]
