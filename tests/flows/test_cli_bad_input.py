"""Bad input, in an empty and in a populated home: one line on standard error, nothing on standard output."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from experiments.declaration import KEYS
from experiments.language import PLACEHOLDERS, STEP_KINDS
from tests.flows.conftest import Cli, Ended

# This grows with the experiments, whose own tests write them out.
SHIPPED = sorted(folder.name for folder in files("experiments").iterdir() if (folder / "experiment.toml").is_file())
PLACED = sorted(
    {*PLACEHOLDERS, *STEP_KINDS["query"].options, "rows", "order", "orientation", "compression", "index"} - {"sql"}
)
TARGETS = "duckdb, embedded, greenplum, opengauss, zheap"


@pytest.fixture(params=["empty", "populated"])
def home(request: pytest.FixtureRequest) -> Path:
    """Both kinds of home, one after the other."""
    found: Path = request.getfixturevalue(f"{request.param}_home")
    return found


UNKNOWN_NAMES = [
    (("smal",), f'unknown experiment "smal"; known experiments: {", ".join(SHIPPED)}'),
    (("elsewhere/small",), "elsewhere/small: no experiment.toml there; a path must be the folder of an experiment"),
    (
        ("small", "--only", "orientaton=heap"),
        '--only: unknown factor "orientaton"; known factors: orientation, compression, index '
        '(did you mean "orientation"?)',
    ),
    (
        ("small", "--only", "orientation=column"),
        '--only: unknown level "column" of orientation; known levels: heap, ao_row',
    ),
    (
        ("small", "--profile", "larg"),
        '--profile: unknown profile "larg"; known profiles: quick, large (did you mean "large"?)',
    ),
    (
        ("small", "--target", "embeded"),
        f'--target: unknown target "embeded"; known targets: {TARGETS} (did you mean "embedded"?)',
    ),
    (
        ("small", "--set", "row=5"),
        '--set: unknown parameter "row"; known parameters: rows, order (did you mean "rows"?)',
    ),
    (("small", "--set", "order=random"), '--set: order must be one of scattered, sorted, got "random"'),
    (("small", "--set", "rows"), '--set: write NAME=VALUE, such as rows=100000, got "rows"'),
    (("small", "--only", "index"), '--only: write FACTOR=LEVEL[,LEVEL], such as index=none, got "index"'),
    (("small", "--set", "rows=0"), "--set: rows must be at least 1, got 0"),
    (("small", "--set", "rows=-20000"), "--set: rows must be at least 1, got -20000"),
    (("small", "--set", "rows=many"), "--set: rows must be an integer, got 'many'"),
    (("small", "--repeats", "0"), "--repeats must be at least 1, got 0"),
    (("small", "--repeats", "10000000000"), "--repeats must be at most 1000000, got 1e+10"),
    (("small", "--timeout", "1e300"), "--timeout must be at most 2000000, got 1e+300"),
    (("small", "--seed", "99999999999999999999"), "--seed must be from 0 to 2^63 - 1, got 99999999999999999999"),
    (("small", "--seed", "-1"), "--seed must be from 0 to 2^63 - 1, got -1"),
    (("small", "--timeout", "0"), "--timeout must be a number of seconds above 0, got 0"),
    (
        ("small", "--only", "compression='; drop table run"),
        '--only: unknown level "\'; drop table run" of compression; known levels: none, zlib:5',
    ),
    (
        ("small", "--target", "duckdb", "--only", "orientation=heap"),
        "--only orientation=heap leaves no cell on duckdb: no cell there has these levels together",
    ),
    (
        ("small", "--target", "postgresql://me:geheim@localhost/db"),
        "--target: a URL needs a name: write NAME=URL",
    ),
    (
        ("small", "--target", "mine=mysql://me:geheim@localhost/db"),
        '--target mine: unknown URL scheme "mysql"; known schemes: postgresql, postgres, duckdb',
    ),
]


def refused(ended: Ended, message: str) -> None:
    assert ended == (2, "", f"storage-matrix: {message}\n")


@pytest.mark.parametrize("command", ["plan", "run"])
@pytest.mark.parametrize(("words", "message"), UNKNOWN_NAMES)
def test_a_name_or_value_that_is_not_known(
    cli: Cli, home: Path, small: Path, command: str, words: tuple[str, ...], message: str
) -> None:
    was_there = home.exists()
    refused(cli(command, *words), message)
    assert home.exists() == was_there


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("pln", "storage_matrix"),
            'unknown command "pln"; known commands: list, plan, run, check, report, query, export, rebuild, target '
            '(did you mean "plan"?); see storage-matrix --help',
        ),
        (
            ("target", "stop", "embedded"),
            'unknown command "stop"; known commands: check, up, down; see storage-matrix target --help',
        ),
        (
            ("query", "select 1", "--formt", "csv"),
            'unknown option "--formt"; known options: --home, --format, --debug (did you mean "--format"?); '
            "see storage-matrix query --help",
        ),
        (
            ("query", "--all"),
            'unknown option "--all"; known options: --home, --format, --debug; see storage-matrix query --help',
        ),
        (("plan", "storage_matrix", "again"), "unexpected argument: again; see storage-matrix plan --help"),
        (
            ("plan",),
            'Command "plan" parameter EXPERIMENT requires an argument; see storage-matrix plan --help',
        ),
        (
            ("plan", "storage_matrix", "--seed", "x"),
            'Invalid value for --seed: unable to convert "x" into int; see storage-matrix plan --help',
        ),
        (
            ("query", "select 1", "--format", "xml"),
            'Invalid value "xml" for --format. Choose from: "table", "csv", "json", "parquet"; '
            "see storage-matrix query --help",
        ),
    ],
)
def test_wrong_usage(cli: Cli, home: Path, words: tuple[str, ...], message: str) -> None:
    refused(cli(*words), message)


@pytest.mark.parametrize("command", ["plan", "run"])
@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (
            "experiment.toml",
            "question =",
            "questoin =",
            f"small/experiment.toml: questoin: unknown key; known keys: {', '.join(sorted(KEYS))} "
            '(did you mean "question"?)',
        ),
        (
            "experiment.toml",
            'query = "count"',
            'query = "cont"',
            "small/experiment.toml: steps[2].query: no file sql/cont.sql; known files: count.sql, create.sql, load.sql "
            '(did you mean "count"?)',
        ),
        (
            "experiment.toml",
            'query = "count"',
            'query = "load"',
            'small/experiment.toml: steps[2].query: a second step named "load"; step names are unique',
        ),
        (
            "experiment.toml",
            '["none", "zlib:5"]',
            "[]",
            "small/experiment.toml: factors.compression: has no levels",
        ),
        (
            "experiment.toml",
            '["heap", "ao_row"]',
            '["heap", "\'; drop table run"]',
            'small/experiment.toml: factors.orientation.postgresql[1]: "\'; drop table run" is not a level: '
            "a level has letters, digits, spaces and _ . : , ( ) % + - (no --), starts with a letter or digit, "
            "and has at most 64 characters",
        ),
        (
            "sql/count.sql",
            "{{rows}}",
            "{{row}}",
            f"small/sql/count.sql: unknown placeholder {{{{row}}}}; known placeholders: {', '.join(PLACED)} "
            '(did you mean "rows"?)',
        ),
    ],
)
def test_a_mistake_in_a_spec(
    cli: Cli, home: Path, small: Path, command: str, file: str, old: str, new: str, message: str
) -> None:
    text = (small / file).read_text()
    assert text.count(old) == 1
    (small / file).write_text(text.replace(old, new))
    refused(cli(command, "small"), message)


@pytest.mark.parametrize("command", ["plan", "run"])
@pytest.mark.parametrize("target", ["embedded", "duckdb"])
def test_more_rows_than_the_disk_holds_are_refused_before_anything_starts(
    cli: Cli, home: Path, tmp_path: Path, command: str, target: str
) -> None:
    was_there = home.exists()
    ended = cli(command, "storage_matrix", "--set", "rows=1e12", "--target", target)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(
        f"storage-matrix: target {target}: 1,000,000,000,000 rows need about 7,640 TB of disk "
        "(the source and one block at a time), "
    )
    assert ended.err.endswith(" are free; set fewer rows with --set rows=N, or make room\n")
    assert ended.err.count("\n") == 1
    assert home.exists() == was_there
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("command", [("run", "storage_matrix"), ("rebuild",), ("target", "up", "embedded")])
def test_a_home_that_cannot_be_written(cli: Cli, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "file").touch()
    message = (
        f"home {tmp_path}/file/home: cannot be made (Not a directory); "
        "choose another with --home DIR or $STORAGE_MATRIX_HOME"
    )
    refused(cli(*command, "--home", str(tmp_path / "file" / "home")), message)


@pytest.mark.parametrize("command", [("run", "storage_matrix", "--target"), ("target", "check")])
def test_a_server_that_does_not_answer(cli: Cli, home: Path, command: tuple[str, ...]) -> None:
    ended = cli(*command, "mine=postgresql://me:geheim@127.0.0.1:1/db")
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.splitlines()[-1].startswith(
        'storage-matrix: target "mine": cannot reach host 127.0.0.1, port 1, database db: '
    )
    assert "geheim" not in ended.err


@pytest.mark.parametrize(
    "words",
    [("query", "select 1"), ("export", "numbers")],
)
def test_a_warehouse_that_is_not_there(cli: Cli, empty_home: Path, words: tuple[str, ...]) -> None:
    refused(cli(*words), f'no warehouse in {empty_home} yet: "storage-matrix run storage_matrix" makes one')


@pytest.mark.parametrize("command", ["check", "report"])
def test_a_run_that_is_not_there(cli: Cli, empty_home: Path, command: str) -> None:
    refused(cli(command), f'no run in {empty_home}/ledger yet: "storage-matrix run storage_matrix" makes one')


@pytest.mark.parametrize("command", ["check", "report"])
def test_a_run_that_is_not_known(cli: Cli, populated_home: Path, command: str) -> None:
    run = next((populated_home / "ledger").iterdir()).name
    refused(cli(command, "yesterday"), f'unknown run "yesterday"; the newest runs: {run}')


def test_a_query_that_writes(cli: Cli, populated_home: Path) -> None:
    refused(
        cli("query", "delete from measurement"),
        "DELETE is not a query: the warehouse is only read; runs write it",
    )
    assert cli("query", "select count(*) > 0 as kept from measurement", "--format", "csv").out == "kept\ntrue\n"


def test_a_query_without_words(cli: Cli, populated_home: Path) -> None:
    refused(cli("query", " -- all"), 'there is no query in that text; one is "from latest", for example')


def test_a_query_that_the_warehouse_does_not_understand(cli: Cli, populated_home: Path) -> None:
    ended = cli("query", "select nothing from nowhere")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "storage-matrix: the warehouse refuses the query: Catalog Error: Table with name nowhere does not exist!\n"
    )


@pytest.mark.parametrize("words", [("query", "select 1"), ("export", "numbers"), ("rebuild",)])
def test_a_warehouse_file_of_another_program(cli: Cli, home: Path, words: tuple[str, ...]) -> None:
    home.mkdir(exist_ok=True)
    file = home / "warehouse.duckdb"
    file.write_text("SQLite format 3\0 and so on")
    refused(cli(*words), f'{file} is not a storage-matrix warehouse: move it away, then run "storage-matrix rebuild"')
    assert file.read_text() == "SQLite format 3\0 and so on"


@pytest.mark.parametrize("words", [("check",), ("report",), ("rebuild",)])
def test_a_ledger_file_cut_in_half(cli: Cli, populated_home: Path, words: tuple[str, ...]) -> None:
    file = next(iter(sorted((populated_home / "ledger").glob("*/cell-*.json"))))
    file.write_text('{"cell": ')
    refused(
        cli(*words),
        f"ledger file {file} is damaged (not valid JSON at byte 9): "
        'restore it from a backup or delete the file and run "storage-matrix rebuild"',
    )


def test_two_experiments_of_one_name(cli: Cli, home: Path, small: Path) -> None:
    (home / "experiments").mkdir(parents=True)
    small.rename(home / "experiments" / "storage_matrix")
    refused(
        cli("plan", "storage_matrix"),
        f'experiment "storage_matrix" is both {home}/experiments/storage_matrix and the shipped '
        "experiments/storage_matrix; rename your folder",
    )


def test_a_cell_that_is_not_in_the_plan(cli: Cli, home: Path) -> None:
    message = "--script: no cell 'zz' in this plan; storage-matrix plan shows the ids"
    refused(cli("plan", "storage_matrix", "--script", "zz"), message)


def test_an_option_of_a_launcher_with_a_wrong_value(cli: Cli, home: Path) -> None:
    refused(cli("target", "up", "greenplum", "--set", "segments=two"), '--set: segments must be an integer, got "two"')


def test_a_server_setting_without_a_value(cli: Cli, home: Path) -> None:
    message = '--set: write NAME=VALUE, such as work_mem=64MB, got "work_mem"'
    refused(cli("target", "up", "embedded", "--set", "work_mem"), message)


def test_a_target_that_is_not_up(cli: Cli, home: Path) -> None:
    message = 'target "embedded": not up; storage-matrix target up embedded starts it'
    refused(cli("target", "down", "embedded"), message)
