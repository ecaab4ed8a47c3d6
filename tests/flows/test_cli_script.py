"""``plan --script``: the script runs by hand, and what it finds is what the experiment asks for."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from experiments.language import STEP_KINDS
from experiments.model import Target
from flows.scripts import SCRIPTS
from tasks.launchers.place import Place
from tasks.launchers.registry import launch
from tasks.launchers.server import Owner, Server
from tests.flows.conftest import Cli

ROWS = "rows=300"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server of the wheel, in a short directory that its user can enter."""
    root = Path("/var/tmp") / f"sm-test-{secrets.token_hex(4)}"
    root.mkdir(mode=0o711)
    place = Place.of(root / "home", os.environ | {"STORAGE_MATRIX_DATA": str(root)})
    with launch(Target("embedded", "local", "postgresql", options={"bin": "embedded"}), place, Owner.run()) as server:
        yield server
    shutil.rmtree(root)


def script_of(cli: Cli, target: str, **levels: str | int) -> str:
    """The script of the cell with these levels."""
    words = ("plan", "storage_matrix", "--target", target, "--set", ROWS)
    plan = json.loads(cli(*words, "--json").out)["targets"][0]
    cells = [cell for block in plan["blocks"] for cell in block["cells"]]
    [cell_id] = [cell["cell_id"] for cell in cells if cell["levels"] == levels]
    ended = cli(*words, "--script", cell_id[:8])
    assert (ended.code, ended.err) == (0, "")
    return ended.out


def psql(server: Server, file: Path) -> subprocess.CompletedProcess[str]:
    line = server.psql_line()
    return subprocess.run(["sh", "-c", f"{line} -f {file}"], capture_output=True, text=True, check=False)


def test_every_kind_of_step_that_is_plain_sql_can_be_written_by_hand() -> None:
    assert {"create", "load", "vacuum", "analyze", "query", "index", "size"} <= SCRIPTS.keys() <= STEP_KINDS.keys()


def test_psql_runs_the_script_of_a_cell_with_an_index(cli: Cli, server: Server, tmp_path: Path) -> None:
    script = script_of(cli, "embedded", toast="external", fillfactor=70, index="btree(c2)")
    file = tmp_path / "cell.sql"
    file.write_text(script)
    ended = psql(server, file)
    assert ended.returncode == 0, ended.stderr
    headings = re.findall(r"^== (.*)$", ended.stdout, re.MULTILINE)
    assert [heading for heading in headings if not heading.endswith("_bytes") and "stored" not in heading] == [
        "the rows, not timed in a run",
        "the block",
        "step create",
        "step load",
        "step settle",
        "step analyze",
        "step index_build",
        "step lookup",
        "step size",
        "leave nothing behind",
    ]
    assert {"total_bytes", "table_bytes", "toast_bytes", "index_bytes"} < set(headings)
    assert "INSERT 0 300\n" in ended.stdout
    # One warm-up and three repetitions, timed and their rows hidden, between the checkpoint and the plan.
    lookup = ended.stdout.split("== step lookup\n")[1].split("QUERY PLAN")[0]
    assert lookup.count("Time: ") == 5
    assert "DROP SCHEMA\n" in ended.stdout


def test_the_script_of_a_base_cell_groups_and_builds_no_index(cli: Cli, server: Server, tmp_path: Path) -> None:
    script = script_of(cli, "embedded", compression="pglz", toast="default", fillfactor=100, index="none")
    assert "create index" not in script
    assert "group by c2" in script
    file = tmp_path / "cell.sql"
    file.write_text(script)
    ended = psql(server, file)
    assert ended.returncode == 0, ended.stderr


def test_psql_stops_at_the_first_mistake(cli: Cli, server: Server, tmp_path: Path) -> None:
    script = script_of(cli, "embedded", compression="lz4", toast="default", fillfactor=100, index="none")
    file = tmp_path / "cell.sql"
    file.write_text(script)
    ended = psql(server, file)
    assert ended.returncode == 3
    assert "compression method lz4 not supported" in ended.stderr
    assert "== step load" not in ended.stdout


def test_duckdb_runs_the_script_of_a_cell_with_an_index(cli: Cli, tmp_path: Path) -> None:
    script = script_of(cli, "duckdb", blocksize="16kB", compression="zstd", index="art(c2)")
    dots = [line for line in script.splitlines() if line.startswith(".")]
    assert dots[:2] == [".bail on", ".timer on"]
    sql = "\n".join(line for line in script.splitlines() if not line.startswith("."))
    before_leaving, leaving = sql.split("detach", maxsplit=1)
    connection = duckdb.connect()
    connection.execute(before_leaving)
    [(database,)] = connection.execute(
        "select database_name from duckdb_databases() where path like '%.duckdb' and database_name <> 'source'"
    ).fetchall()
    assert connection.execute(f'select count(*) from "{database}".main.t').fetchone() == (300,)
    assert (
        connection.execute("select getvariable('lookup_value')").fetchone()
        == connection.execute(f'select c2 from "{database}".main.t where id = 300').fetchone()
    )
    assert connection.execute("select index_name from duckdb_indexes()").fetchall() == [("index_build_index",)]
    connection.execute(f"detach{leaving}")
    connection.close()
    files = sorted(path.name for path in tmp_path.glob("*.duckdb"))
    assert files == sorted(["source.duckdb", f"{database}.duckdb"])
    assert script.splitlines()[-1] == (
        f"-- To be removed by hand: {database}.duckdb {database}.duckdb.wal source.duckdb source.duckdb.wal"
    )


def test_a_server_that_others_use_is_not_checkpointed(cli: Cli) -> None:
    ended = cli("plan", "storage_matrix", "--target", "mine=postgresql://db.example/db", "--json")
    cell_id = json.loads(ended.out)["targets"][0]["blocks"][0]["cells"][0]["cell_id"]
    ended = cli("plan", "storage_matrix", "--target", "mine=postgresql://db.example/db", "--script", cell_id)
    assert "checkpoint;" not in ended.out
    assert "on the connection that storage-matrix target check mine prints\n" in ended.out


def test_the_beginning_of_an_id_must_be_of_one_cell(cli: Cli) -> None:
    ended = cli("plan", "storage_matrix", "--script", "")
    assert ended == (2, "", "storage-matrix: --script: no cell '' in this plan; storage-matrix plan shows the ids\n")
