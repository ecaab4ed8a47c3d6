"""Our ratios beside those of a study: what is compared, what is not, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest

HEAP_SCAN, HEAP_INDEX, PACKED_SCAN, PACKED_INDEX = "a10000000000", "a10000000001", "a30000000000", "a30000000001"


def rows(connection, metric, columns, cell):
    query = f"select {columns} from against_published where metric = ? and cell_id = ?"
    return connection.execute(query, [metric, cell]).fetchall()


def without(results, cell_id, metric):
    return [
        replace(result, measurements=tuple(m for m in result.measurements if m.metric != metric))
        if result.cell.cell_id == cell_id
        else result
        for result in results
    ]


def test_each_figure_stands_beside_our_cell_of_exactly_these_levels(tmp_path, make_run, database):
    connection = database(make_run(tmp_path))
    cells = connection.execute("select metric, cell_id from against_published order by all").fetchall()
    assert cells == [
        ("load_time", HEAP_SCAN),
        ("load_time", PACKED_SCAN),
        ("query_time", HEAP_SCAN),
        ("query_time", PACKED_SCAN),
        ("total_bytes", HEAP_INDEX),
        ("total_bytes", PACKED_INDEX),
    ]


def test_sizes_are_compared_by_the_ratio_to_the_baseline_with_the_same_index(tmp_path, make_run, database):
    connection = database(make_run(tmp_path))
    columns = "our_baseline, our_value, published_baseline, published_value, comparable, reason"
    assert rows(connection, "total_bytes", columns, PACKED_INDEX) == [(45_000_000, 757_000, 44e9, 0.557e9, True, None)]
    ((ours, theirs, agreement),) = rows(
        connection, "total_bytes", "our_ratio, published_ratio, agreement", PACKED_INDEX
    )
    assert ours == pytest.approx(0.016822, abs=1e-6)
    assert theirs == pytest.approx(0.012659, abs=1e-6)
    assert agreement == pytest.approx(1.328865, abs=1e-6)


def test_explain_analyze_meets_our_execution_time(tmp_path, make_run, database):
    connection = database(make_run(tmp_path))
    ((metric, value, method),) = rows(connection, "query_time", "our_metric, our_value, our_method", PACKED_SCAN)
    assert (metric, method) == ("execution_time", "EXPLAIN ANALYZE")
    assert value == pytest.approx(0.2898)


def test_a_load_that_makes_the_rows_is_shown_but_not_comparable(tmp_path, make_run, database):
    connection = database(make_run(tmp_path))
    ((ratio, comparable, reason),) = rows(connection, "load_time", "our_ratio, comparable, reason", PACKED_SCAN)
    assert ratio == pytest.approx(8 / 12)
    assert (comparable, reason) == (False, "the study's load includes making the rows, ours does not")


@pytest.mark.parametrize(
    ("engine", "comparable", "reason"),
    [
        ("HybridDB for PostgreSQL (Greenplum family), 48 segments", True, None),
        ("openGauss 2.0", False, "the study ran on openGauss 2.0"),
        ("PostgreSQL 10", False, "the study ran on PostgreSQL 10"),
    ],
)
def test_only_an_engine_of_the_targets_family_is_comparable(
    tmp_path, make_run, database, experiment, engine, comparable, reason
):
    figures = tuple(replace(figure, engine=engine) for figure in experiment.published)
    connection = database(make_run(tmp_path, experiment=replace(experiment, published=figures)))
    assert rows(connection, "total_bytes", "comparable, reason", PACKED_INDEX) == [(comparable, reason)]


def test_factors_that_the_baseline_does_not_name_must_agree_where_both_have_them(
    tmp_path, make_run, database, experiment
):
    other_index = replace(experiment.published[0], levels={"orientation": "heap", "index": "none"}, value=40e9)
    figures = (*experiment.published, other_index)
    connection = database(make_run(tmp_path, experiment=replace(experiment, published=figures)))
    assert rows(connection, "total_bytes", "published_baseline", PACKED_INDEX) == [(44e9,)]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda e, r: (replace(e, baseline={}), r), "the experiment names no baseline"),
        (lambda e, r: (replace(e, baseline={"orientation": "row"}), r), "the study has no figure at the baseline"),
        (
            lambda e, r: (
                replace(e, published=(*e.published, replace(e.published[0], levels={"orientation": "heap"}))),
                r,
            ),
            "the study has several figures at the baseline",
        ),
        (
            lambda e, r: (replace(e, published=(replace(e.published[0], value=0.0), *e.published[1:])), r),
            "the study's figure at the baseline is 0",
        ),
        (lambda e, r: (e, without(r, HEAP_INDEX, "total_bytes")), "the cell at the baseline has no value"),
        (lambda e, r: (e, without(r, PACKED_INDEX, "total_bytes")), "the run has no total_bytes of this step"),
    ],
)
def test_a_missing_ratio_has_its_reason(tmp_path, make_run, database, experiment, results, spoil, reason):
    spoiled, left = spoil(experiment, results)
    connection = database(make_run(tmp_path, left, experiment=spoiled))
    columns = "our_ratio is null or published_ratio is null, comparable, reason"
    assert rows(connection, "total_bytes", columns, PACKED_INDEX) == [(True, False, reason)]


def test_a_failed_cell_says_so(tmp_path, make_run, database, results):
    failed = [
        replace(result, status="failed", reason="out of disk") if result.cell.cell_id == PACKED_INDEX else result
        for result in results
    ]
    connection = database(make_run(tmp_path, failed))
    assert rows(connection, "total_bytes", "our_value, reason", PACKED_INDEX) == [(None, "failed: out of disk")]


def test_a_baseline_that_the_run_did_not_plan_is_missing(tmp_path, make_run, database, matrix, results):
    left = [result for result in results if result.cell.levels.get("orientation") != "heap"]
    connection = database(make_run(tmp_path, left, matrix=replace(matrix, blocks=matrix.blocks[1:])))
    assert rows(connection, "total_bytes", "our_ratio, reason", PACKED_INDEX) == [
        (None, "the run has no cell at the baseline")
    ]


def test_an_unsupported_cell_says_so(tmp_path, make_run, database, experiment, matrix):
    refused = replace(experiment.published[1], levels=matrix.unsupported[0].levels)
    connection = database(make_run(tmp_path, experiment=replace(experiment, published=(refused,))))
    assert connection.execute("select reason from against_published").fetchall() == [
        ("unsupported: rle_type needs columns",)
    ]
