"""``plan``: the cells of the study's matrix, their DDL and what they take; no server is asked."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.flows.conftest import Cli

THREE = ("--target", "embedded", "--target", "duckdb", "--target", "greenplum")


@pytest.fixture
def plan(cli: Cli) -> Any:
    """The plan as data, by target."""

    def read(*words: str) -> dict[str, Any]:
        ended = cli("plan", "storage_matrix", "--json", *words)
        assert (ended.code, ended.err) == (0, "")
        return {target["target"]: target for target in json.loads(ended.out)["targets"]}

    return read


def cells(target: dict[str, Any]) -> int:
    return sum(len(block["cells"]) for block in target["blocks"])


def test_the_study_has_thirteen_forms_on_greenplum(plan: Any) -> None:
    target = plan("--target", "greenplum")["greenplum"]
    factors = ("orientation", "blocksize", "compression")
    forms = [[block["levels"][name] for name in factors if name in block["levels"]] for block in target["blocks"]]
    assert [" ".join(form) for form in forms] == [
        "heap",
        "ao_row 8kB none",
        "ao_row 8kB zlib:5",
        "ao_row 8kB zlib:9",
        "ao_row 2MB none",
        "ao_row 2MB zlib:5",
        "ao_row 2MB zlib:9",
        "ao_column 8kB none",
        "ao_column 8kB zlib:5",
        "ao_column 8kB zlib:9",
        "ao_column 2MB none",
        "ao_column 2MB zlib:5",
        "ao_column 2MB zlib:9",
    ]
    assert [cell["levels"]["index"] for cell in target["blocks"][0]["cells"]] == ["none", "btree(c2)"]


def test_levels_that_mean_the_same_are_one_form(plan: Any) -> None:
    # Two codecs and the uncompressed external, each at two fillfactors; codecs mean nothing to what is not compressed.
    # DuckDB: two block sizes by three codecs, less the one that the experiment leaves out.
    targets = plan(*THREE)
    assert {name: (len(target["blocks"]), cells(target)) for name, target in targets.items()} == {
        "embedded": (6, 24),
        "duckdb": (5, 10),
        "greenplum": (13, 26),
    }
    assert [target["unsupported"] for target in targets.values()] == [[], [], []]
    external = [block["levels"] for block in targets["embedded"]["blocks"] if block["levels"]["toast"] == "external"]
    assert external == [{"toast": "external", "fillfactor": 100}, {"toast": "external", "fillfactor": 70}]


def test_embedded_and_duckdb_are_the_default(plan: Any) -> None:
    assert list(plan()) == ["embedded", "duckdb"]


def test_only_keeps_the_cells_to_which_the_factor_applies(plan: Any) -> None:
    targets = plan("--only", "blocksize=16kB", "--only", "index=none,art(c2)")
    assert (cells(targets["embedded"]), cells(targets["duckdb"])) == (0, 4)


def test_the_ddl_says_the_storage_form(plan: Any) -> None:
    targets = plan(*THREE)
    greenplum = targets["greenplum"]["blocks"][2]["ddl"]
    assert (
        '("id" integer, "c1" text, "c2" integer) with '
        "(appendonly=true, orientation=row, blocksize=8192, compresstype=zlib, compresslevel=5"
    ) in greenplum[-2]
    assert greenplum[-2].endswith(') distributed by ("id")')
    assert greenplum[-1].startswith('create index "index_build_index" on ')
    assert greenplum[-1].endswith(' using btree ("c2")')
    external = targets["embedded"]["blocks"][2]["ddl"]
    assert any(statement.endswith('alter column "c1" set storage external') for statement in external)
    assert any(" with (fillfactor=100," in statement for statement in external)
    duckdb = targets["duckdb"]["blocks"][1]["ddl"]
    assert duckdb[0].endswith(" (block_size 16384)")
    assert duckdb[-2].endswith('("id" integer, "c1" text using compression zstd, "c2" integer)')


def test_the_estimate_grows_with_the_rows(plan: Any) -> None:
    quick, large = (
        plan("--target", "embedded", "--set", f"rows={rows}")["embedded"]["estimate"] for rows in (10_000, 100_000)
    )
    # 4,200 bytes a row; the source and one block at a time; the source and six blocks through the WAL.
    assert (quick["disk_bytes"], large["disk_bytes"]) == (84_000_000, 840_000_000)
    assert (quick["wal_bytes"], large["wal_bytes"]) == (294_000_000, 2_940_000_000)
    assert quick["seconds"] < large["seconds"] < 10 * quick["seconds"]


def test_duckdb_writes_no_wal_that_could_be_read(plan: Any) -> None:
    assert plan("--target", "duckdb")["duckdb"]["estimate"]["wal_bytes"] == 0


def test_ids_do_not_hang_on_what_else_is_planned(plan: Any) -> None:
    def ids(target: dict[str, Any]) -> set[str]:
        return {cell["cell_id"] for block in target["blocks"] for cell in block["cells"]}

    whole, part = plan(*THREE)["embedded"], plan("--target", "embedded", "--only", "index=none")["embedded"]
    assert len(ids(part)) == 6
    assert ids(part) < ids(whole)


def test_the_page_ends_with_the_summary_and_fits_100_columns(cli: Cli, small: Path) -> None:
    ended = cli("plan", "small", "--target", "greenplum", "--target", "duckdb", "--set", "rows=20000")
    assert (ended.code, ended.err) == (0, "")
    page = [line.rstrip() for line in ended.out.splitlines()]
    summary = [re.sub(r"\b[0-9a-f]{4}\b", "id", line) for line in page[page.index("small: Which form is smaller?") :]]
    assert summary == [
        "small: Which form is smaller?",
        "profile quick: rows=20000, order=scattered",
        "",
        "greenplum (greenplum6 as declared; --probe asks the server): 6 cells in 3 blocks",
        "orientation  compression  cells in order",
        "heap                      id: none  id: btree(id)",
        "ao_row       none         id: none  id: btree(id)",
        "ao_row       zlib:5       id: none  id: btree(id)",
        "roughly 1.3 s; up to 781 kB of disk at a time and 2.29 MB of WAL",
        "",
        "duckdb (duckdb as declared; --probe asks the server): 2 cells in 1 block",
        "compression  cells in order",
        "none         id: none  id: art(id)",
        'unsupported: DuckDB does not compress with "zlib:5"; known: auto, bitpacking, dict_fsst, none, rle, zstd '
        "(2 cells)",
        "roughly 0.4 s; up to 781 kB of disk at a time",
    ]


def test_a_plan_touches_neither_home_nor_server(cli: Cli, empty_home: Path, tmp_path: Path) -> None:
    assert cli("plan", "storage_matrix").code == 0
    assert not empty_home.exists()
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("words", [("--home", "h", "plan", "mine"), ("plan", "mine", "--home", "h")])
def test_the_home_may_be_named_before_and_after_the_command(cli: Cli, small: Path, words: tuple[str, ...]) -> None:
    Path("h/experiments").mkdir(parents=True)
    small.rename("h/experiments/mine")
    ended = cli(*words, "--target", "embedded")
    assert (ended.code, ended.err) == (0, "")
    assert "mine: Which form is smaller?" in ended.out


def test_what_takes_long_to_import_is_left_alone(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom flows.cli import main\n"
        "try:\n    main(['plan', 'storage_matrix'])\n"
        "finally:\n    print(*(name for name in sys.modules if '.' not in name), file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    heavy = {"duckdb", "psycopg", "sqlalchemy", "prefect", "pandas", "pyarrow", "great_expectations", "altair", "scipy"}
    assert heavy & set(ended.stderr.split()) == set()


def test_what_a_running_server_is_only_it_can_say(cli: Cli, plan: Any) -> None:
    """Declared as PostgreSQL it has no orientation; it may yet turn out to be a Greenplum, so nothing is refused."""
    mine = ("--only", "orientation=heap", "--target", "mine=postgresql://me@db.example/db")
    assert plan(*mine)["mine"]["blocks"] == []
    page = cli("plan", "storage_matrix", *mine).out
    assert "mine (postgresql as declared; --probe asks the server): 0 cells in 0 blocks" in page
