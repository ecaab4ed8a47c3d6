"""What plan says of server settings and files, before any server is asked."""

from __future__ import annotations

import json
import re

import duckdb
import pytest

from tests.flows.conftest import Cli


def plan(cli: Cli, *words: str) -> list[dict]:
    """The blocks of the first target."""
    ended = cli("plan", *words, "--json")
    assert (ended.code, ended.err) == (0, "")
    return json.loads(ended.out)["targets"][0]["blocks"]


def test_each_block_has_its_settings(cli: Cli) -> None:
    blocks = plan(cli, "copy_tuning", "--target", "opengauss", "--only", "rung=default,shared_buffers 1GB")
    assert [block["settings"]["shared_buffers"] for block in blocks] == ["64MB", "1GB"]
    page = cli("plan", "copy_tuning", "--target", "opengauss", "--only", "rung=default").out
    assert "-- server setting: shared_buffers = 64MB\n" in page


def test_a_plan_without_settings_has_none(cli: Cli) -> None:
    assert {str(block["settings"]) for block in plan(cli, "storage_matrix", "--target", "embedded")} == {"{}"}


def test_a_profile_brings_the_studys_scales(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.planning.free_before_start", lambda request, place: {})
    blocks = plan(cli, "engine_copy", "--target", "zheap", "--profile", "published", "--only", "wal_level=replica")
    assert {block["levels"]["scale"] for block in blocks} == {100, 1000, 2000}


def test_the_disk_of_the_largest_scale_is_asked_for(cli: Cli) -> None:
    ended = cli("plan", "engine_copy", "--target", "zheap", "--set", "rows=100_000_000_000")
    assert ended.code == 2
    assert "are free; set fewer rows" in ended.err


def test_the_grid_is_whole_in_its_full_profile(cli: Cli) -> None:
    assert len(plan(cli, "copy_grid", "--target", "embedded")) == 64
    assert len(plan(cli, "copy_grid", "--target", "embedded", "--profile", "full")) == 512


def test_duckdb_makes_the_file_and_copies_it_by_the_script(cli: Cli) -> None:
    words = ("copy_tuning", "--target", "duckdb", "--set", "rows=1000", "--repeats", "2")
    [cell] = plan(cli, *words)[0]["cells"]
    script = cli("plan", *words, "--script", cell["cell_id"]).out
    connection = duckdb.connect()
    sql = "\n".join(line for line in script.splitlines() if line[:1] != ".")
    connection.execute(sql.partition("\ndetach")[0])
    [(database,)] = connection.execute(
        "select database_name from duckdb_databases() where path like '%.duckdb'"
    ).fetchall()
    assert connection.execute(f'select count(*), max(hist_id) from "{database}".main.t').fetchone() == (1000, 1000)
    connection.close()


def test_psql_is_told_how_the_file_is_made_and_sends_it(cli: Cli) -> None:
    words = ("engine_copy", "--target", "embedded", "--set", "rows=1000", "--only", "scale=5")
    script = cli("plan", *words, "--script", plan(cli, *words)[0]["cells"][0]["cell_id"]).out
    assert re.search(r"^-- \) to 'accounts-[0-9a-f]{12}\.txt' \(format csv, header false, ", script, re.MULTILINE)
    assert re.search(r"^\\copy storage_matrix\.\"t_b\w+\" from 'accounts-[0-9a-f]{12}\.txt'$", script, re.MULTILINE)
    assert "--set wal_level=replica" in script
