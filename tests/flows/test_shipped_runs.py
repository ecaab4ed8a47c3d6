"""vacuum_bloat and gin_ingest for real, with few rows and for a second: what a server does to a table, step by step."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from experiments.model import CellResult
from experiments.targets import load_targets
from flows.asking import Ask, resolve
from flows.engine import Engine
from tasks.dialects.registry import dialect_named, lineages
from tasks.errors import StatementFailed
from tasks.launchers.place import Place
from tasks.launchers.registry import launch
from tasks.launchers.server import Owner
from tasks.session import open_session
from tests.flows.conftest import Silent

FEW_ROWS = ("rows=2000", "batch_rows=200")
# Few, and yet many pages, so that a half-empty last one does not matter.
PAGES = ("rows=20000", "batch_rows=2000")
SMALL_SERVER = """
[small]
launcher = "local"
bin = "embedded"
settings = { max_connections = 12, max_locks_per_transaction = 10 }
"""


def run(home: Path, experiment: str, target: str = "embedded", **asked: tuple[str, ...]) -> list[CellResult]:
    """The results of a run without Prefect, all of which ended ok."""
    request, urls = resolve(Ask(experiment, (target,), seed=1, **asked), home, os.environ)  # type: ignore[arg-type]
    engine = Engine(request, home, urls, Silent())
    try:
        engine.open()
        engine.run(engine.measure_cell)
    finally:
        engine.close()
    results = [result for result in engine.results if result.cell.role == "result"]
    assert {(result.status, result.reason) for result in results} == {("ok", None)}
    return results


def values(result: CellResult, step: str, metric: str) -> dict[int | None, float | None]:
    """By round."""
    return {one.round: one.value for one in result.measurements if (one.step, one.metric) == (step, metric)}


def first_growth(sizes: dict[int | None, float | None]) -> int:
    """The batch with which the table began to grow; batches are rounds 3 and on."""
    return next(number - 2 for number in range(3, 16) if sizes[number] > sizes[number - 1])  # type: ignore[operator]


def test_vacuum_finds_space_that_batches_use_until_it_is_used_up(home: Path) -> None:
    results = run(home, "vacuum_bloat", sets=PAGES, only=("updates=1", "fillfactor=100", "vacuum=none,autovacuum"))

    sizes = {str(result.cell.levels["vacuum"]): values(result, "size", "table_bytes") for result in results}
    assert {vacuum: first_growth(by_round) for vacuum, by_round in sizes.items()} == {"none": 1, "autovacuum": 11}
    for by_round in sizes.values():
        assert by_round[1] == pytest.approx(2 * by_round[0], rel=0.01)  # type: ignore[operator]
        assert len({by_round[number] for number in range(16, 21)}) == 1, "with VACUUM between, it does not grow"


def test_a_scan_prunes_what_only_vacuum_gives_back(home: Path) -> None:
    (result,) = run(home, "vacuum_bloat", sets=FEW_ROWS, only=("updates=1", "fillfactor=100", "vacuum=VACUUM"))

    page = 8192
    free, reusable = values(result, "bloat", "free_bytes"), values(result, "room", "reusable_bytes")
    assert values(result, "counted", "counted_dead_tuples") == {0: 0.0, 1: 2000.0, 2: 0.0}
    assert values(result, "bloat", "dead_tuples")[1] == 0.0
    assert free[1] > 20 * page > 2 * page > reusable[1]  # type: ignore[operator]
    assert reusable[2] > 20 * page  # type: ignore[operator]
    assert values(result, "visibility", "all_visible_pages")[2] > 40  # type: ignore[operator]
    assert not [one for one in result.measurements if one.reason is not None]


def test_half_full_pages_take_updates_without_growing(home: Path) -> None:
    (result,) = run(home, "vacuum_bloat", sets=FEW_ROWS, only=("updates=6", "fillfactor=50", "vacuum=none"))

    assert len(set(values(result, "size", "table_bytes").values())) == 1


def test_the_pending_list_is_flushed_by_whoever_fills_it_or_by_the_cleanup(home: Path) -> None:
    only = ("tables=1", "fastupdate=on", "gin_pending_list_limit=64kB,64MB")
    results = run(home, "gin_ingest", sets=("seconds=1",), only=only)

    for result in results:
        pages = values(result, "pending", "pending_pages")[None]
        rows = values(result, "sizes", "rows")[None]
        assert rows == values(result, "ingest", "transactions")[None]
        assert values(result, "pending_left", "pending_pages")[None] == 0
        if result.cell.levels["gin_pending_list_limit"] == "64MB":
            assert values(result, "pending", "pending_tuples")[None] == rows
            tps, paid = (values(result, "ingest", metric)[None] for metric in ("tps", "tps_including_cleanup"))
            assert tps > paid  # type: ignore[operator]
        else:
            assert pages <= 9  # type: ignore[operator]


def test_a_lock_table_that_is_too_small_is_made_larger_before_the_tables_are_made(home: Path) -> None:
    (home / "targets.toml").write_text(SMALL_SERVER)
    only = ("tables=64", "fastupdate=off", "clients=1")

    (result,) = run(home, "gin_ingest", "small", sets=("seconds=1",), only=only)

    assert values(result, "sizes", "rows") == values(result, "ingest", "transactions")


def test_many_tables_that_a_killed_run_left_are_dropped_with_a_small_lock_table(home: Path) -> None:
    (home / "targets.toml").write_text(SMALL_SERVER)
    (target,) = load_targets(home, os.environ, (), lineages()).pick(("small",))
    with launch(target, Place.of(home, os.environ), Owner.run()) as server:
        session = open_session(server.url, server.data_directory, timeout=60)
        dialect = dialect_named("postgresql").probe(session)
        for statement in dialect.schema_setup():
            session.execute(statement)
        for number in range(150):
            session.execute(f"create table storage_matrix.t{number} (id int primary key, v text)")

        with pytest.raises(StatementFailed, match="out of shared memory"):
            session.execute("drop schema storage_matrix cascade")
        for statement in dialect.schema_teardown():
            session.execute(statement)

        assert session.value("select count(*) from pg_namespace where nspname = 'storage_matrix'") == 0
        session.close()
