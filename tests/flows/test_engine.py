"""A run on a real server when things go wrong: a dying server, a failing load, a slow query, an interrupt, kill -9."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from experiments.model import Cell
from flows.asking import Ask, resolve
from flows.engine import Engine
from flows.outcome import exit_code
from tasks.block import BlockRun
from tasks.launchers.file import DuckDBFiles
from tasks.launchers.place import Place
from tasks.launchers.reaping import reap_orphans
from tasks.launchers.server import Server
from tasks.target_run import TargetRun
from tests.flows.conftest import Silent
from warehouse.publishing import publish, warehouse_file

SPEC = """
question = "Does it hold?"
source = "source"
[parameters]
rows = 50
[profiles]
quick = {}
[table]
key = "id"
row_bytes = 40
[table.columns]
id = "integer"
v = "text"
[factors]
fillfactor = { postgresql = [100, 70] }
[in_place]
index = { postgresql = ["none", "btree(id)", "hash(id)"], duckdb = ["none", "art(id)"] }
[[steps]]
create = "create"
[[steps]]
load = "load"
[[steps]]
index = "index_build"
[[steps]]
query = "count"
repeats = 1
warmups = 0
"""
SQL = {
    "source": "create table {{source}} as select g::integer as id, 'v' || g as v from generate_series(1, {{rows}}) g(g)",
    "create": "create table {{table}} ({{columns}}){{storage}}",
    "load": "insert into {{table}} select id, v from {{source}}",
    "count": "select count(*) from {{table}}",
}


@pytest.fixture
def home(home: Path) -> Path:
    """A home with an experiment of the user's own."""
    write_experiment(home)
    return home


def write_experiment(home: Path, **sql: str) -> None:
    folder = home / "experiments" / "mine"
    (folder / "sql").mkdir(parents=True, exist_ok=True)
    (folder / "experiment.toml").write_text(SPEC)
    for name, text in {**SQL, **sql}.items():
        (folder / "sql" / f"{name}.sql").write_text(text)


def run(home: Path, measure: Callable[[Engine, Cell], object] | None = None, **asked: object) -> Engine:
    """The engine after a run without Prefect; ``measure`` stands in the place of the task."""
    ask = Ask("mine", **{"targets": ("embedded",), "seed": 1, **asked})  # type: ignore[arg-type]
    request, urls = resolve(ask, home, os.environ)
    engine = Engine(request, home, urls, Silent())
    try:
        engine.open()
        engine.run(lambda cell: measure(engine, cell) if measure else engine.measure_cell(cell))
    finally:
        engine.close()
    return engine


def kill(server: Server, how_many: int | None = None) -> None:
    """kill -9 of the first so many of its processes, or of all."""
    for pid in server.processes()[:how_many]:
        os.kill(pid, signal.SIGKILL)


def last_statuses(engine: Engine) -> list[str]:
    return [result.status for result in engine.ledger.cells() if result.cell.role == "result"]


def test_an_experiment_of_ones_own_needs_no_python(home: Path) -> None:
    engine = run(home, targets=("embedded", "duckdb"))
    assert last_statuses(engine) == ["ok"] * 8
    loads = [m.text_value for r in engine.results for m in r.measurements if m.metric == "row_digest"]
    assert len(loads) == 3
    assert len(set(loads)) == 1


@pytest.mark.parametrize("how_many", [None, 1], ids=["all of it", "its postmaster"])
def test_a_block_whose_server_died_runs_again_from_a_fresh_load(home: Path, how_many: int | None) -> None:
    killed: list[str] = []

    def measure(engine: Engine, cell: Cell) -> None:
        if cell.levels.get("index") == "btree(id)" and not killed:
            killed.append(cell.cell_id)
            kill(engine._targets["embedded"].server, how_many)
        engine.measure_cell(cell)

    engine = run(home, measure)
    attempts = [result for result in engine.results if result.cell.cell_id == killed[0]]
    assert [result.status for result in attempts] == ["failed", "ok"]
    assert attempts[0].reason is not None
    assert "the server died" in attempts[0].reason
    assert last_statuses(engine) == ["ok"] * 6
    assert {m.step for m in attempts[1].measurements} == {"canary", "count", "index_build"}
    assert [r.reloaded for r in engine.ledger.cells() if r.cell.block_id == attempts[1].cell.block_id].count(True) == 2
    loads = [m for r in engine.results for m in r.measurements if m.metric == "load_time"]
    assert len(loads) == 2, "a block owns its load once"
    assert exit_code(engine.results, []) == 3


def test_a_block_that_is_over_leaves_nothing_when_the_server_dies(home: Path) -> None:
    """All its cells are measured; its table is still there, and the index with a name that the next block needs."""
    measured: list[str] = []

    def measure(engine: Engine, cell: Cell) -> None:
        engine.measure_cell(cell)
        measured.append(cell.role)
        if cell.role == "result" and measured.count("result") == 3:
            kill(engine._targets["embedded"].server)

    engine = run(home, measure)
    assert [result.status for result in engine.results if result.cell.role == "result"] == ["ok"] * 6


def test_a_server_that_died_between_two_blocks_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next block has other settings, for which the server is started again anyhow."""
    settings = 'memory = { postgresql = ["4MB", "5MB"] }\n[settings]\nmemory = "work_mem"'
    spec = SPEC.replace("fillfactor = { postgresql = [100, 70] }", settings)
    (home / "experiments" / "mine" / "experiment.toml").write_text(spec)
    closed: list[BlockRun] = []
    close = BlockRun.close

    def close_and_die(block: BlockRun) -> None:
        close(block)
        if block.block.cells[0].role == "result" and not closed:
            closed.append(block)
            kill(block.target.server)

    monkeypatch.setattr(BlockRun, "close", close_and_die)
    engine = run(home, seed=5)  # the no-op cell does not come between the blocks
    first = next(result for result in engine.results if result.status == "failed")
    assert first.reason == "the server died: found dead before a restart"
    assert [result.status for result in engine.results if result.cell.cell_id == first.cell.cell_id] == ["failed", "ok"]
    assert last_statuses(engine) == ["ok"] * 6
    assert exit_code(engine.results, []) == 3


def test_rows_are_made_again_where_the_server_died(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[TargetRun] = []
    make_rows = TargetRun.make_rows

    def make_and_die(target: TargetRun, *rest: Any) -> None:
        make_rows(target, *rest)
        attempts.append(target)
        if len(attempts) == 1:
            kill(target.server)

    monkeypatch.setattr(TargetRun, "make_rows", make_and_die)
    engine = run(home)
    assert len(attempts) == 2
    assert [result.status for result in engine.results if result.cell.role == "result"] == ["ok"] * 6


def test_no_cell_runs_where_the_server_dies_of_making_the_rows(home: Path) -> None:
    write_experiment(home, source="select pg_terminate_backend(pg_backend_pid())")
    engine = run(home)
    (end,) = {(one.status, one.reason) for one in engine.results if one.cell.role == "result"}
    assert end[0] == "failed"
    assert str(end[1]).startswith(
        "making the rows: the server died: terminating connection due to administrator command"
    )
    assert exit_code(engine.results, []) == 3


def test_a_new_session_finds_the_rows_that_were_made(home: Path) -> None:
    def measure(engine: Engine, cell: Cell) -> None:
        if cell.levels.get("index") == "none":
            engine._targets[cell.target].reconnect()
        engine.measure_cell(cell)

    assert last_statuses(run(home, measure, targets=("embedded", "duckdb"))) == ["ok"] * 8


def test_a_load_that_fails_fails_its_block_with_the_servers_message(home: Path) -> None:
    write_experiment(home, load="insert into {{table}} select id / 0, v from {{source}}")
    engine = run(home)
    results = [result for result in engine.results if result.cell.role == "result"]
    assert {(r.status, r.reason, r.sqlstate) for r in results} == {
        ("failed", "step load: division by zero", "22012"),
    }
    assert exit_code(engine.results, []) == 3


def test_sql_that_names_a_factor_of_other_dialects_fails_its_cells(home: Path) -> None:
    write_experiment(home, count="select count(*) from {{table}} where {{fillfactor}} > 0")
    engine = run(home, targets=("duckdb",))
    assert last_statuses(engine) == ["failed", "failed"]
    assert engine.results[-1].reason is not None
    assert "{{fillfactor}}" in engine.results[-1].reason


def test_other_rows_fail_the_block(home: Path) -> None:
    write_experiment(
        home,
        load="insert into {{table}} select id, v || case when {{fillfactor}} = 70 then '!' else '' end from {{source}}",
    )
    engine = run(home)
    failed = [r for r in engine.results if r.status == "failed"]
    assert len({r.cell.block_id for r in failed}) == 1
    assert failed[0].reason is not None
    assert failed[0].reason.endswith("not the same rows")


def test_a_slow_query_times_out_and_the_next_cell_is_measured(home: Path) -> None:
    slow = "select case when {{index}} = 'btree(id)' then pg_sleep(30) end, count(*) from {{table}}"
    write_experiment(home, count=slow)
    engine = run(home, timeout=1, only=("fillfactor=100",))
    by_index = {r.cell.levels.get("index"): r.status for r in engine.results if r.cell.role == "result"}
    assert by_index == {"none": "ok", "btree(id)": "timeout", "hash(id)": "ok"}


def test_an_interrupt_cancels_the_statement_and_keeps_the_finished_cells(home: Path) -> None:
    write_experiment(home, count="select pg_sleep(case when {{index}} = 'none' then 0 else 30 end)")
    started = time.monotonic()

    def measure(engine: Engine, cell: Cell) -> None:
        if cell.levels.get("index") == "btree(id)":
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        engine.measure_cell(cell)

    engine_seen: list[Engine] = []

    def spying(engine: Engine, cell: Cell) -> None:
        engine_seen.append(engine)
        measure(engine, cell)

    with pytest.raises(KeyboardInterrupt):
        run(home, spying, only=("fillfactor=100",))
    assert time.monotonic() - started < 25, "the statement on the server was cancelled, not waited for"
    kept = {r.cell.levels.get("index"): r.status for r in engine_seen[0].ledger.cells() if r.cell.role == "result"}
    assert kept == {"none": "ok", "btree(id)": "cancelled"}


@pytest.fixture
def duckdb_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the files of the target duckdb lay on another machine."""
    monkeypatch.setattr(DuckDBFiles, "host", "elsewhere")


@pytest.mark.usefixtures("duckdb_elsewhere")
def test_targets_on_other_hosts_run_side_by_side_one_cell_at_a_time_on_each(home: Path) -> None:
    meeting = threading.Barrier(2, timeout=60)
    at_work: list[str] = []
    met: set[str] = set()

    def measure(engine: Engine, cell: Cell) -> None:
        assert cell.target not in at_work
        at_work.append(cell.target)
        if cell.target not in met:
            met.add(cell.target)
            meeting.wait()
        engine.measure_cell(cell)
        at_work.remove(cell.target)

    engine = run(home, measure, targets=("embedded", "duckdb"))
    assert last_statuses(engine) == ["ok"] * 8
    assert met == {"embedded", "duckdb"}


def test_targets_on_one_host_never_measure_at_once(home: Path) -> None:
    threads: set[int] = set()

    def measure(engine: Engine, cell: Cell) -> None:
        threads.add(threading.get_ident())
        engine.measure_cell(cell)

    run(home, measure, targets=("embedded", "duckdb"))
    assert threads == {threading.get_ident()}


@pytest.mark.usefixtures("duckdb_elsewhere")
def test_an_interrupt_ends_what_runs_on_every_host(home: Path) -> None:
    write_experiment(home, count="select pg_sleep(30)")
    (home / "experiments" / "mine" / "sql" / "count.duckdb.sql").write_text("select count(*) from {{table}}")
    seen: list[Engine] = []
    started = time.monotonic()

    def measure(engine: Engine, cell: Cell) -> None:
        seen.append(engine)
        if cell.target == "embedded" and cell.role == "result":
            threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
        engine.measure_cell(cell)

    with pytest.raises(KeyboardInterrupt):
        run(home, measure, targets=("embedded", "duckdb"), only=("index=none",))
    assert time.monotonic() - started < 25, "the statement was cancelled, not waited for"
    kept = [(r.cell.target, r.status) for r in seen[0].ledger.cells() if r.cell.role == "result"]
    assert sorted(kept) == [("duckdb", "ok"), ("embedded", "cancelled")]


KILLED = """
import os, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.flows.test_engine import run
def measure(engine, cell):
    engine.measure_cell(cell)
    print("cell", flush=True)
run(Path({home!r}), measure)
"""


def test_after_kill_9_the_server_is_found_and_the_finished_cells_are_published(home: Path) -> None:
    root = str(Path(__file__).parents[2])
    script = KILLED.format(root=root, home=str(home))
    child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=root)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "cell\n"
    finally:
        child.kill()
        child.wait()
    place = Place.of(home, os.environ)
    said = reap_orphans(place)
    assert len(said) == 1
    assert reap_orphans(place) == []
    publication = publish(home)
    assert len(publication.loaded) == 1
    with duckdb.connect(str(warehouse_file(home)), read_only=True) as warehouse:
        assert warehouse.execute("select status from run").fetchall() == [("interrupted",)]
        assert warehouse.execute("select count(*) from cell where status = 'ok'").fetchall()[0][0] >= 1
