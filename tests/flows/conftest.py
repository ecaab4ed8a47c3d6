"""The command line in this process, in an empty home and in one with a finished run; and homes for real servers."""

from __future__ import annotations

import secrets
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

import pytest

from experiments.model import Cell, CellResult
from flows.cli import main
from tests.warehouse.synthetic_run import write_run
from warehouse.publishing import publish


class Ended(NamedTuple):
    """What a command left: its exit code and what it wrote."""

    code: int
    out: str
    err: str


class Cli(Protocol):
    """Runs a command line in the test's home, which it is told apart from where it names one itself."""

    def __call__(self, *words: str) -> Ended: ...


@pytest.fixture(scope="session")
def finished_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a run in ledger and warehouse; tests get a copy."""
    home = tmp_path_factory.mktemp("finished") / "home"
    write_run(home)
    publish(home)
    return home


@pytest.fixture
def empty_home(tmp_path: Path) -> Path:
    """A home that is not there yet."""
    return tmp_path / "höme with spaces"


@pytest.fixture
def populated_home(empty_home: Path, finished_home: Path) -> Path:
    """A home that has seen a run."""
    shutil.copytree(finished_home, empty_home)
    return empty_home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home for runs on real servers, and a short directory for these."""
    data = Path("/var/tmp") / f"sm-test-{secrets.token_hex(4)}"
    monkeypatch.setenv("STORAGE_MATRIX_DATA", str(data))
    yield tmp_path
    shutil.rmtree(data, ignore_errors=True)


class Silent:
    """A watcher that says nothing."""

    def phase(self, text: str) -> None:
        """Nothing."""

    def planned(self, cells: int) -> None:
        """Nothing."""

    def measuring(self, cell: Cell) -> None:
        """Nothing."""

    def measured(self, result: CellResult) -> None:
        """Nothing."""


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Cli]:
    """The command line; its home is the one that a test has asked for, without a trace where it has not."""
    former = signal.getsignal(signal.SIGTERM)
    monkeypatch.setenv("STORAGE_MATRIX_HOME", str(tmp_path / "höme with spaces"))
    monkeypatch.setenv("STORAGE_MATRIX_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main(words)
        output = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, output.out, output.err)

    yield run
    signal.signal(signal.SIGTERM, former)


SPEC = """
question = "Which form is smaller?"
[parameters]
rows = 1_000
order = { default = "scattered", choices = ["scattered", "sorted"] }
[profiles]
quick = {}
large = { rows = 100_000 }
[table]
key = "id"
row_bytes = 40
[table.columns]
id = "integer"
[factors]
orientation = { postgresql = ["heap", "ao_row"], duckdb = [] }
compression = ["none", "zlib:5"]
[in_place]
index = { postgresql = ["none", "btree(id)"], duckdb = ["none", "art(id)"] }
[[steps]]
create = "create"
[[steps]]
load = "load"
[[steps]]
query = "count"
[[steps]]
index = "build"
"""
SQL = {
    "create": "create table {{table}} ({{columns}}){{storage}}",
    "load": "insert into {{table}} select generate_series(1, {{rows}})",
    "count": "select count(*) from {{table}} where id <= {{rows}}",
}


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """An experiment of its own in the working directory: what it declares does not grow with the shipped ones."""
    folder = tmp_path / "small"
    (folder / "sql").mkdir(parents=True)
    (folder / "experiment.toml").write_text(SPEC)
    for name, text in SQL.items():
        (folder / "sql" / f"{name}.sql").write_text(text)
    return folder
