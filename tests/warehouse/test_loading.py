"""What a run's ledger becomes in the warehouse's tables."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from experiments.model import UserError, Verdict
from warehouse.loading import run_database
from warehouse.rows import in_words


def test_a_run_that_still_runs_has_no_end(tmp_path, make_run, database):
    connection = database(make_run(tmp_path, finish=None))
    assert connection.execute("select status, finished_at, timings from run").fetchall() == [("running", None, None)]


def test_a_finished_run_has_status_and_timings(tmp_path, make_run, database):
    connection = database(make_run(tmp_path, finish="failed"))
    assert connection.execute("select status, timings->>'cells', parameters->>'rows' from run").fetchall() == [
        ("failed", "1.5", "20000")
    ]


def test_the_plan_is_there_in_declared_order_with_what_the_target_cannot_do(tmp_path, make_run, database):
    connection = database(make_run(tmp_path))
    rows = connection.execute(
        "select position, storage_form, in_place, is_base, role, status from planned_cell order by position"
    ).fetchall()
    assert rows[:2] == [
        (1, "heap", "none", True, "result", "planned"),
        (2, "heap", "btree(c2)", False, "result", "planned"),
    ]
    assert rows[6:] == [
        (7, "default", None, True, "noop", "planned"),
        (8, "ao_row 8kB rle_type:1", "none", True, "result", "unsupported"),
    ]


def test_unsupported_cells_have_a_row_and_cells_that_never_ran_have_none(tmp_path, make_run, database, results):
    connection = database(make_run(tmp_path, results[:2]))
    rows = connection.execute("select cell_id, status, reason, attempt from cell order by cell_id").fetchall()
    assert rows == [
        ("a10000000000", "ok", None, 1),
        ("a10000000001", "ok", None, 1),
        ("e00000000000", "unsupported", "rle_type needs columns", 0),
    ]


def test_levels_keep_their_declared_spelling_and_order(tmp_path, make_run, database, matrix, results):
    mixed = {"index": "none", "compression": "zlib:5", "fillfactor": 70, "orientation": "ao_row"}
    cell = replace(matrix.blocks[0].cells[0], levels=mixed)
    connection = database(make_run(tmp_path, [replace(results[0], cell=cell)]))
    row = connection.execute("select levels, levels->>'fillfactor' from cell where attempt = 1").fetchone()
    assert row == ('{"orientation": "ao_row", "compression": "zlib:5", "index": "none", "fillfactor": 70}', "70")


def test_a_form_in_words_names_the_factor_of_a_number_or_a_bare_word():
    assert in_words({"orientation": "ao_row", "blocksize": "8kB", "compression": "zlib:5"}) == "ao_row 8kB zlib:5"
    assert in_words({"compression": "pglz", "toast": "default", "fillfactor": 70, "logged": True}) == (
        "pglz toast=default fillfactor=70 logged=true"
    )


def test_times_are_utc(tmp_path, make_run, database, results):
    east = replace(results[0], started_at="2026-11-30T17:46:00+02:00")
    connection = database(make_run(tmp_path, [east]))
    assert (
        str(connection.execute("select started_at from cell where attempt = 1").fetchone()[0]) == "2026-11-30 15:46:00"
    )


def test_plans_and_the_last_verdicts_are_there(tmp_path, make_run, database):
    ledger = make_run(tmp_path)
    for outcome in ("fail", "pass"):
        ledger.write_verdicts([Verdict("below_heap", "Smaller", "critical", outcome, "2 of 2", "")])
    connection = database(ledger)
    assert connection.execute("select expectation, outcome from verdict").fetchall() == [("below_heap", "pass")]
    assert connection.execute("select distinct plan->'Plan'->>'Node Type' from plan").fetchall() == [("Seq Scan",)]


def test_an_unknown_metric_is_refused(tmp_path, make_run, results, measure):
    odd = replace(measure("load", "tps", 1.0), metric="speed")
    ledger = make_run(tmp_path, [replace(results[0], measurements=(odd,))])
    with pytest.raises(UserError) as caught:
        run_database(ledger.directory)
    assert str(caught.value) == (
        f"run {ledger.run_id}, cell a10000000000, step load: metric speed is not known; "
        "metrics are declared in experiments/metrics.py"
    )


def test_a_metric_in_another_unit_is_refused(tmp_path, make_run, results, measure):
    odd = replace(measure("load", "load_time", 1.0), unit="ms")
    ledger = make_run(tmp_path, [replace(results[0], measurements=(odd,))])
    with pytest.raises(UserError, match="metric load_time is in seconds, not in ms"):
        run_database(ledger.directory)


def test_a_row_that_the_tables_refuse_is_the_ledgers_fault(tmp_path, make_run, results, measure):
    odd = replace(results[0], measurements=(measure("load", "tps", 1.0, repetition=0),))
    ledger = make_run(tmp_path, [odd])
    with pytest.raises(
        UserError, match=f"the ledger of run {ledger.run_id} does not fit the warehouse: Constraint Error"
    ):
        run_database(ledger.directory)


def test_what_a_cell_sent_stays_in_the_ledger(tmp_path, make_run, database):
    ledger = make_run(tmp_path)
    assert all(json.loads(path.read_text())["statements"] for path in ledger.directory.glob("cell-*.json"))
    tables = database(ledger).execute("select table_name from duckdb_tables()").fetchall()
    assert ("statement",) not in tables


def test_a_thousand_cells_load_in_seconds(tmp_path, make_run, matrix, results, measure):
    samples = tuple(measure("load", "load_time", float(number), repetition=number) for number in range(1, 101))
    base = results[0].cell
    cells = [replace(base, cell_id=f"f{number:011d}", block_id=f"b{number:011d}") for number in range(1000)]
    blocks = tuple(replace(matrix.blocks[0], block_id=cell.block_id, cells=(cell,)) for cell in cells)
    many = [replace(results[0], cell=cell, measurements=samples) for cell in cells]
    ledger = make_run(tmp_path, many, matrix=replace(matrix, blocks=blocks))
    started = time.process_time()
    with run_database(ledger.directory) as connection:
        assert connection.execute("select count(*) from measurement").fetchone() == (100_000,)
    assert time.process_time() - started < 10
