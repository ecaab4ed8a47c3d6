"""What steps send and keep, on a server that only remembers what it was told."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy.engine import URL

from experiments.language import COMMON, STEP_KINDS
from experiments.model import Cell, Experiment, Level, Round, Step
from experiments.template import Fragment
from tasks.context import CellContext, CellFailed, CellUnsupported
from tasks.dialects.registry import dialect_named
from tasks.errors import ServerGone, StatementFailed, StatementTimeout
from tasks.session import LoggedSession
from tasks.steps.children import locks_needed
from tasks.steps.query import is_stable
from tasks.steps.registry import runner, unmet

TABLE = 'storage_matrix."t_b1"'
DIGEST = [(10, 1, 2, 3, 4)]
Answer = Callable[[str], Any]


class FakeSession(LoggedSession):
    """Remembers every statement; ``answers`` maps what a statement begins with to its rows or its error."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        super().__init__()
        self.answers = answers
        self.sent: list[str] = []

    def timed(self, sql: str) -> tuple[list[tuple[Any, ...]], float]:
        return super().timed(sql)[0], 0.01

    def _run(self, sql: str) -> list[tuple[Any, ...]]:
        self.sent.append(sql)
        found = next((answer for start, answer in self.answers.items() if sql.startswith(start)), [])
        found = found() if callable(found) else found
        if isinstance(found, Exception):
            raise found
        return cast("list[tuple[Any, ...]]", found)


class FakeServer:
    is_ours = True
    is_exclusive = True
    program_environment: Mapping[str, str] = {}
    node_urls = ()

    def __init__(self, programs: Path | None = None) -> None:
        self.bin_directory = programs
        self.url = URL.create(
            "postgresql+psycopg", "me", "s3cret", None, None, "db", {"host": "/run/s", "port": "5432"}
        )
        self.is_up = True

    def processes(self) -> list[int]:
        return []

    def alive(self) -> bool:
        return self.is_up


class FakeTarget:
    def __init__(self, session: FakeSession, server: FakeServer) -> None:
        quiet = replace(dialect_named("postgresql").capabilities, has_wal=False, extensions=frozenset({"pgstattuple"}))
        self.dialect = Quiet(quiet)
        self.session = session
        self.server = server
        self.timeout = 5.0
        self.settings: dict[str, str] = {}

    @property
    def no_checkpoint(self) -> str | None:
        return None if self.server.is_exclusive else "no checkpoint: the target is not exclusive"

    def processes(self) -> list[int]:
        return self.server.processes()

    def settle(self, settings: Mapping[str, str]) -> bool:
        self.settings = dict(settings)
        return True


class Quiet(type(dialect_named("postgresql"))):  # type: ignore[misc]
    """PostgreSQL that is not asked for its WAL around each statement."""

    name = "postgresql"

    def wal_sql(self) -> str | None:
        return None

    def digest_sql(self, table: str, columns: Any) -> str:
        return f"digest {table}"


def step(kind: str, name: str, **options: Any) -> Step:
    """A step with the defaults of its kind."""
    declared = {**COMMON, **STEP_KINDS[kind].options}
    values = {key: option.default for key, option in declared.items()} | {"sql": name, "when": {}} | options
    return Step(kind, name, options.pop("at", "every"), values)


def context(
    *steps: Step,
    sql: Mapping[str, str] | None = None,
    answers: Mapping[str, Any] | None = None,
    levels: Mapping[str, Level] | None = None,
    server: FakeServer | None = None,
) -> CellContext:
    levels = levels or {}
    experiment = Experiment(
        "mine", "?", {}, {}, (), "id", 1, None, {}, (), steps, (), {}, (),
        {f"{name}.sql": text for name, text in (sql or {}).items()}, "",
    )  # fmt: skip
    session = FakeSession({"digest": DIGEST, **(answers or {})})
    values = {**levels, "table": Fragment(TABLE), "table_name": TABLE}
    cell = Cell("c1", "h1", "here", "postgresql", levels, "b1")
    return CellContext(
        experiment, cell, FakeTarget(session, server or FakeServer()), TABLE, values, None, {}, [],  # type: ignore[arg-type]
    )  # fmt: skip


def run(one: Step, into: CellContext) -> None:
    runner(one.kind)(one, into)


def sent(into: CellContext) -> list[str]:
    return into.session.sent  # type: ignore[attr-defined, no-any-return]


def kept(into: CellContext, metric: str) -> list[Any]:
    return [
        one.value if one.text_value is None else one.text_value for one in into.measurements if one.metric == metric
    ]


UPDATE = step("update", "change", at="series")
COUNT = step("query", "count", at="series", repeats=2, stable_within=5, explain=False)
SQL = {"change": "update {{table}} set turn = {{turn}}", "count": "select count(*) from {{table}}"}


def series(*rounds: Round) -> Step:
    return step("series", "life", rounds=rounds)


def test_a_series_does_and_looks_round_after_round() -> None:
    life = series(Round((), 1, ("count",)), Round(("change",), 2, ("count",)))
    into = context(life, UPDATE, COUNT, sql=SQL)

    run(life, into)

    count = f"select count(*) from {TABLE}"
    # The first scan of changed rows has set their hint bits: it leaves pages to write.
    changes = [["checkpoint", f"update {TABLE} set turn = {turn}"] for turn in (1, 2)]
    look = ["checkpoint", count, count, count]
    assert sent(into) == [*look, *changes[0], *look, *changes[1], *look, f"digest {TABLE}"]


def test_what_a_series_keeps_has_its_round() -> None:
    life = series(Round((), 1, ("count",)), Round(("change",), 2, ("count",)))
    into = context(life, UPDATE, COUNT, sql=SQL)

    run(life, into)

    actions = [(one.round, one.text_value) for one in into.measurements if one.metric == "action"]
    assert actions == [(0, "nothing"), (1, "change"), (2, "change")]
    assert [one.round for one in into.measurements if one.metric == "first_query_time"] == [0, 1, 2]
    assert [one.round for one in into.measurements if one.metric == "row_digest"] == [2]
    assert into.series.round is None


def test_rounds_are_counted_through_all_series_of_a_cell() -> None:
    first, second = series(Round((), 2, ())), replace(series(Round((), 1, ())), name="more")
    into = context(first, second)

    run(first, into)
    run(second, into)

    assert [(one.step, one.round) for one in into.measurements] == [("life", 0), ("life", 1), ("more", 2)]


def test_how_often_is_the_level_of_a_factor() -> None:
    life = series(Round((), "updates", ()))
    into = context(life, levels={"updates": 3})

    run(life, into)

    assert kept(into, "action") == ["nothing"] * 3


def test_rows_that_an_update_changed_fail_the_cell() -> None:
    into = context(UPDATE, sql={"change": "update {{table}} set v = 1"})
    into.seen["rows x 1"] = ("10:9:9:9:9", "elsewhere")

    with pytest.raises(CellFailed, match="not the same rows"):
        run(UPDATE, into)


@pytest.mark.parametrize(
    ("times", "stable"),
    [([1.0], False), ([1.0, 1.04, 0.97], True), ([1.0, 1.06, 1.0], False), ([1.06, 1.0, 1.0, 1.0], False), ([], False)],
)
def test_times_are_stable_when_enough_of_them_lie_close_together(times: list[float], stable: bool) -> None:
    assert is_stable(times, 3, 0.05) is stable


def test_of_a_query_that_settles_the_last_times_count() -> None:
    into = context(COUNT, sql=SQL, answers={"select count": [(10,)]})
    seconds = iter([9.0, 5.0, 2.0, 1.01, 1.0])
    into.session.timed = lambda sql: ([(10,)], next(seconds))  # type: ignore[method-assign]
    into.target.server.is_exclusive = False  # type: ignore[misc]

    run(COUNT, into)

    times = [(one.value, one.is_warmup) for one in into.measurements if one.metric == "query_time"]
    assert kept(into, "first_query_time") == [9.0]
    assert times == [(5.0, True), (2.0, True), (1.01, False), (1.0, False)]


def test_a_query_that_never_settles_is_given_up() -> None:
    into = context(COUNT, sql=SQL)
    seconds = iter(range(1, 100))
    into.session.timed = lambda sql: ([(10,)], float(next(seconds)) ** 3)  # type: ignore[method-assign]
    into.target.server.is_exclusive = False  # type: ignore[misc]

    run(COUNT, into)

    assert len(kept(into, "query_time")) == 6


@pytest.mark.parametrize(
    ("mode", "statements"),
    [
        ("none", []),
        ("VACUUM", [f"vacuum {TABLE}"]),
        ("VACUUM FULL", [f"vacuum full {TABLE}"]),
    ],
)
def test_the_vacuum_that_the_level_says(mode: str, statements: list[str]) -> None:
    vacuum = step("vacuum", "vacuum", mode="vacuum")
    into = context(vacuum, levels={"vacuum": mode})

    run(vacuum, into)

    assert sent(into) == statements
    assert [one.method for one in into.measurements if one.metric == "vacuum_time"] == [mode] * len(statements)


def autovacuum(is_on: bool) -> CellContext:
    visits = iter([4, 4, 5])
    return context(
        answers={
            "select current_setting('autovacuum')": [(is_on,)],
            "select pg_stat_get_autovacuum_count": lambda: [(next(visits),)],
        }
    )


def test_autovacuum_is_let_loose_and_called_back() -> None:
    into = autovacuum(is_on=False)

    run(step("vacuum", "vacuum", mode="autovacuum"), into)

    changes = [sql for sql in sent(into) if sql.startswith("alter") or "reload" in sql]
    assert changes == [
        f"alter table {TABLE} set (autovacuum_enabled=on)",
        "alter system set autovacuum = on",
        "alter system set autovacuum_naptime = '1s'",
        "select pg_reload_conf()",
        f"alter table {TABLE} set (autovacuum_enabled=off)",
        "alter system reset autovacuum",
        "alter system reset autovacuum_naptime",
        "select pg_reload_conf()",
    ]
    assert len(kept(into, "vacuum_time")) == 1


def test_where_autovacuum_is_on_only_the_table_is_told() -> None:
    into = autovacuum(is_on=True)
    into.target.server.is_ours = False  # type: ignore[misc]

    run(step("vacuum", "vacuum", mode="autovacuum"), into)

    assert not [sql for sql in sent(into) if sql.startswith("alter system")]


def test_the_server_of_others_keeps_its_autovacuum() -> None:
    into = autovacuum(is_on=False)
    into.target.server.is_ours = False  # type: ignore[misc]

    with pytest.raises(CellUnsupported, match="autovacuum is off on this server, and not ours to switch on"):
        run(step("vacuum", "vacuum", mode="autovacuum"), into)


def test_an_autovacuum_that_does_not_come_is_a_timeout_and_called_back() -> None:
    into = context(answers={"select current_setting": [(False,)], "select pg_stat_get_autovacuum_count": [(4,)]})
    into.target.timeout = 0.0

    with pytest.raises(StatementTimeout, match="autovacuum did not end within 0 s"):
        run(step("vacuum", "vacuum", mode="autovacuum"), into)
    assert sent(into)[-1] == "select pg_reload_conf()"


def test_an_autovacuum_that_sees_no_reason_to_come_has_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.steps.vacuum.PATIENCE_SECONDS", 0)
    into = context(
        answers={
            "select current_setting": [(False,)],
            "select pg_stat_get_autovacuum_count": [(4,)],
            "select count(*) > 0 from pg_stat_progress_vacuum": [(False,)],
            "select pg_stat_get_dead_tuples": [(0,)],
        }
    )

    run(step("vacuum", "vacuum", mode="autovacuum"), into)

    (time,) = (one for one in into.measurements if one.metric == "vacuum_time")
    assert (time.value, time.reason) == (
        None, "autovacuum did not come within 0 s: the server has counted 0 dead tuples",
    )  # fmt: skip


def measuring(**answers: Any) -> tuple[Step, CellContext]:
    bloat = step("measure", "bloat", metrics=("dead_tuples", "free_bytes"), extensions=("pgstattuple",))
    found = {"select nspname": [("public",)], "measure": [("dead_tuples", 3), ("free_bytes", 8192)], **answers}
    return bloat, context(bloat, sql={"bloat": "measure {{table}}"}, answers=found)


def test_a_measure_keeps_what_its_sql_gives() -> None:
    bloat, into = measuring()

    run(bloat, into)

    assert [(one.metric, one.unit, one.value) for one in into.measurements] == [
        ("dead_tuples", "rows", 3.0),
        ("free_bytes", "bytes", 8192.0),
    ]


def test_an_extension_is_created_where_it_is_not_yet() -> None:
    schemas = iter([[], [("storage_matrix",)]])
    bloat, into = measuring(**{"select nspname": lambda: next(schemas)})

    run(bloat, into)

    assert 'create extension if not exists "pgstattuple" schema storage_matrix' in sent(into)


CANNOT = [
    ({"select nspname": [], "create extension": StatementFailed("permission denied", "42501")},
     "extension pgstattuple cannot be created: permission denied"),
    ({"measure": StatementFailed("only heap AM is supported", "0A000")}, "only heap AM is supported"),
]  # fmt: skip


@pytest.mark.parametrize(("answers", "reason"), CANNOT)
def test_what_the_server_cannot_tell_is_missing_with_the_reason(answers: dict[str, Any], reason: str) -> None:
    bloat, into = measuring(**answers)

    run(bloat, into)

    assert [(one.metric, one.value, one.status, one.reason) for one in into.measurements] == [
        ("dead_tuples", None, "unsupported", reason),
        ("free_bytes", None, "unsupported", reason),
    ]


def test_an_extension_that_the_server_does_not_have() -> None:
    room = step("measure", "room", metrics=("reusable_bytes",), extensions=("pg_freespacemap",))
    into = context(room, sql={"room": "measure"})

    run(room, into)

    assert into.measurements[0].reason == "here has no extension pg_freespacemap"


def test_a_mistake_in_the_sql_of_a_measure_is_no_missing_value() -> None:
    bloat, into = measuring(measure=StatementFailed("syntax error", "42601"))

    with pytest.raises(StatementFailed):
        run(bloat, into)


def test_a_measure_gives_what_it_declares() -> None:
    bloat, into = measuring(measure=[("free_bites", 3)])

    with pytest.raises(CellFailed, match="its SQL gives free_bites, which is not among its metrics"):
        run(bloat, into)


def test_a_declared_metric_without_a_value_has_a_reason() -> None:
    bloat, into = measuring(measure=[("dead_tuples", 3)])

    run(bloat, into)

    assert [(one.value, one.reason) for one in into.measurements] == [(3.0, None), (None, "the SQL gave no value")]


def family(count: int, locks: tuple[int, int] = (64, 100)) -> tuple[Step, CellContext]:
    made = step("children", "family", count=count, per_batch=2)
    return made, context(made, answers={"select current_setting('max_locks": [locks]})


def test_children_are_made_and_dropped_in_batches() -> None:
    made, into = family(3)

    run(made, into)

    created = [sql for sql in sent(into) if sql.startswith("create")]
    assert [sql.count("create table") for sql in created] == [2, 1]
    assert created[1] == (
        'create table storage_matrix."t_b1_2" (like storage_matrix."t_b1" including all)'
        ' inherits (storage_matrix."t_b1") with (autovacuum_enabled=off, toast.autovacuum_enabled=off)'
    )
    assert into.undo == [
        'drop table if exists storage_matrix."t_b1_0"; drop table if exists storage_matrix."t_b1_1"',
        'drop table if exists storage_matrix."t_b1_2"',
    ]


@pytest.mark.parametrize(
    ("count", "readers", "indexes", "locks"), [(1025, 1, 1, 2068), (1025, 4, 1, 8272), (1, 1, 0, 18)]
)
def test_a_reader_of_the_parent_locks_every_table_and_index(count: int, readers: int, indexes: int, locks: int) -> None:
    assert locks_needed(count, readers, indexes) == locks


def test_too_small_a_lock_table_is_made_larger() -> None:
    made, into = family(1025, locks=(10, 20))
    into.indexes.append("index_index")

    run(made, into)

    assert into.target.settings == {"max_locks_per_transaction": "104"}
    (created,) = (one for one in into.measurements if one.metric == "create_time")
    assert created.method == "in transactions of 2 tables, with max_locks_per_transaction = 104"


def test_the_lock_table_of_others_is_named_before_anything_is_created() -> None:
    made, into = family(1025, locks=(64, 20))
    into.indexes.append("index_index")
    into.target.server.is_ours = False  # type: ignore[misc]

    with pytest.raises(CellUnsupported) as told:
        run(made, into)

    assert str(told.value) == (
        "1,025 tables with 1 index(es) each, read by 1 session(s) at once, need 2,068 locks;"
        " max_locks_per_transaction = 64 for 20 sessions gives 1,280: set max_locks_per_transaction to 104 at least"
    )
    assert not [sql for sql in sent(into) if sql.startswith("create")]


OUTPUT = r"""number of transactions actually processed: 300
number of failed transactions: {failed} (0.000%)
latency average = 2.000 ms
latency stddev = 0.500 ms
initial connection time = 10.000 ms
tps = 100.000000 (without initial connection time)
statement latencies in milliseconds and failures:
         0.001           0 \set a random(1,10)
         1.990           0 select :a;
"""
ERRORS = """progress: 1.0 s, 90.0 tps, lat 2.1 ms stddev 0.5, 0 failed
progress: 2.0 s, 110.0 tps, lat 1.9 ms stddev 0.4, 1 failed
"""
INGEST = step("pgbench", "ingest", clients="clients", threads=2, seconds=3, progress=1)


@pytest.fixture
def pgbench(tmp_path: Path) -> Callable[..., CellContext]:
    """A context whose pgbench prints what it is told to and notes how it was called."""

    def made(
        output: str = OUTPUT.format(failed=0), errors: str = ERRORS, code: int = 0, wait: float = 0
    ) -> CellContext:
        (tmp_path / "out").write_text(output)
        (tmp_path / "err").write_text(errors)
        program = tmp_path / "pgbench"
        program.write_text(
            f'#!/bin/sh\nprintf "%s " "$@" > {tmp_path}/words\nenv > {tmp_path}/environment\n'
            f'for last; do :; done; cp "$last" {tmp_path}/script\n'
            f"cat {tmp_path}/out; cat {tmp_path}/err >&2; sleep {wait}; exit {code}\n"
        )
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        sql = {"ingest": "\\set child random(0, {{tables}} - 1)\nselect :child;\n"}
        return context(INGEST, sql=sql, levels={"clients": 4, "tables": 64}, server=FakeServer(tmp_path))

    return made


def test_pgbench_is_called_with_what_the_levels_say(pgbench: Callable[..., CellContext], tmp_path: Path) -> None:
    run(INGEST, pgbench())

    words = (tmp_path / "words").read_text().split()
    assert words[:-1] == ["-n", "-r", "-M", "prepared", "-c", "4", "-j", "2", "-T", "3", "-P", "1", "-f"]
    assert (tmp_path / "script").read_text() == "\\set child random(0, 64 - 1)\nselect :child;\n"


def test_the_password_is_in_the_environment_of_the_child_only(
    pgbench: Callable[..., CellContext], tmp_path: Path
) -> None:
    run(INGEST, pgbench())

    environment = dict(
        line.split("=", 1) for line in (tmp_path / "environment").read_text().splitlines() if "=" in line
    )
    assert environment["PGPASSWORD"] == "s3cret"
    assert (environment["PGHOST"], environment["PGPORT"], environment["PGUSER"], environment["PGDATABASE"]) == (
        "/run/s", "5432", "me", "db",
    )  # fmt: skip
    assert "s3cret" not in (tmp_path / "words").read_text()
    assert "PGPASSWORD" not in os.environ


def test_pgbench_figures_are_kept_the_progress_as_rounds(pgbench: Callable[..., CellContext]) -> None:
    into = pgbench()

    run(INGEST, into)

    tps = [(one.round, one.value) for one in into.measurements if one.metric == "tps"]
    assert tps == [(None, 100.0), (0, 90.0), (1, 110.0)]
    assert kept(into, "transactions") == [300.0]
    assert kept(into, "latency_stddev")[0] == 0.0005
    commands = [(one.step, one.text_value) for one in into.measurements if one.metric == "command_latency"]
    assert commands == [("ingest:1", "\\set a random(1,10)"), ("ingest:2", "select :a;")]


INCOMPLETE = "client 0 script 0 aborted in command 1: ERROR: no\nRun was aborted; it is incomplete.\n"
FAILURES = [
    ({"code": 1, "output": "", "errors": "pgbench: error: no such file\n"}, "pgbench ended with 1: no such file"),
    (
        {"code": 2, "errors": INCOMPLETE},
        "pgbench ended with 2: client 0 script 0 aborted in command 1: ERROR: no / Run was aborted; it is incomplete.",
    ),
    (
        {"code": 0, "errors": "Client 1 aborted in state 1: ERROR:  division by zero\n"},
        "pgbench ended with 0: Client 1 aborted in state 1: ERROR:  division by zero",
    ),
    ({"code": 0, "output": "", "errors": ""}, "pgbench ended with 0: it said nothing"),
    ({"output": OUTPUT.format(failed=100)}, "100 of 400 transactions failed (25.00%), more than 0 %"),
]


@pytest.mark.parametrize(("printed", "message"), FAILURES)
def test_a_run_that_did_not_go_well_fails_the_cell(
    pgbench: Callable[..., CellContext], printed: dict[str, Any], message: str
) -> None:
    with pytest.raises(CellFailed) as told:
        run(INGEST, pgbench(**printed))
    assert str(told.value) == f"step ingest: {message}"


def test_figures_of_a_run_that_was_aborted_are_kept(pgbench: Callable[..., CellContext]) -> None:
    into = pgbench(code=2)
    with pytest.raises(CellFailed):
        run(INGEST, into)
    assert kept(into, "transactions") == [300.0]


def test_some_failed_transactions_may_be_allowed(pgbench: Callable[..., CellContext]) -> None:
    tolerant = replace(INGEST, options={**INGEST.options, "max_failed_percent": 25})
    into = pgbench(output=OUTPUT.format(failed=100))

    run(tolerant, into)

    assert kept(into, "failed_share") == [0.25]


def test_pgbench_that_does_not_end_is_ended(pgbench: Callable[..., CellContext]) -> None:
    into = pgbench(wait=30)
    into.target.timeout = 0.5

    with pytest.raises(StatementTimeout, match=r"pgbench did not end within 0\.5 s"):
        run(INGEST, into)


def test_a_dead_server_is_told_from_a_failed_run(pgbench: Callable[..., CellContext]) -> None:
    into = pgbench(code=1, output="", errors="pgbench: error: connection to server failed\n")
    into.target.server.is_up = False  # type: ignore[attr-defined]

    with pytest.raises(ServerGone):
        run(INGEST, into)


def test_what_a_step_needs_is_asked_before_it(tmp_path: Path) -> None:
    into = context(INGEST, sql={"ingest": "select 1"}, server=FakeServer(tmp_path))
    family = step("children", "family", count=3)

    assert unmet(INGEST, into) == "here has no pgbench beside its programs, and there is none on the path"
    assert (unmet(family, into), unmet(COUNT, into)) == (None, None)
    into.target.dialect = dialect_named("duckdb")
    assert unmet(family, into) == "duckdb has no tables that inherit from another one"
    assert sent(into) == []


def test_the_cleanup_is_counted_against_the_transactions(pgbench: Callable[..., CellContext]) -> None:
    into = pgbench()
    flush = step("cleanup", "flush", after="ingest")
    into.experiment.sql["flush.sql"] = "select clean()"  # type: ignore[index]
    run(INGEST, into)
    into.session.timed = lambda sql: ([], 1.0)  # type: ignore[method-assign]

    run(flush, into)

    assert kept(into, "cleanup_time") == [1.0]
    assert kept(into, "tps_including_cleanup") == [75.0]
