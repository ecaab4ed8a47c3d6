"""The ledger's files: what is written comes back, and what is damaged says so in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from math import inf, nan

import pytest

from experiments.model import UserError, Verdict
from warehouse.ledger import RunLedger, find_ledger, ledgers, new_run_id
from warehouse.records import Owner

ADVICE = 'restore it from a backup or delete the file and run "storage-matrix rebuild"'
VERDICT = Verdict("below_heap", "Compressed is smaller", "critical", "pass", "6 of 6", "all rows agree")


def said(action, *arguments):
    with pytest.raises(UserError) as caught:
        action(*arguments)
    return str(caught.value)


def test_a_run_comes_back_as_it_was_written(tmp_path, make_run, experiment, matrix):
    run = make_run(tmp_path).run()
    assert (run.experiment, run.question, run.spec_hash) == ("storage_matrix", experiment.question, "5eed00000000")
    assert run.matrix == matrix
    assert run.published == experiment.published
    assert run.factors == experiment.factors
    assert run.frames == {"below_heap": "select 2"}
    assert (run.parameters, run.profile, run.order_seed) == ({"rows": 20_000, "data_seed": 1}, "quick", 7)
    assert [(target.name, target.launcher, target.lineage[0]) for target in run.targets] == [
        ("gp", "greenplum", "greenplum6")
    ]
    assert run.owner.is_alive()


def test_cells_come_back_as_they_were_written(tmp_path, make_run, results):
    ledger = make_run(tmp_path)
    (environment_id,) = ledger.environments()
    expected = sorted(results, key=lambda result: result.cell.cell_id)
    assert ledger.cells() == [replace(result, environment_id=environment_id) for result in expected]


def test_only_the_last_attempt_counts(tmp_path, make_run, results):
    ledger = make_run(tmp_path)
    for attempt in (2, 10):
        ledger.write_cell(replace(results[0], attempt=attempt, status="failed", reason="died"))
    assert [(cell.attempt, cell.status) for cell in ledger.cells() if cell.cell == results[0].cell] == [(10, "failed")]


def test_every_attempt_is_there_to_be_read(tmp_path, make_run, results):
    ledger = make_run(tmp_path, [replace(results[0], status="failed"), replace(results[0], attempt=2)])
    assert [(one.attempt, one.status) for one in ledger.attempts()] == [(1, "failed"), (2, "ok")]
    assert [(one.attempt, one.status) for one in ledger.cells()] == [(2, "ok")]


def test_an_attempt_is_written_once(tmp_path, make_run, results):
    with pytest.raises(FileExistsError):
        make_run(tmp_path).write_cell(results[0])


def test_a_value_that_is_not_finite_becomes_null_with_its_reason(tmp_path, make_run, results, measure):
    odd = (
        measure("load", "tps", inf),
        measure("load", "skew", nan, reason="one node"),
        measure("size", "rows", Decimal(7)),
    )
    ledger = make_run(tmp_path, [replace(results[0], measurements=odd)])
    assert [(m.value, m.reason) for m in ledger.cells()[0].measurements] == [
        (None, "the value was inf"),
        (None, "one node"),
        (7, None),
    ]


def test_a_message_with_bytes_that_are_no_text_is_kept_without_them(tmp_path, make_run, results):
    ledger = make_run(tmp_path, [replace(results[0], status="failed", reason="file \udcff: ü is missing")])
    assert ledger.cells()[0].reason == "file ?: ü is missing"


def test_the_same_environment_has_the_same_id(tmp_path, make_run):
    first, second = make_run(tmp_path), make_run(tmp_path)
    assert first.environments().keys() == second.environments().keys()
    assert first.write_environment("gp", {"engine": "7.0"}) not in second.environments()
    assert [known.facts["engine"] for known in first.environments().values() if known.facts["engine"] != "7.0"] == [
        "6.24.3"
    ]


def test_the_last_judgement_wins(tmp_path, make_run):
    ledger = make_run(tmp_path)
    assert ledger.verdicts() == ()
    for number in range(1, 12):
        ledger.write_verdicts([replace(VERDICT, observed=str(number))])
    assert [verdict.observed for verdict in ledger.verdicts()] == ["11"]


def test_a_run_that_was_killed_has_no_finish(tmp_path, make_run):
    assert make_run(tmp_path, finish=None).finished() is None
    finish = make_run(tmp_path).finished()
    assert (finish.status, finish.timings) == ("ok", {"cells": 1.5})


def test_run_ids_sort_by_start_and_differ_within_a_second(tmp_path, make_run):
    moment = datetime(2026, 11, 30, 15, 45, tzinfo=UTC)
    assert new_run_id("storage_matrix", moment).startswith("20261130T154500-storage_matrix-")
    assert new_run_id("sub folder/ü", moment).startswith("20261130T154500-sub_folder_-")
    same_second = {make_run(tmp_path).run_id for _ in range(20)}
    assert len(same_second) == 20


def test_two_runs_that_draw_the_same_digits_still_differ(tmp_path, make_run, monkeypatch):
    drawn = iter(["aaaa", "aaaa", "bbbb"])
    monkeypatch.setattr("warehouse.ledger.secrets.token_hex", lambda _: next(drawn))
    assert [make_run(tmp_path).run_id[-4:] for _ in range(2)] == ["aaaa", "bbbb"]


def test_files_are_strict_json_without_leftovers(tmp_path, make_run):
    def refuse(word):
        raise AssertionError(word)

    directory = make_run(tmp_path).directory
    for path in directory.iterdir():
        json.loads(path.read_text(), parse_constant=refuse)
    kinds = sorted({path.name.split("-")[0].removesuffix(".json") for path in directory.iterdir()})
    assert kinds == ["cell", "environment", "finish", "run"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "not valid JSON at byte 0"),
        (b'{"status":"ok","finished_at":"2026', "not valid JSON at byte 29"),
        (b'{"\xc3\xa9": ]', "not valid JSON at byte 7"),
        (b'{"\xff": 1}', "not UTF-8 at byte 2"),
        (b"[]", "the file is not an object"),
        (b'{"status":"ok"}', 'the file has no "finished_at"'),
        (b'{"status":"fine","finished_at":""}', "status is not one of ok, failed, interrupted"),
        (b'{"status":"ok","finished_at":7}', "finished_at is not a text"),
        (b'{"status":"ok","finished_at":"","timings":{"cells":"long"}}', "timings.cells is not a number"),
    ],
)
def test_a_damaged_file_says_where_and_what_to_do(tmp_path, make_run, content, problem):
    ledger = make_run(tmp_path)
    path = ledger.directory / "finish.json"
    path.write_bytes(content)
    assert said(ledger.finished) == f"ledger file {path} is damaged ({problem}): {ADVICE}"


def test_damage_deep_in_a_file_is_told_by_its_path(tmp_path, make_run, results):
    ledger = make_run(tmp_path, results[:1])
    (path,) = ledger.directory.glob("cell-*.json")
    path.write_text(path.read_text().replace('"value":12.0', '"value":"12.0"'))
    problem = "measurements[0].value is not a number or null"
    assert said(ledger.cells) == f"ledger file {path} is damaged ({problem}): {ADVICE}"


def test_a_key_of_a_later_version_is_left_alone(tmp_path, make_run):
    ledger = make_run(tmp_path)
    path = ledger.directory / "finish.json"
    path.write_text(path.read_text().replace("{", '{"new":[1],', 1))
    assert ledger.finished().status == "ok"


def test_a_home_that_cannot_be_written(tmp_path, make_run):
    (tmp_path / "ledger").write_text("in the way")
    assert said(make_run, tmp_path).endswith(": a file is in the way; choose another --home")


def test_runs_are_found_by_id_and_the_newest_by_latest(tmp_path, make_run):
    no_run = f'no run in {tmp_path / "ledger"} yet: "storage-matrix run storage_matrix" makes one'
    assert said(find_ledger, tmp_path) == no_run
    old, new = make_run(tmp_path), make_run(tmp_path, started=datetime(2026, 12, 1, tzinfo=UTC))
    (tmp_path / "ledger" / "20270101T000000-never_began").mkdir()
    assert [ledger.run_id for ledger in ledgers(tmp_path)] == [old.run_id, new.run_id]
    assert find_ledger(tmp_path).run_id == new.run_id
    assert find_ledger(tmp_path, old.run_id).run_id == old.run_id
    assert said(find_ledger, tmp_path, "x") == f'unknown run "x"; the newest runs: {new.run_id}, {old.run_id}'


def test_an_owner_is_known_by_its_start_too():
    this = Owner.this()
    assert this.is_alive()
    assert not replace(this, started=this.started - 60).is_alive()


def test_the_ledger_needs_no_heavy_library():
    heavy = "{'duckdb', 'pandas', 'pyarrow', 'numpy', 'great_expectations', 'prefect'}"
    code = f"import sys, warehouse.ledger, warehouse.publishing, warehouse.querying; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_a_ledger_is_opened_by_its_folder(tmp_path, make_run):
    ledger = make_run(tmp_path)
    assert RunLedger(ledger.directory).run() == ledger.run()
