"""Greenplum for real: what may be asked of a cluster, what it refuses, what it tells, and what a death does to it."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from experiments.model import Cell, CellResult, Column, Levels, Measurement, UserError
from flows.asking import Ask, resolve
from flows.engine import Engine
from flows.outcome import exit_code
from tasks.dialects.dialect import Dialect
from tasks.dialects.registry import probe
from tasks.errors import StatementFailed
from tasks.launchers.greenplum import GreenplumCluster
from tasks.launchers.postmaster import Postmaster
from tasks.launchers.process import wait_until
from tasks.launchers.server import Server
from tasks.session import PostgresSession
from tests.launchers.conftest import kill_during_insert

COLUMNS = (Column("id", "integer"), Column("c1", "text"), Column("c2", "integer"))
TABLE = "storage_matrix.t"
ADVISORY_LOCKS = "select count(*) from pg_locks where locktype = 'advisory'"


class Watcher:
    """A watcher that calls ``measuring`` when a cell begins."""

    def __init__(self, measuring: Callable[[Cell], None] = lambda cell: None) -> None:
        self.measuring = measuring

    def phase(self, text: str) -> None:
        """Nothing."""

    def planned(self, cells: int) -> None:
        """Nothing."""

    def measured(self, result: CellResult) -> None:
        """Nothing."""


@dataclass
class Runs:
    """Runs of experiments on the shared cluster, which outlives them."""

    home: Path
    server: Server

    def __call__(
        self,
        experiment: str,
        *sets: str,
        only: Sequence[str] = (),
        profile: str | None = None,
        repeats: int = 1,
        watcher: Watcher | None = None,
        target: str = "greenplum",
    ) -> list[CellResult]:
        ask = Ask(experiment, (target,), profile, tuple(sets), tuple(only), repeats, 1, 120)
        request, secrets = resolve(ask, self.home, os.environ)
        engine = Engine(request, self.home, secrets, watcher or Watcher())
        try:
            engine.open()
            engine.run(engine.measure_cell)
        finally:
            engine.close()
        self.unsupported = engine.matrix.unsupported
        return [result for result in engine.results if result.cell.role == "result"]


@pytest.fixture(scope="module")
def cluster(server_of: Callable[[str], Server]) -> GreenplumCluster:
    server = server_of("greenplum")
    assert isinstance(server, GreenplumCluster)
    return server


@pytest.fixture
def run(cluster: GreenplumCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.setattr(cluster, "close", lambda: None)
    monkeypatch.setattr(GreenplumCluster, "is_temporary", False)
    monkeypatch.setattr("flows.engine.acquire", lambda target, *rest, **more: cluster)
    return Runs(tmp_path, cluster)


@pytest.fixture
def dialect(greenplum: PostgresSession) -> Iterator[Dialect]:
    """The probed dialect, with our schema made for the test and the session pinned."""
    found = probe(greenplum)
    for statement in (*found.schema_setup(), *found.session_settings()):
        greenplum.execute(statement)
    yield found
    for statement in found.schema_teardown():
        greenplum.execute(statement)


def values(result: CellResult, step: str) -> Mapping[tuple[str, str | None], Measurement]:
    """The measurements of a step by metric and node, the last repetition winning."""
    return {(one.metric, one.node): one for one in result.measurements if one.step == step}


def experiment(home: Path, name: str, toml: str, **sql: str) -> None:
    """A folder of an experiment of one's own: no Python in it."""
    folder = home / "experiments" / name
    (folder / "sql").mkdir(parents=True)
    (folder / "experiment.toml").write_text(toml)
    for file, text in sql.items():
        (folder / "sql" / f"{file}.sql").write_text(text)


# Illegal forms: what the plan says of them, and the statement by which the server confirms it.
REFUSED: list[tuple[Levels, str]] = [
    (
        {"orientation": "ao_row", "blocksize": "4kB"},
        'value 4096 out of bounds for option "blocksize": Valid values are between "8192" and "2097152".',
    ),
    (
        {"orientation": "ao_column", "blocksize": "12kB"},
        "block size must be between 8KB and 2MB and be a multiple of 8KB: Got block size 12288.",
    ),
    (
        {"orientation": "ao_column", "compression": "zlib:10"},
        "compresslevel=10 is out of range for zlib (should be in the range 1 to 9)",
    ),
    (
        {"orientation": "ao_column", "compression": "zstd:20"},
        'value 20 out of bounds for option "compresslevel": Valid values are between "0" and "19".',
    ),
    (
        {"orientation": "ao_row", "compression": "zlib:-1"},
        'value -1 out of bounds for option "compresslevel": Valid values are between "0" and "19".',
    ),
    (
        {"orientation": "ao_row", "compression": "rle_type:1"},
        "rle_type cannot be used with Append Only relations row orientation",
    ),
    (
        {"orientation": "ao_column", "column_encoding": "c1:zlib:10"},
        "compresslevel=10 is out of range for zlib (should be in the range 1 to 9)",
    ),
    ({"orientation": "ao_column", "column_encoding": "c1:lz4"}, 'unknown compresstype "lz4"'),
    ({"orientation": "heap", "index": "hash(c2)"}, "hash indexes are not supported"),
    ({"orientation": "heap", "index": "unique gin(id)"}, 'access method "gin" does not support unique indexes'),
    ({"orientation": "ao_row", "index": "unique btree(id)"}, "append-only tables do not support unique indexes"),
    (
        {"orientation": "heap", "index": "unique btree(c2)"},
        "UNIQUE index must contain all columns in the distribution key of relation",
    ),
    (
        {"orientation": "heap", "distribution": "hash(id, c2)", "index": "unique btree(id)"},
        "UNIQUE index must contain all columns in the distribution key of relation",
    ),
    (
        {"orientation": "heap", "distribution": "randomly", "index": "unique btree(id)"},
        "UNIQUE and DISTRIBUTED RANDOMLY are incompatible",
    ),
]


@pytest.mark.parametrize(("levels", "reason"), REFUSED)
def test_what_the_plan_refuses_the_server_refuses_in_the_same_words(
    greenplum: PostgresSession, dialect: Dialect, levels: Levels, reason: str
) -> None:
    assert dialect.effective(levels, "id")[1] == reason
    with pytest.raises(StatementFailed) as raised:
        make(greenplum, dialect, levels)
    said = " ".join(str(raised.value).split())
    assert all(part in said for part in reason.split(": ")), said


LEGAL: list[tuple[Levels, Levels]] = [
    ({"orientation": "ao_row", "compression": "none:5"}, {"orientation": "ao_row", "compression": "none"}),
    ({"orientation": "heap", "compression": "zlib:5", "blocksize": "8kB"}, {"orientation": "heap"}),
    ({"orientation": "ao_column", "toast": "external"}, {"orientation": "ao_column"}),
    *(
        (levels, levels)
        for levels in (
            {"orientation": "heap", "index": "unique btree(id)"},
            {"orientation": "heap", "distribution": "replicated", "index": "unique btree(c2)"},
            {"orientation": "ao_row", "distribution": "randomly", "checksum": True, "compression": "zstd:19"},
            {"orientation": "ao_column", "distribution": "hash(c2, id)", "blocksize": "24kB"},
            {"orientation": "ao_column", "compression": "rle_type:4"},
            {"orientation": "ao_column", "blocksize": "1MB", "column_encoding": "c1:zstd:3, c2:none"},
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("levels", "applied"), LEGAL)
def test_what_the_plan_allows_is_stored_as_asked(
    greenplum: PostgresSession, dialect: Dialect, levels: Levels, applied: Levels
) -> None:
    assert dialect.effective(levels, "id") == (applied, None)
    make(greenplum, dialect, applied)
    assert dialect.verify(greenplum, TABLE, COLUMNS, applied) == []


def make(session: PostgresSession, dialect: Dialect, levels: Levels) -> None:
    """The table, some rows that are all unlike, and the index."""
    columns, storage = dialect.columns(COLUMNS, levels), dialect.storage(levels, "id")
    session.execute(f"create table {TABLE} ({columns}){storage}")
    session.execute(f"insert into {TABLE} select i, repeat(md5(i::text), 9), i from generate_series(1, 500) i")
    if "index" in levels:
        session.execute(dialect.create_index_sql(TABLE, levels["index"], "t_index"))


AO = "with (appendonly=true, orientation=column, blocksize=8192, compresstype=zlib, compresslevel=5"
ASKED = {"orientation": "ao_column", "blocksize": "8kB", "compression": "zlib:5"}
OTHER = "with (appendonly=true, orientation=row, compresstype=zlib, compresslevel=1)"
WRONG = [
    pytest.param(
        f"(id int, c1 text encoding (compresstype=zlib, compresslevel=5), c2 int) {AO}) distributed by (id)",
        ASKED,
        ["column c1: blocksize is 32768, asked for 8192"],
        id="a column with a clause of its own does not take the table's block size",
    ),
    pytest.param(
        f"(id int, c1 text, c2 int) {AO}, checksum=true) distributed by (id)",
        ASKED,
        ["checksum is true, asked for false"],
        id="what the levels leave open is the default of the session",
    ),
    pytest.param(
        f"(id int, c1 text, c2 int) {AO}, checksum=false) distributed by (c2)",
        {**ASKED, "distribution": "hash(id)"},
        ["distribution is distributed by (c2), asked for distributed by (id)"],
        id="distribution",
    ),
    pytest.param(
        f"(id int, c1 text, c2 int) {AO}, checksum=false) distributed by (id) partition by range (c2)"
        f" (partition a start (0) end (250), partition b start (250) end (501) {OTHER})",
        ASKED,
        [
            f"partition {TABLE}_1_prt_b: blocksize is 32768, asked for 8192",
            f"partition {TABLE}_1_prt_b: compresslevel is 1, asked for 5",
            f"partition {TABLE}_1_prt_b: orientation is ao_row, asked for ao_column",
        ],
        id="a partition with storage of its own",
    ),
]


@pytest.mark.parametrize(("definition", "asked", "wrong"), WRONG)
def test_the_catalog_tells_storage_that_was_not_asked_for(
    greenplum: PostgresSession, dialect: Dialect, definition: str, asked: Levels, wrong: list[str]
) -> None:
    greenplum.execute("set gp_default_storage_options = 'checksum=false'")
    greenplum.execute(f"create table {TABLE} {definition}")
    assert dialect.verify(greenplum, TABLE, COLUMNS, asked) == wrong


def test_a_plan_that_is_no_json_is_read_as_text(
    greenplum: PostgresSession, dialect: Dialect, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(greenplum, dialect, {"orientation": "ao_row", "index": "btree(c2)"})
    greenplum.execute(f"analyze {TABLE}")
    query = f"select c2, count(*) from {TABLE} group by c2"
    by_json = dialect.explained(greenplum, query)
    monkeypatch.setattr("tasks.dialects.slices.mended", lambda text: "{ no JSON }")
    by_text = dialect.explained(greenplum, query)
    assert isinstance(by_text.plan["text"], str)
    # Text names an aggregate by its strategy.
    assert [name.replace("Hash", "") for name in by_text.node_names] == list(by_json.node_names)
    assert by_text.optimizer == by_json.optimizer == "Postgres query optimizer"
    for plan in (by_json, by_text):
        assert plan.execution_seconds is not None
        assert plan.slice_memory is not None
        assert plan.slice_memory > 1024
        assert {share.node for share in plan.shares} == {"seg0", "seg1"}
        assert sum(share.rows for share in plan.shares) == 500


def test_what_a_run_records_of_a_cluster(run: Runs) -> None:
    form = ["orientation=ao_row", "blocksize=8kB", "compression=zlib:5"]
    base, indexed = run("storage_matrix", "rows=100000", only=form)
    assert (base.status, indexed.status) == ("ok", "ok"), base.reason
    method = values(base, "load")["load_time", None].method
    assert method == "statement, commit and checkpoint of all nodes at once"
    size = {node: one.value for node, one in values(indexed, "size").items()}
    parts = ("table_bytes", "toast_bytes", "index_bytes", "auxiliary_bytes")
    assert size["total_bytes", None] == sum(size[part, None] or 0 for part in parts)
    details = ("aoseg_bytes", "visimap_bytes", "block_directory_bytes")
    assert size["auxiliary_bytes", None] == sum(size[part, None] or 0 for part in details)
    assert values(base, "size")["block_directory_bytes", None].value == 0 < (size["block_directory_bytes", None] or 0)
    assert (size["total_bytes", "seg0"] or 0) > (size["table_bytes", "seg0"] or 0) > 0
    seg0, seg1 = size["table_bytes", "seg0"] or 0, size["table_bytes", "seg1"] or 0
    assert size["skew", None] == pytest.approx(max(seg0, seg1) / ((seg0 + seg1) / 2) - 1)
    assert 0 <= (size["skew", None] or 0) < 0.1
    # TOAST compressed 4 kB to less than a hundred bytes before zlib saw them.
    assert size["value_bytes", None] == 4096
    assert 40 < (size["column_bytes", None] or 0) < 100
    assert (size["compression_ratio", None] or 0) > 2
    wal = {node: one.value for (metric, node), one in values(base, "load").items() if metric == "wal_bytes"}
    assert wal.keys() == {None, "coordinator", "seg0", "seg1"}
    assert wal.pop(None) == sum(value or 0 for value in wal.values())
    lookup = values(indexed, "lookup")
    assert lookup["plan_nodes", None].text_value == "Gather Motion, Bitmap Heap Scan, Bitmap Index Scan"
    assert lookup["optimizer", None].text_value == "Postgres query optimizer"
    assert (lookup["slice_memory", None].value or 0) > 1024
    grouped = values(base, "group_by")
    assert (grouped["scan_rows", "seg0"].value or 0) + (grouped["scan_rows", "seg1"].value or 0) == 100_000
    assert {grouped["scan_time", node].clock for node in ("seg0", "seg1")} == {"server"}


PARTITIONED = """
question = "What do partitions cost?"
source = "source"
[parameters]
rows = 2000
[table]
key = "id"
row_bytes = 40
[table.columns]
id = "integer"
c1 = "text"
c2 = "integer"
[factors]
orientation = { greenplum = ["heap", "ao_column"] }
blocksize = { greenplum = ["64kB"] }
compression = { greenplum = ["zlib:1"] }
column_encoding = { greenplum = ["none", "c1:zstd:3"] }
distribution = { greenplum = ["hash(id)", "randomly"] }
width = { greenplum = [1000, 250] }
[in_place]
index = { greenplum = ["none", "btree(c2)"] }
[[steps]]
create = "create"
[[steps]]
load = "load"
[[steps]]
index = "build"
[[steps]]
query = "lookup"
repeats = 1
[[steps]]
query = "scan"
repeats = 1
[[steps]]
size = "size"
"""


def test_partitions_encodings_and_distribution_in_an_experiment(run: Runs) -> None:
    experiment(
        run.home,
        "partitioned",
        PARTITIONED,
        source="create table {{source}} as select i as id, md5(i::text) as c1, i % 1000 as c2"
        " from generate_series(1, {{rows}}) i",
        create="create table {{table}} ({{columns}}){{storage}}\n"
        "partition by range (c2) (start (0) end (1000) every ({{width}}))",
        load="insert into {{table}} select * from {{source}}",
        lookup="select * from {{table}} where c2 = 7",
        scan="select max(c1) from {{table}}",
    )
    results = run("partitioned")
    assert {result.status for result in results} == {"ok"}, [result.reason for result in results]
    # A heap has no encodings; each of the others by distribution, partitions and index.
    assert len(results) == (1 + 2) * 2 * 2 * 2
    for result in results:
        size = values(result, "size")
        assert (size["table_bytes", None].value or 0) > 30_000
        scan = values(result, "scan")
        assert sum(scan["scan_rows", node].value or 0 for node in ("seg0", "seg1")) == 2000
        assert ((size["index_bytes", None].value or 0) > 0) is (result.cell.levels["index"] != "none")
        if result.cell.levels["orientation"] == "ao_column":
            ratio = size["compression_ratio", None]
            assert (ratio.value, ratio.reason) == (
                None,
                "the server says -1: it knows no ratio of an empty or partitioned table",
            )


UNIQUE = """
question = "Which tables take a unique index?"
source = "source"
[parameters]
rows = 500
[table]
key = "id"
row_bytes = 40
[table.columns]
id = "integer"
c2 = "integer"
[factors]
orientation = { greenplum = ["heap", "ao_row"] }
distribution = { greenplum = ["hash(id)", "randomly"] }
[in_place]
index = { greenplum = ["none", "unique btree(id)", "unique btree(c2)"] }
[[steps]]
create = "create"
[[steps]]
load = "load"
[[steps]]
index = "build"
[[steps]]
size = "size"
"""


def test_unique_indexes_in_an_experiment(run: Runs) -> None:
    experiment(
        run.home,
        "unique",
        UNIQUE,
        source="create table {{source}} as select i as id, i as c2 from generate_series(1, {{rows}}) i",
        create="create table {{table}} ({{columns}}){{storage}}",
        load="insert into {{table}} select * from {{source}}",
    )
    results = run("unique")
    assert {result.status for result in results} == {"ok"}
    assert len([one for one in results if one.cell.levels["index"] == "unique btree(id)"]) == 1
    assert sorted({str(cell.reason) for cell in run.unsupported}) == [
        "UNIQUE and DISTRIBUTED RANDOMLY are incompatible",
        "UNIQUE index must contain all columns in the distribution key of relation",
        "append-only tables do not support unique indexes",
    ]


# Bytes of table and index of 100,000 rows on two segments, as a plain script gives them.
STUDY = {
    ("heap", None, None): 470_876_160,
    ("ao_row", "8kB", "none"): 14_385_520,
    ("ao_row", "2MB", "none"): 415_254_664,
    ("ao_row", "8kB", "zlib:5"): 6_334_704,
    ("ao_row", "2MB", "zlib:5"): 7_739_184,
    ("ao_column", "8kB", "none"): 420_039_680,
    ("ao_column", "2MB", "none"): 413_756_720,
    ("ao_column", "8kB", "zlib:5"): 15_625_464,
    ("ao_column", "2MB", "zlib:5"): 6_747_984,
}


def test_the_forms_of_the_study_have_the_sizes_that_a_plain_script_gives(run: Runs) -> None:
    results = run("storage_matrix", profile="study")
    assert {result.status for result in results} == {"ok"}, [result.reason for result in results]
    sizes = {
        (result.cell.levels["orientation"], result.cell.levels.get("blocksize"), result.cell.levels.get("compression")):
        values(result, "size")["total_bytes", None].value
        for result in results
        if result.cell.levels["index"] != "none"
    }  # fmt: skip
    assert len(sizes) == 13
    for form, expected in STUDY.items():
        assert sizes[form] == pytest.approx(expected, rel=0.001), form
        if form[2] == "zlib:5":
            assert sizes[(*form[:2], "zlib:9")] == pytest.approx(expected, rel=0.002), form


def test_a_checkpoint_is_one_of_every_node(cluster: GreenplumCluster) -> None:
    session = PostgresSession(cluster.url, 60, cluster.node_urls)
    session.execute("create table dirty as select i from generate_series(1, 100) as i distributed by (i)")
    before = last_checkpoints(cluster)
    session.on_each_node("checkpoint")
    after = last_checkpoints(cluster)
    session.execute("drop table dirty")
    session.close()
    assert len(before) == 3
    assert all(earlier < later for earlier, later in zip(before, after, strict=True))


def last_checkpoints(cluster: GreenplumCluster) -> list[int]:
    """The position of each node's last checkpoint in its WAL, by its own pg_controldata."""
    return [_last_checkpoint(node) for node in cluster.nodes]


def _last_checkpoint(node: Postmaster) -> int:
    told = subprocess.check_output(
        [node.programs / "pg_controldata", node.data], env=os.environ | {**node.environment, "LC_ALL": "C"}, text=True
    )
    position = next(line.split()[-1] for line in told.splitlines() if line.startswith("Latest checkpoint location:"))
    high, low = position.split("/")
    return (int(high, 16) << 32) + int(low, 16)


@pytest.mark.parametrize("with_children", [True, False], ids=["all of it", "its postmaster"])
def test_a_segment_that_is_killed_during_a_load(run: Runs, cluster: GreenplumCluster, with_children: bool) -> None:
    """The cell fails and says why, the cluster comes back, the block runs again, the next run works."""
    one_form = ["orientation=ao_row", "blocksize=2MB", "compression=zlib:5"]
    killer = threading.Thread(
        target=kill_during_insert, args=(cluster.nodes[1],), kwargs={"with_children": with_children}
    )
    killer.start()
    results = run("storage_matrix", "rows=200000", only=one_form)
    killer.join()
    first, *others = results
    assert (first.status, first.attempt) == ("failed", 1)
    assert first.reason is not None
    assert first.reason.startswith("step load: the server died: ")
    assert "seg0" in first.reason
    assert [(one.status, one.attempt, one.cell.cell_id == first.cell.cell_id) for one in others] == [
        ("ok", 2, True),
        ("ok", 2, False),
    ]
    assert exit_code(results, []) == 3
    assert {result.status for result in run("storage_matrix", "rows=2000", only=one_form)} == {"ok"}


@pytest.fixture
def plain_role(greenplum: PostgresSession) -> Iterator[str]:
    """A role that may make a schema of its own, and nothing more."""
    greenplum.execute("create role plain login password 'plain'")
    greenplum.execute("grant create on database postgres to plain")
    yield "plain"
    greenplum.execute("drop schema if exists storage_matrix cascade")
    greenplum.execute("revoke create on database postgres from plain")
    greenplum.execute("drop role plain")
    assert wait_until(lambda: greenplum.value(ADVISORY_LOCKS) == 0, 10), "of a run that has just ended"


def test_a_role_without_rights_and_what_is_missing_then(
    cluster: GreenplumCluster, plain_role: str, tmp_path: Path
) -> None:
    port = cluster.folder.record.ports[0]
    target = f"theirs=postgresql://{plain_role}:plain@127.0.0.1:{port}/postgres"
    results = Runs(tmp_path, cluster)("storage_matrix", "rows=2000", only=["compression=zlib:5"], target=target)
    assert {result.status for result in results} == {"ok"}, [result.reason for result in results]
    assert {result.cell.dialect for result in results} == {"greenplum6"}
    missing = {
        (one.metric, one.reason)
        for result in results
        for one in result.measurements
        if one.value is None and one.text_value is None
    }
    unseen = "the server's processes, or some of them, cannot be seen"
    assert missing == {
        ("compression_ratio", "permission denied for schema pg_aoseg"),
        *((metric, unseen) for metric in ("cpu_time", "read_bytes", "write_bytes")),
    }
    load = values(next(result for result in results if result.cell.levels["index"] == "none"), "load")
    assert load["load_time", None].method == "statement, commit and no checkpoint: the target is not exclusive"


def test_a_role_that_may_make_no_schema_is_told_what_it_needs(
    cluster: GreenplumCluster, plain_role: str, greenplum: PostgresSession, tmp_path: Path
) -> None:
    greenplum.execute("revoke create on database postgres from plain")
    target = f"theirs=postgresql://{plain_role}:plain@127.0.0.1:{cluster.folder.record.ports[0]}/postgres"
    with pytest.raises(UserError) as error:
        Runs(tmp_path, cluster)("storage_matrix", "rows=500", target=target)
    assert error.value.exit_code == 4
    assert str(error.value) == (
        "target theirs: no schema of our own: permission denied for database postgres; "
        'it needs: grant create on database "postgres" to "plain"'
    )


def test_an_exclusive_target_whose_role_may_not_checkpoint(
    cluster: GreenplumCluster, plain_role: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = cluster.folder.record.ports[0]
    monkeypatch.setenv("THEIRS", f"postgresql://{plain_role}:plain@127.0.0.1:{port}/postgres")
    (tmp_path / "targets.toml").write_text('[theirs]\nlauncher = "dsn"\nurl_env = "THEIRS"\nexclusive = true\n')
    only = ["orientation=heap"]
    results = Runs(tmp_path, cluster)("storage_matrix", "rows=500", only=only, target="theirs")
    assert {result.status for result in results} == {"ok"}, [result.reason for result in results]
    load = values(results[0], "load")
    assert load["load_time", None].method == "statement, commit and no checkpoint: the role has no right to it"
