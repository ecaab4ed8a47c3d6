"""What a run ends with on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from rich.console import Console, RenderableType

from experiments.model import Verdict
from tests.warehouse.synthetic_run import FAILURE, write_run, write_series, write_unlucky_run
from warehouse.loading import run_database
from warehouse.tables import (
    checkpoint_lines,
    failure_lines,
    lack_lines,
    repeat_lines,
    result_table,
    unsupported_lines,
    verdict_tables,
)


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    with run_database(write_run(tmp_path_factory.mktemp("home")).directory) as connection:
        yield connection


def printed(*shown: RenderableType) -> list[str]:
    console = Console(width=100, color_system=None, force_terminal=False)
    with console.capture() as capture:
        for one in shown:
            console.print(one)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_the_result_has_the_shape_of_the_study_for_each_target(connection: duckdb.DuckDBPyConnection) -> None:
    embedded, duckdb_ = (printed(table) for table in result_table(connection))

    assert embedded[0] == "embedded: compression=pglz throughout"
    assert embedded[2].split() == ["lookup", "by", "index", "lookup", "by"]
    assert embedded[3].split() == ["storage", "form", "load", "size", "group-by", "scan", "index", "build", "index"]
    assert embedded[5].split() == [
        *("toast=default", "fillfactor=100", "254", "ms", "2.97", "MB", "8.81", "ms", "6.57", "ms"),
        *("btree(c2)", "12.2", "ms", "285", "µs"),
    ]
    assert duckdb_[0] == "duckdb"


def test_a_form_is_told_once_for_all_its_index_levels(connection: duckdb.DuckDBPyConnection) -> None:
    lines = printed(result_table(connection)[0])

    assert sum("toast=default fillfactor=100" in line for line in lines) == 1
    assert lines[6].split() == ["2.65", "MB", "brin(c2)", "6.25", "ms", "6.10", "ms"]


def test_a_cell_that_did_not_end_well_says_so_in_the_place_of_its_result(connection: duckdb.DuckDBPyConnection) -> None:
    embedded, duckdb_ = (printed(table) for table in result_table(connection))

    assert [line.split() for line in embedded if "failed" in line] == [["–", "hash(c2)", "–", "failed"]]
    assert [line.split()[-3:] for line in duckdb_ if "timeout" in line] == [["art(c2)", "–", "timeout"]]


def test_everything_fits_100_columns(connection: duckdb.DuckDBPyConnection) -> None:
    tables = [*result_table(connection), *verdict_tables(connection)]

    assert max(len(line) for line in printed(*tables)) <= 100
    assert not any("…" in line for line in printed(*tables))


def test_an_experiment_with_other_steps_gets_a_table_of_medians_by_step(tmp_path: Path) -> None:
    with run_database(write_series(tmp_path).directory) as connection:
        (table,) = result_table(connection)

    lines = printed(table)
    assert lines[3].split() == ["storage", "form", "load", "count", "vacuum", "size", "tuples"]
    assert lines[5].split() == ["fillfactor=100", "vacuum=none", "6.41", "s", "1.35", "s", "–", "1.97", "GB", "800,000"]


def test_verdicts_that_need_attention_come_first_with_what_broke_the_check(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    [table] = verdict_tables(connection)

    outcomes = [str(outcome) for outcome in table.columns[0].cells]
    assert outcomes == ["fail", "error", "inconclusive", "pass", "not applicable"]
    assert str(next(table.columns[3].cells)) == (
        "1 of 6 rows break it: target=embedded, levels=toast=default, index=btree(c2), ratio=1.31"
    )


def test_markup_in_data_stays_data(tmp_path: Path) -> None:
    verdict = Verdict("one", "A claim in [bold]brackets[/bold]", "info", "pass", "", "all [red]1 row meet it")
    with run_database(write_run(tmp_path, [verdict]).directory) as connection:
        lines = " ".join(printed(*verdict_tables(connection)))

    assert "[bold]brackets[/bold]" in lines
    assert "[red]1 row" in lines


def test_there_is_a_line_for_each_reason_why_cells_are_unsupported(connection: duckdb.DuckDBPyConnection) -> None:
    assert unsupported_lines(connection) == [
        "embedded: 16 cells unsupported (compression=lz4): compression lz4: this server was built without lz4"
    ]


def test_there_is_a_line_for_each_reason_why_cells_failed(connection: duckdb.DuckDBPyConnection) -> None:
    assert failure_lines(connection) == [
        f"embedded: 1 cell failed (external fillfactor=70, hash(c2)): {FAILURE} [SQLSTATE 53100]",
        "duckdb: 1 cell timed out (16kB compression=auto, art(c2)): "
        "step lookup: no answer within 600 s [SQLSTATE 57014]",
    ]


def test_why_a_cell_was_measured_again_is_told_and_where_a_load_was_not_made_durable(tmp_path: Path) -> None:
    with run_database(write_unlucky_run(tmp_path).directory) as connection:
        assert repeat_lines(connection) == [
            f"embedded: 1 cell measured again (external fillfactor=70, hash(c2)): failed: {FAILURE}"
        ]
        assert checkpoint_lines(connection) == [
            "embedded: no checkpoint: the target is not exclusive; its load times end with the commit"
        ]
        assert lack_lines(connection) == [
            "embedded: no compression ratio, cpu time (1 cell): permission denied",
        ]
        assert len(failure_lines(connection)) == 1


def test_an_ordinary_run_has_no_such_lines(connection: duckdb.DuckDBPyConnection) -> None:
    assert repeat_lines(connection) == checkpoint_lines(connection) == lack_lines(connection) == []


def test_an_experiment_with_another_query_beside_the_studys_has_a_column_for_it(tmp_path: Path) -> None:
    with run_database(write_run(tmp_path).directory) as connection:
        connection.execute("update measurement set step = 'scan' where step = 'group_by'")
        heading = " ".join(" ".join(printed(table)[2:5]) for table in result_table(connection))

    assert "scan" in heading.split()
    assert "group-by" not in heading


def test_a_cell_that_failed_twice_says_both_reasons(tmp_path: Path) -> None:
    ledger = write_run(tmp_path)
    failed = next(cell for cell in ledger.cells() if cell.status == "failed")
    ledger.write_cell(replace(failed, reason="step load: the server died", sqlstate=None, attempt=2))
    with run_database(ledger.directory) as connection:
        assert failure_lines(connection)[0] == (
            "embedded: 1 cell failed (external fillfactor=70, hash(c2)): "
            f"step load: the server died (at first failed: {FAILURE})"
        )


def test_a_cell_that_never_ran_is_told(tmp_path: Path) -> None:
    with run_database(write_run(tmp_path).directory) as connection:
        connection.execute("delete from cell where target = 'duckdb' and in_place = 'art(c2)'")

        assert failure_lines(connection)[1] == (
            "duckdb: 6 cells never ran (16kB compression=none, art(c2); 16kB compression=auto, art(c2); "
            "16kB zstd, art(c2); 256kB compression=none, art(c2); 256kB compression=auto, art(c2) and 1 more)"
        )
