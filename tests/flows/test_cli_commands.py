"""The commands that look at finished runs, and those that list and explain."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.flows.conftest import Cli
from warehouse.ledger import find_ledger

COMMANDS = ["list", "plan", "run", "check", "report", "query", "export", "rebuild", "target"]


def test_help_lists_the_commands_in_the_order_of_work(cli: Cli) -> None:
    ended = cli("--help")
    assert (ended.code, ended.err) == (0, "")
    assert re.findall(r"^│ ([a-z]+) ", ended.out, re.MULTILINE) == COMMANDS


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("target",)])
def test_without_a_command_there_is_help(cli: Cli, words: tuple[str, ...]) -> None:
    ended = cli(*words)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("Usage: storage-matrix ")


@pytest.mark.parametrize(
    "command", [*([name] for name in COMMANDS), ["target", "check"], ["target", "up"], ["target", "down"]]
)
def test_every_command_teaches_by_examples_that_it_understands(cli: Cli, command: list[str]) -> None:
    ended = cli(*command, "--help")
    assert (ended.code, ended.err) == (0, "")
    examples = ended.out.split("\nExamples:\n")[1]
    assert f"\n  storage-matrix {' '.join(command)} " in f"\n{examples}".replace("\n", " \n") + " "
    assert "--home DIR" in ended.out


def test_version(cli: Cli) -> None:
    assert cli("--version") == (0, f"{version('storage-matrix')}\n", "")


def test_list_shows_experiments_and_targets(cli: Cli, empty_home: Path) -> None:
    ended = cli("list")
    assert (ended.code, ended.err) == (0, "")
    lines = [re.sub(" {2,}", " | ", line.rstrip()) for line in ended.out.splitlines()]
    assert "storage_matrix | How does the storage form change load time, size and query time?" in lines
    assert "storage_matrix | quick | rows=20000" in lines
    assert "duckdb | duckdb | DuckDB files as a column store; needs no set-up; used by default" in lines
    assert not empty_home.exists()


def test_list_as_data(cli: Cli) -> None:
    found = json.loads(cli("list", "--json").out)
    shipped = {experiment["name"]: experiment for experiment in found["experiments"]}
    assert shipped["storage_matrix"]["profiles"]["published"] == {"rows": 10_000_000}
    assert [target["name"] for target in found["targets"] if target["is_default"]] == ["embedded", "duckdb"]


def test_a_broken_experiment_does_not_hide_the_others(cli: Cli, empty_home: Path) -> None:
    broken = empty_home / "experiments" / "broken"
    broken.mkdir(parents=True)
    (broken / "experiment.toml").write_text("question = ")
    found = json.loads(cli("list", "--json").out)["experiments"]
    assert [experiment["name"] for experiment in found if "problem" in experiment] == ["broken"]
    assert "storage_matrix" in [experiment["name"] for experiment in found]
    assert cli("list").code == 0


def test_query_writes_the_format_that_was_asked_for(cli: Cli, populated_home: Path) -> None:
    sql = "select distinct target from cell order by target"
    assert cli("query", sql, "--format", "csv") == (0, "target\nduckdb\nembedded\n", "")
    assert json.loads(cli("query", sql, "--format", "json").out) == [{"target": "duckdb"}, {"target": "embedded"}]
    assert "embedded" in cli("query", sql).out


@pytest.mark.parametrize("words", [("--home", "{}"), ("--home={}",), ("--debug", "--home", "{}")])
def test_options_may_stand_before_the_query(
    cli: Cli, populated_home: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.delenv("STORAGE_MATRIX_HOME", raising=False)
    said = (word.format(populated_home) for word in words)
    assert cli("query", "--format", "csv", *said, "select count(*) > 0 as found from run") == (0, "found\ntrue\n", "")


@pytest.mark.parametrize("comment", ["-- of runs\n", "--of runs\n", "--\n"])
def test_a_query_may_begin_with_a_comment(cli: Cli, populated_home: Path, comment: str) -> None:
    assert cli("query", f"{comment}select 1 as one", "--format", "csv").out == "one\n1\n"


def test_export_names_the_files(cli: Cli, populated_home: Path, tmp_path: Path) -> None:
    ended = cli("export", "numbers")
    assert (ended.code, ended.err) == (0, "")
    written = ended.out.splitlines()
    assert "numbers/measurement.parquet" in written
    assert all((tmp_path / file).exists() for file in written)


def test_rebuild_says_what_it_did(cli: Cli, populated_home: Path) -> None:
    (populated_home / "warehouse.duckdb").unlink()
    assert cli("rebuild") == (0, f"{populated_home}/warehouse.duckdb: 1 run\n", "")
    assert cli("query", "select count(*) as runs from run", "--format", "csv").out == "runs\n1\n"


def test_report_writes_the_page_and_prints_the_tables(cli: Cli, populated_home: Path) -> None:
    ended = cli("report")
    run = find_ledger(populated_home).run_id
    assert (ended.code, ended.err) == (0, "")
    page = populated_home / "reports" / f"{run}.html"
    assert ended.out.splitlines()[-1] == f"report  {page}"
    assert page.stat().st_size > 0
    assert "verdicts" in ended.out
    assert "embedded: 16 cells unsupported" in ended.out


def test_check_judges_again_and_keeps_the_verdicts(cli: Cli, populated_home: Path) -> None:
    ended = cli("check", "--json")
    ledger = find_ledger(populated_home)
    # The synthetic run declares no expectations; one of its cells failed and one timed out.
    assert json.loads(ended.out) == {"run_id": ledger.run_id, "exit_code": 3, "verdicts": []}
    assert (ended.code, ended.err) == (3, "")
    assert ledger.verdicts() == ()
    assert cli("query", "select count(*) as kept from verdict", "--format", "csv").out == "kept\n0\n"


def test_check_of_a_run_by_its_id(cli: Cli, populated_home: Path) -> None:
    assert cli("check", find_ledger(populated_home).run_id).code == 3


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port where connections are taken and nothing is ever said."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


def test_a_server_that_says_nothing_is_given_up_within_ten_seconds(cli: Cli, silent_port: int) -> None:
    url = f"mine=postgresql://me:geheim@127.0.0.1:{silent_port}/db"
    cli("target", "check", "mine=postgresql://127.0.0.1:1/db")
    started = time.monotonic()
    ended = cli("target", "check", url)
    assert time.monotonic() - started < 10
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.startswith(f'storage-matrix: target "mine": cannot reach host 127.0.0.1, port {silent_port}, ')
    assert "geheim" not in ended.err


def test_the_console_script_ends_quietly_when_its_reader_has_gone(tmp_path: Path) -> None:
    command = f"{sys.executable} -c 'from flows.cli import main; main()' plan storage_matrix | head -1"
    ended = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    assert ended.stdout.count("\n") == 1
