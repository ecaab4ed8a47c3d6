"""Publishing: every ended run gets in, nobody is blocked, and no crash harms the file that is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import duckdb
import pytest

from experiments.model import UserError, Verdict
from warehouse.opening import open_to_read, warehouse_file
from warehouse.publishing import publish, rebuild

LATER = datetime(2026, 12, 1, tzinfo=UTC)


def ask(home, sql):
    with closing(open_to_read(home)) as connection:
        return connection.execute(sql).fetchall()


def runs(home):
    return [run for (run,) in ask(home, "select run_id from run order by run_id")]


def content(home):
    """Every table, as sorted rows."""
    with closing(open_to_read(home)) as connection:
        tables = [name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()]
        return {name: connection.execute(f"from {name} order by all").fetchall() for name in tables}


def orphaned(ledger):
    """As if the process that made the run had been killed."""
    path = ledger.directory / "run.json"
    run = json.loads(path.read_text())
    run["owner"]["started"] -= 3600
    path.write_text(json.dumps(run))


def cut_in_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def test_finished_runs_get_in_once(tmp_path, make_run):
    first = make_run(tmp_path)
    assert publish(tmp_path).loaded == (first.run_id,)
    second = make_run(tmp_path, started=LATER)
    assert publish(tmp_path).loaded == (second.run_id,)
    before = warehouse_file(tmp_path).stat().st_ino
    assert publish(tmp_path).loaded == ()
    assert warehouse_file(tmp_path).stat().st_ino == before
    assert runs(tmp_path) == [first.run_id, second.run_id]


def test_an_empty_home_gets_an_empty_warehouse(tmp_path):
    assert publish(tmp_path / "ho'me ü").loaded == ()
    assert runs(tmp_path / "ho'me ü") == []


def test_a_run_that_goes_on_waits_and_one_that_was_killed_is_interrupted(tmp_path, make_run):
    ledger = make_run(tmp_path, finish=None)
    assert publish(tmp_path).loaded == ()
    orphaned(ledger)
    assert publish(tmp_path).loaded == (ledger.run_id,)
    assert ask(tmp_path, "select status, finished_at from run") == [("interrupted", None)]
    assert ask(tmp_path, "select count(*) from cell where status = 'ok'") == [(7,)]


def test_a_run_that_was_resumed_or_judged_again_is_loaded_again(tmp_path, make_run, results):
    ledger = make_run(tmp_path, results[1:])
    publish(tmp_path)
    ledger.write_verdicts([Verdict("e", "c", "critical", "fail", "", "")])
    assert publish(tmp_path).loaded == (ledger.run_id,)
    ledger.write_cell(results[0])
    ledger.write_verdicts([Verdict("e", "c", "critical", "pass", "", "")])
    assert publish(tmp_path).loaded == (ledger.run_id,)
    assert ask(tmp_path, "select outcome from verdict") == [("pass",)]
    assert ask(tmp_path, "select count(*) from cell") == [(8,)]


def test_readers_keep_what_they_have_open(tmp_path, make_run):
    make_run(tmp_path)
    publish(tmp_path)
    with closing(open_to_read(tmp_path)) as reader:
        make_run(tmp_path, started=LATER)
        assert len(publish(tmp_path).loaded) == 1
        assert reader.execute("select count(*) from run").fetchall() == [(1,)]
    assert len(runs(tmp_path)) == 2


def test_a_write_ahead_log_beside_the_file_puts_publishing_off(tmp_path, make_run):
    make_run(tmp_path)
    publish(tmp_path)
    make_run(tmp_path, started=LATER)
    file, log = warehouse_file(tmp_path), tmp_path / "warehouse.duckdb.wal"
    log.touch()
    sentence = (
        f"{file} is open to write elsewhere (warehouse.duckdb.wal lies beside it): close it there; "
        'if nobody has it open, delete both files and run "storage-matrix rebuild"'
    )
    assert publish(tmp_path).put_off == f"publishing is put off to the next run: {sentence}"
    with pytest.raises(UserError) as caught:
        rebuild(tmp_path)
    assert str(caught.value) == sentence
    log.unlink()
    assert len(publish(tmp_path).loaded) == 1


def test_a_writer_without_a_log_puts_publishing_off_too(tmp_path, make_run):
    make_run(tmp_path)
    publish(tmp_path)
    make_run(tmp_path, started=LATER)
    code = f"import duckdb; c = duckdb.connect({str(warehouse_file(tmp_path))!r}); print('open', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        writer.stdout.readline()
        put_off = publish(tmp_path).put_off
        writer.communicate(b"\n")
    assert put_off.endswith(f"{warehouse_file(tmp_path)} is open to write elsewhere: close it there")


def test_a_lock_that_is_held_puts_publishing_off(tmp_path):
    code = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); print('held', flush=True); input()"
    (tmp_path / "warehouse.lock").touch()
    command = [sys.executable, "-c", code, str(tmp_path / "warehouse.lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        started = time.monotonic()
        put_off = publish(tmp_path, wait=0.3).put_off
        holder.communicate(b"\n")
    assert put_off.endswith(f"another process has held {tmp_path / 'warehouse.lock'} for 0.3 s")
    assert time.monotonic() - started < 5


def test_a_home_that_is_full_or_closed_puts_publishing_off(tmp_path, make_run, monkeypatch):
    make_run(tmp_path)
    publish(tmp_path)
    make_run(tmp_path, started=LATER)

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("warehouse.publishing.shutil.copyfile", refuse)
    assert publish(tmp_path).put_off.endswith("warehouse.duckdb.new: No space left on device; make room there")
    assert len(runs(tmp_path)) == 1


@pytest.mark.parametrize("foreign", ["text", "empty", "duckdb"])
@pytest.mark.parametrize("action", [publish, rebuild])
def test_a_file_of_another_program_is_left_alone(tmp_path, make_run, foreign, action):
    make_run(tmp_path)
    file = warehouse_file(tmp_path)
    if foreign == "duckdb":
        with duckdb.connect(str(file)) as connection:
            connection.execute("create table mine (a int)")
    else:
        file.write_text("not a database" if foreign == "text" else "")
    before = file.read_bytes()
    with pytest.raises(UserError) as caught:
        action(tmp_path)
    assert str(caught.value) == (
        f'{file} is not a storage-matrix warehouse: move it away, then run "storage-matrix rebuild"'
    )
    assert caught.value.exit_code == 2
    assert file.read_bytes() == before


def test_a_damaged_run_is_skipped_with_its_reason_and_the_others_get_in(tmp_path, make_run):
    damaged, sound = make_run(tmp_path), make_run(tmp_path, started=LATER)
    path = damaged.directory / "cell-a10000000000-1-1.json"
    cut_in_half(path)
    publication = publish(tmp_path)
    assert publication.loaded == (sound.run_id,)
    (sentence,) = publication.skipped
    assert sentence.startswith(
        f"run {damaged.run_id} is left out of the warehouse: ledger file {path} is damaged (not valid JSON at byte "
    )
    assert "\n" not in sentence


def test_a_run_damaged_later_keeps_its_place(tmp_path, make_run):
    ledger = make_run(tmp_path)
    publish(tmp_path)
    cut_in_half(ledger.directory / "run.json")
    assert len(publish(tmp_path).skipped) == 1
    assert runs(tmp_path) == [ledger.run_id]


def test_rebuild_refuses_a_damaged_ledger_and_keeps_the_file(tmp_path, make_run):
    ledger = make_run(tmp_path)
    publish(tmp_path)
    before = warehouse_file(tmp_path).read_bytes()
    cut_in_half(ledger.directory / "finish.json")
    with pytest.raises(UserError, match=r"finish\.json is damaged"):
        rebuild(tmp_path)
    assert warehouse_file(tmp_path).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger", "warehouse.duckdb", "warehouse.lock"]


def test_rebuild_gives_the_same_content(tmp_path, make_run, experiment, results):
    first = make_run(tmp_path)
    publish(tmp_path)
    changed = replace(experiment, published=experiment.published[:2])
    second = make_run(tmp_path, experiment=changed, started=LATER, finish="failed")
    publish(tmp_path)
    first.write_verdicts([Verdict("e", "c", "info", "pass", "", "")])
    first.write_cell(replace(results[0], attempt=2))
    publish(tmp_path)
    before = content(tmp_path)
    assert rebuild(tmp_path) == (first.run_id, second.run_id)
    assert content(tmp_path) == before
    assert len(before["published"]) == 2


def test_a_warehouse_of_another_version_is_made_anew(tmp_path, make_run, monkeypatch):
    ledger = make_run(tmp_path)
    monkeypatch.setattr("warehouse.loading.schema_format", lambda: "older")
    publish(tmp_path)
    monkeypatch.undo()
    assert publish(tmp_path).loaded == (ledger.run_id,)
    assert publish(tmp_path).loaded == ()


@pytest.mark.parametrize(
    "moment",
    ["warehouse.publishing._put_in_place", "warehouse.publishing.load_run", "warehouse.publishing.create_schema"],
)
def test_kill_9_leaves_the_former_file_and_the_next_publishing_succeeds(tmp_path, make_run, moment):
    first = make_run(tmp_path)
    if "create_schema" not in moment:
        publish(tmp_path)
    second = make_run(tmp_path, started=LATER)
    code = (
        "import os, pathlib, sys, unittest.mock as mock; from warehouse.publishing import publish\n"
        "with mock.patch(sys.argv[1], lambda *_: os.kill(os.getpid(), 9)): publish(pathlib.Path(sys.argv[2]))"
    )
    killed = subprocess.run([sys.executable, "-c", code, moment, str(tmp_path)], check=False)
    assert killed.returncode == -9
    assert (tmp_path / "warehouse.duckdb.new").exists()
    if "create_schema" not in moment:
        assert runs(tmp_path) == [first.run_id]
    publish(tmp_path)
    assert runs(tmp_path) == [first.run_id, second.run_id]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger", "warehouse.duckdb", "warehouse.lock"]


def test_two_runs_that_end_at_the_same_second_are_both_in(tmp_path, make_run):
    ledgers = [make_run(tmp_path, finish=None) for _ in range(2)]
    code = (
        "import pathlib, sys; from warehouse.ledger import RunLedger; from warehouse.publishing import publish\n"
        "home, run = pathlib.Path(sys.argv[1]), sys.argv[2]; input()\n"
        "RunLedger(home / 'ledger' / run).finish('ok', {}); assert publish(home).put_off is None"
    )
    ended = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), ledger.run_id], stdin=subprocess.PIPE)
        for ledger in ledgers
    ]
    for process in ended:
        process.stdin.write(b"\n")
        process.stdin.flush()
    for process in ended:
        process.communicate()
        assert process.returncode == 0
    assert runs(tmp_path) == sorted(ledger.run_id for ledger in ledgers)


def test_the_file_is_one_that_duckdb_1_5_reads(tmp_path, make_run):
    make_run(tmp_path)
    publish(tmp_path)
    assert ask(tmp_path, "select tags['storage_version'] from duckdb_databases() where not internal") == [("v1.5.0+",)]


def test_permissions_of_the_home_are_kept(tmp_path, make_run):
    home = tmp_path / "private"
    home.mkdir(mode=0o700)
    make_run(home)
    publish(home)
    assert oct(os.stat(home).st_mode)[-3:] == "700"
