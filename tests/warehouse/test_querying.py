"""Questions to the warehouse: the formats of an answer, and all that is refused."""

from __future__ import annotations

import csv
import errno
import io
import json
import subprocess
import sys

import pyarrow.parquet
import pytest

from experiments.model import UserError
from warehouse.publishing import publish
from warehouse.querying import export, query


@pytest.fixture(scope="module")
def home(tmp_path_factory, make_run):
    home = tmp_path_factory.mktemp("home")
    make_run(home)
    publish(home)
    return home


def said(action, *arguments, **options):
    with pytest.raises(UserError) as caught:
        action(*arguments, **options)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_json_is_a_list_of_objects_with_json_columns_as_objects(home, capsys):
    query(
        home,
        "select levels, started_at, 1.5::decimal(4, 2) d, null n, 1/0 i from cell where status = 'unsupported'",
        "json",
    )
    assert json.loads(capsys.readouterr().out) == [
        {
            "levels": {"orientation": "ao_row", "blocksize": "8kB", "compression": "rle_type:1", "index": "none"},
            "started_at": None,
            "d": 1.5,
            "n": None,
            "i": None,
        }
    ]


def test_json_has_timestamps_in_iso_and_nested_values(home, capsys):
    query(home, "select timestamp '2026-11-30 10:00:00.5' t, [1, 2] l, {'a': true} s, map {'k': 1} m", "json")
    assert json.loads(capsys.readouterr().out) == [
        {"t": "2026-11-30T10:00:00.500000", "l": [1, 2], "s": {"a": True}, "m": {"k": 1}}
    ]


def test_json_of_no_rows_is_an_empty_list(home, capsys):
    query(home, "from run where false", "json")
    assert json.loads(capsys.readouterr().out) == []


def test_csv_has_a_header_and_can_be_read_back(home, capsys):
    query(home, "select 'a,\"b\"\nc' t, null n, true b, 0.1 f, timestamp '2026-11-30' d", "csv")
    assert list(csv.reader(io.StringIO(capsys.readouterr().out))) == [
        ["t", "n", "b", "f", "d"],
        ['a,"b"\nc', "", "true", "0.1", "2026-11-30T00:00:00"],
    ]


def test_the_table_is_not_cut_off_outside_a_terminal(home, capsys):
    query(home, "select repeat('x', 300) wide, 470876160.0::double bytes, null nothing, '[bold]' markup")
    out = capsys.readouterr().out
    assert all(text in out for text in ("x" * 300, "470876160", "NULL", "[bold]"))


def test_a_long_table_says_how_much_is_left(home, capsys):
    query(home, "from range(1500)")
    assert "and 500 more rows" in capsys.readouterr().out


def test_parquet_goes_to_standard_output_as_it_is(home):
    code = (
        "import pathlib, sys; from warehouse.querying import query\n"
        "query(pathlib.Path(sys.argv[1]), 'select 7 as seven', 'parquet')"
    )
    out = subprocess.run([sys.executable, "-c", code, str(home)], capture_output=True, check=True).stdout
    assert pyarrow.parquet.read_table(io.BytesIO(out)).to_pylist() == [{"seven": 7}]


def test_parquet_is_not_written_to_a_terminal(home, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert said(query, home, "from run", "parquet") == (
        "parquet is not for the terminal: redirect standard output to a file"
    )


@pytest.mark.parametrize(
    "sql",
    ["from run;", "with r as (from run) from r", "describe run", "show tables", "explain from run", "summarize run",
     "pivot cell on target using count(*)", "select 1 -- comment", "values (1)"],
)  # fmt: skip
def test_all_kinds_of_query_are_answered(home, sql, capsys):
    query(home, sql, "json")
    assert len(json.loads(capsys.readouterr().out)) >= 1


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("delete from run", "DELETE"),
        ("drop table run", "DROP"),
        ("create table t (a int)", "CREATE"),
        ("copy run to 'x.csv'", "COPY"),
        ("attach 'x.duckdb'", "ATTACH"),
        ("set memory_limit = '1GB'", "SET"),
        ("insert into run from run", "INSERT"),
        ("export database 'x'", "EXPORT"),
    ],
)
def test_a_statement_that_is_no_query_is_refused(home, sql, kind):
    assert said(query, home, sql) == f"{kind} is not a query: the warehouse is only read; runs write it"


@pytest.mark.parametrize(("sql", "count"), [("select 1; drop table run", 2), ("from run; from cell; from run", 3)])
def test_one_query_at_a_time(home, sql, count):
    assert said(query, home, sql) == f"one query at a time: the text has {count} statements"


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('/etc/passwd')",
        "select * from '/etc/hostname.csv'",
        "select * from glob('/etc/*')",
        "select * from read_text('/etc/hostname')",
        "explain analyze copy (select 1) to '/tmp/storage-matrix-written.csv'",
        "explain analyze delete from run",
    ],
)
def test_a_query_reaches_no_file_and_changes_nothing(home, sql):
    assert said(query, home, sql).startswith("the warehouse refuses the query: ")


def test_a_query_with_a_mistake_gets_duckdbs_words(home):
    assert said(query, home, "selec 1") == (
        'the warehouse refuses the query: Parser Error: syntax error at or near "selec"'
    )
    assert said(query, home, "select nme from run").startswith(
        'the warehouse refuses the query: Binder Error: Referenced column "nme" not found'
    )


def test_a_home_without_a_warehouse_says_how_to_get_one(tmp_path):
    assert said(query, tmp_path, "from run") == (
        f'no warehouse in {tmp_path} yet: "storage-matrix run storage_matrix" makes one'
    )
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_written(home, monkeypatch):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sys.stdout", Full())
    assert said(query, home, "from run", "csv") == "cannot write standard output: No space left on device"


def test_export_writes_every_table_and_view(home, tmp_path):
    written = export(home, tmp_path / "out" / "deep")
    names = {path.stem for path in written}
    assert names >= {"run", "cell", "measurement", "storage_matrix", "against_published", "summary", "latest"}
    rows = pyarrow.parquet.read_table(tmp_path / "out" / "deep" / "storage_matrix.parquet").num_rows
    assert rows == 3


def test_export_replaces_an_earlier_export_only(home, tmp_path):
    directory = tmp_path / "out"
    export(home, directory)
    (directory / "mine.txt").write_text("kept")
    export(home, directory)
    assert (directory / "mine.txt").read_text() == "kept"
    other = tmp_path / "other"
    other.mkdir()
    (other / "run.parquet").write_text("mine")
    assert said(export, home, other) == (
        f"cannot export to {other}: it is not empty and no earlier export; choose another directory"
    )
    assert (other / "run.parquet").read_text() == "mine"


def test_export_leaves_nothing_behind_where_it_cannot_write(home, tmp_path):
    file = tmp_path / "file"
    file.write_text("in the way")
    assert said(export, home, file).startswith(f"cannot export to {file}: ")
    assert said(export, tmp_path / "nowhere", tmp_path / "out").startswith("no warehouse in ")
