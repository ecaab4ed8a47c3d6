"""``run``: what it prints when the flow has done the work, and how it ends when it is interrupted."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import duckdb
import pytest

from experiments.model import Request
from flows import running
from flows.asking import Ask
from flows.running import Finished
from tests.flows.conftest import Cli
from tests.flows.test_engine import write_experiment
from warehouse.ledger import find_ledger
from warehouse.loading import run_database
from warehouse.publishing import Publication


class Played:
    """A flow that has already run: the finished run of the home, told as if it had been measured now."""

    def __init__(self) -> None:
        self.publication = Publication(("a run",))
        self.error: BaseException | None = None
        self.asked: Request | None = None

    def __call__(self, ask: Ask, request: Request, home: Path, secrets: Any, watcher: Any) -> Finished:
        self.asked = request
        watcher.phase("starting embedded")
        watcher.planned(29)
        if self.error is not None:
            raise self.error
        ledger = find_ledger(home)
        return Finished(
            ledger.run_id,
            3,
            ledger.cells(),
            list(ledger.verdicts()),
            home / "reports" / "run.html",
            self.publication,
            {"set_up": 2.1, "prefect_start": 11.8, "cells": 41.3, "load": 0.6, "expectations": 5.2},
            run_database(ledger.directory),
        )


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    flow = Played()
    monkeypatch.setattr(running, "run", flow)
    return flow


def test_a_run_ends_with_tables_and_where_everything_is(cli: Cli, populated_home: Path, played: Played) -> None:
    ended = cli("run", "storage_matrix", "--seed", "7", "--repeats", "5")
    assert (ended.code, ended.err) == (3, "starting embedded\n")
    assert played.asked is not None
    assert (played.asked.seed, played.asked.repeats) == (7, 5)
    lines = [line.rstrip() for line in ended.out.splitlines()]
    assert any(line.startswith("embedded: ") for line in lines)
    assert any(line.startswith("duckdb") for line in lines)
    assert "verdicts" in lines
    unsupported = [line for line in lines if " unsupported " in line]
    assert [line.split(" (")[0] for line in unsupported] == ["embedded: 16 cells unsupported"]
    assert any(line.startswith("embedded: 1 cell failed") for line in lines)
    assert any(line.startswith("duckdb: 1 cell timed out") for line in lines)
    assert lines[-5:] == [
        "",
        f"run        {find_ledger(populated_home).run_id}, order seed 7",
        "time       set-up 2.1 s, Prefect 12 s, cells 41 s, loading 0.6 s, expectations 5.2 s",
        f"warehouse  {populated_home}/warehouse.duckdb",
        f"report     {populated_home}/reports/run.html",
    ]


def test_a_run_as_data_is_one_document(cli: Cli, populated_home: Path, played: Played) -> None:
    ended = cli("run", "storage_matrix", "--json", "--seed", "7")
    assert (ended.code, ended.err) == (3, "starting embedded\n")
    document = json.loads(ended.out)
    ledger = find_ledger(populated_home)
    told = {name: document[name] for name in ("run_id", "exit_code", "seed", "warehouse", "put_off", "report")}
    assert told == {
        "run_id": ledger.run_id,
        "exit_code": 3,
        "seed": 7,
        "warehouse": str(populated_home / "warehouse.duckdb"),
        "put_off": None,
        "report": str(populated_home / "reports" / "run.html"),
    }
    statuses = [cell["status"] for cell in document["cells"]]
    assert {status: statuses.count(status) for status in statuses} == {
        "ok": 26,
        "failed": 1,
        "timeout": 1,
        "unsupported": 16,
    }
    measured = next(cell for cell in document["cells"] if cell["status"] == "ok" and cell["levels"]["index"] == "none")
    assert "load_time" in [median["metric"] for median in measured["medians"]]
    assert [verdict["expectation"] for verdict in document["verdicts"]] == [
        verdict.expectation for verdict in ledger.verdicts()
    ]


def test_a_warehouse_that_cannot_be_written_now_is_said(cli: Cli, populated_home: Path, played: Played) -> None:
    played.publication = Publication(put_off="publishing is put off to the next run: it is open elsewhere")
    ended = cli("run", "storage_matrix")
    assert "\nwarehouse  publishing is put off to the next run: it is open elsewhere\n" in ended.out


def test_an_interrupted_run_says_where_the_finished_cells_are(cli: Cli, populated_home: Path, played: Played) -> None:
    played.error = KeyboardInterrupt()
    assert cli("run", "storage_matrix") == (
        130,
        "",
        f"starting embedded\nstorage-matrix: interrupted; finished cells are kept in {populated_home}/ledger\n",
    )


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """The command line in a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def begin(*words: str) -> subprocess.Popen[str]:
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", "from flows.cli import main; main()", *words],
                env=os.environ | {"STORAGE_MATRIX_HOME": str(tmp_path / "home")},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def wait_for(stream: IO[str] | None, words: str) -> None:
    assert stream is not None
    seen = []
    for line in stream:
        seen.append(line)
        if words in line:
            return
    pytest.fail("".join(seen))


@pytest.mark.e2e
def test_finished_cells_outlive_an_interrupt(start: Start, tmp_path: Path) -> None:
    process = start("run", "storage_matrix", "--target", "duckdb", "--set", "rows=2000")
    wait_for(process.stderr, "[2/")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == f"storage-matrix: interrupted; finished cells are kept in {tmp_path}/home/ledger"
    assert "Traceback" not in err
    ledger = find_ledger(tmp_path / "home")
    finished = ledger.finished()
    assert finished is not None
    assert finished.status == "interrupted"
    kept = [result.status for result in ledger.cells()]
    assert kept.count("ok") >= 2
    with duckdb.connect(str(tmp_path / "home" / "warehouse.duckdb"), read_only=True) as connection:
        assert connection.execute("select status from run").fetchall() == [("interrupted",)]


@pytest.mark.e2e
def test_sigterm_cancels_the_statement_and_keeps_the_cell(start: Start, tmp_path: Path) -> None:
    write_experiment(tmp_path / "home", count="select pg_sleep(100)")
    only = ("--only", "index=none", "--only", "fillfactor=100")
    process = start("run", "mine", "--target", "embedded", *only, "--seed", str(seed_of_a_first_noop()))
    wait_for(process.stderr, "[1/2] embedded no-op")
    time.sleep(3)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == f"storage-matrix: interrupted; finished cells are kept in {tmp_path}/home/ledger"
    assert "Traceback" not in err
    kept = [(result.cell.role, result.status) for result in find_ledger(tmp_path / "home").cells()]
    assert sorted(kept) == [("noop", "ok"), ("result", "cancelled")]


def seed_of_a_first_noop() -> int:
    """An order seed that runs the second of two blocks, the no-op cell, first."""
    for seed in range(99):
        blocks = ["cell", "no-op"]
        random.Random(seed).shuffle(blocks)
        if blocks[0] == "no-op":
            return seed
    raise AssertionError("99 shuffles of two leave one of them first")


@pytest.mark.e2e
def test_a_run_from_the_command_line_to_the_exit_code(start: Start, tmp_path: Path) -> None:
    words = ("--target", "duckdb", "--only", "blocksize=256kB", "--set", "rows=2000", "--repeats", "1", "--seed", "7")
    process = start("run", "storage_matrix", *words, "--json")
    out, err = process.communicate(timeout=280)
    document = json.loads(out)
    assert process.returncode == document["exit_code"] == 0, err
    assert [cell["status"] for cell in document["cells"]] == ["ok"] * 6
    assert {verdict["outcome"] for verdict in document["verdicts"]} <= {"pass", "inconclusive", "not_applicable"}
    assert Path(document["report"]).exists()
    assert "[7/7]" in err
    assert "storage-matrix:" not in err
    _the_script_says_what_the_run_sent(start, tmp_path, document["cells"], words)


def _the_script_says_what_the_run_sent(
    start: Start, home: Path, cells: list[dict[str, Any]], words: tuple[str, ...]
) -> None:
    """A step that sends other statements than before must be written by hand like that, too."""
    [cell_id] = [
        cell["cell_id"]
        for cell in cells
        if (cell["levels"]["compression"], cell["levels"]["index"]) == ("zstd", "art(c2)")
    ]
    script, err = start("plan", "storage_matrix", *words, "--script", cell_id).communicate(timeout=60)
    assert err == ""
    steps = script.split("== step create'\n")[1].split(".print '== leave nothing behind'")[0]
    written = [_plain(text) for text in re.split(r";\n", re.sub(r"^\..*\n", "", steps, flags=re.MULTILINE))]
    results = find_ledger(home / "home").cells()
    block = next(result.cell.block_id for result in results if result.cell.cell_id == cell_id)
    sent = {_plain(one.sql) for result in results if result.cell.block_id == block for one in result.statements}
    # The looked-up value is a variable in the script and a literal in the run.
    assert [text for text in written if text not in sent and "getvariable" not in text] == [""]


def _plain(sql: str) -> str:
    return "\n".join(line for line in sql.strip().splitlines() if not line.startswith("--"))
