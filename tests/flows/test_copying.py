"""COPY steps and server settings on a real server: bad lines, refused settings, access methods that a probe finds."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments.model import CellResult, Target
from flows.asking import Ask, resolve
from flows.engine import Engine
from tasks.launchers.place import Place
from tasks.launchers.registry import launch
from tasks.launchers.server import Owner, Server
from tasks.session import open_session
from tests.flows.conftest import Silent

SPEC = """
question = "Does it hold?"
[files]
people = "people"
[parameters]
rows = 30_000
[profiles]
quick = {}
[table]
key = "id"
row_bytes = 40
[table.columns]
id = "integer"
name = "text"
[factors]
"""
STEPS = """
[[steps]]
create = "create"
[[steps]]
copy = "from_file"
repeats = 2
[[steps]]
copy = "from_stdin"
via = "client"
truncate = "inside"
dialects = ["postgresql"]
[[steps]]
size = "size"
"""
CREATE = "create table {{table}} ({{columns}}){{storage}}"
PEOPLE = "select id, 'n' || id as name from range(1, {{rows}} + 1) as keys(id)"


def write_experiment(home: Path, factors: str, people: str = PEOPLE) -> None:
    folder = home / "experiments" / "mine"
    (folder / "sql").mkdir(parents=True)
    (folder / "experiment.toml").write_text(f"{SPEC}{factors}{STEPS}")
    (folder / "sql" / "create.sql").write_text(CREATE)
    (folder / "sql" / "people.sql").write_text(people)


def run(home: Path, *targets: str) -> tuple[Engine, dict[str, CellResult]]:
    """The engine after a run without Prefect, and its results by target and levels in words."""
    request, urls = resolve(Ask("mine", targets or ("embedded",), seed=1), home, os.environ)
    engine = Engine(request, home, urls, Silent())
    try:
        engine.open()
        engine.run(engine.measure_cell)
    finally:
        engine.close()
    results = [result for result in engine.results if result.cell.role == "result"]
    return engine, {
        " ".join([result.cell.target, *map(str, result.cell.levels.values())]): result for result in results
    }


def texts(result: CellResult, metric: str) -> set[str | None]:
    return {one.text_value for one in result.measurements if one.metric == metric}


def test_a_bad_line_fails_its_cell_and_the_next_one_is_clean(home: Path) -> None:
    bad = "case when {{kind}} = 'bad' and id = 20001 then 'x' else id::varchar end as id"
    write_experiment(
        home,
        'kind = ["good", "bad", "fine"]\nway = ["file", "stdin"]',
        f"select {bad}, {{{{kind}}}} || id as name from range(1, {{{{rows}}}} + 1) as keys(id)",
    )
    folder = home / "experiments" / "mine"
    spec = (folder / "experiment.toml").read_text()
    spec = spec.replace("repeats = 2", 'when = { way = "file" }').replace(
        "truncate =", 'when = { way = "stdin" }\ntruncate ='
    )
    (folder / "experiment.toml").write_text(spec)

    _, results = run(home)

    assert {name: result.status for name, result in results.items()} == {
        "embedded good file": "ok",
        "embedded good stdin": "ok",
        "embedded fine file": "ok",
        "embedded fine stdin": "ok",
        "embedded bad file": "failed",
        "embedded bad stdin": "failed",
    }
    for step, name in (("from_file", "embedded bad file"), ("from_stdin", "embedded bad stdin")):
        reason = results[name].reason or ""
        assert reason.startswith(f'step {step}: invalid input syntax for type integer: "x" CONTEXT: COPY t_b')
        assert ', line 20001, column id: "x"' in reason
        assert results[name].sqlstate == "22P02"
    for name in ("embedded good file", "embedded fine stdin"):
        assert len(texts(results[name], "row_digest") | texts(results[name], "file_digest")) == 1


def test_duckdb_tells_the_line_too(home: Path) -> None:
    write_experiment(
        home,
        'kind = ["bad"]',
        "select case when id = 20001 then 'x' else id::varchar end, 'n' from range(1, 30001) as k(id)",
    )
    _, results = run(home, "duckdb")
    assert results["duckdb bad"].status == "failed"
    assert "CSV Error on Line: 20001" in (results["duckdb bad"].reason or "")


def test_both_ways_load_the_rows_of_the_file_again_and_again(home: Path) -> None:
    write_experiment(home, 'form = ["plain"]')

    _, results = run(home, "embedded", "duckdb")

    digests = [texts(result, metric) for result in results.values() for metric in ("row_digest", "file_digest")]
    assert len(digests) == 4
    assert len(set.union(*digests)) == 1
    loads = {(one.step, one.repetition) for one in results["embedded plain"].measurements if one.metric == "load_time"}
    assert loads == {("from_file", 1), ("from_file", 2), ("from_stdin", 1)}
    rates = [one for one in results["embedded plain"].measurements if one.metric == "rows_per_second"]
    assert all(one.value > 1000 for one in rates)  # type: ignore[operator]
    assert [path.suffix for path in sorted((home / "data").iterdir())] == [".csv", ".json"]


SETTINGS = """sync = { postgresql = ["on", "off"] }
bad = { postgresql = ["8MB", "a lot"] }
[settings]
sync = "synchronous_commit"
bad = "work_mem"
"""


def test_a_block_runs_under_its_settings_and_a_refused_one_is_unsupported(home: Path) -> None:
    write_experiment(home, SETTINGS)

    engine, results = run(home)

    assert {name: result.status for name, result in results.items()} == {
        "embedded on 8MB": "ok",
        "embedded off 8MB": "ok",
        "embedded on a lot": "unsupported",
        "embedded off a lot": "unsupported",
    }
    assert results["embedded on a lot"].reason == (
        'target "embedded": the server refused synchronous_commit = on, work_mem = a lot: '
        'invalid value for parameter "work_mem": "a lot"'
    )
    found = {name: engine.ledger.environments()[str(results[name].environment_id)].facts for name in results}
    settings = {name: facts["settings"] for name, facts in found.items()}
    assert settings["embedded on 8MB"]["work_mem"] == settings["embedded off 8MB"]["work_mem"] == "8192 kB"
    assert settings["embedded off 8MB"]["synchronous_commit"] == "off"
    assert "synchronous_commit" not in settings["embedded on 8MB"]
    assert results["embedded on 8MB"].environment_id != results["embedded off 8MB"].environment_id


@pytest.fixture
def foreign(home: Path) -> Iterator[Server]:
    """A server that a run has not launched, with a table access method that no experiment names."""
    place = Place.of(home / "elsewhere", os.environ)
    with launch(Target("embedded", "local", "postgresql", options={"bin": "embedded"}), place, Owner.run()) as server:
        session = open_session(server.url, server.data_directory, timeout=60)
        session.execute("create access method piled type table handler heap_tableam_handler")
        session.close()
        yield server


def test_what_the_probe_finds_runs_beside_what_is_declared(home: Path, foreign: Server) -> None:
    write_experiment(home, 'access_method = { postgresql = ["heap", "..."] }')
    folder = home / "experiments" / "mine"
    spec = (
        (folder / "experiment.toml").read_text().replace('copy = "from_file"\n', 'copy = "from_file"\nvia = "client"\n')
    )
    (folder / "experiment.toml").write_text(spec)

    _, results = run(home, f"mine={foreign.url.render_as_string(hide_password=False)}")

    assert {name: result.status for name, result in results.items()} == {"mine heap": "ok", "mine piled": "ok"}


def test_a_server_that_is_not_ours_is_neither_set_nor_given_files(home: Path, foreign: Server) -> None:
    write_experiment(home, 'sync = ["off"]\nfill = [100]\n[settings.sync]\noff = { fsync = "off" }')
    url = foreign.url.render_as_string(hide_password=False)

    _, results = run(home, f"mine={url}")

    assert results["mine off 100"].status == "unsupported"
    assert "fsync" in (results["mine off 100"].reason or "")

    spec = home / "experiments" / "mine" / "experiment.toml"
    spec.write_text(spec.read_text().replace('[settings.sync]\noff = { fsync = "off" }', ""))
    _, results = run(home, f"mine={url}")

    assert results["mine off 100"].status == "unsupported"
    assert results["mine off 100"].reason == (
        'step from_file: via = "server" needs a server that we launched, to give it a file that it can read'
    )
