"""Series in the warehouse: rounds with what they did, ratios to round 0, and published figures of a round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments.model import CellResult, Expectation, Experiment, Matrix, Published
from tests.warehouse.conftest import HEAP, MakeRun
from warehouse.expectations import judge

ACTIONS = ("nothing", "update", "update", "vacuum")
TIMES = {0: (1.0, 1.1), 1: (1.5, 1.6), 2: (2.0, 2.2), 3: (1.2, 1.3)}


@pytest.fixture
def series(results: tuple[CellResult, ...], measure: Callable[..., Any]) -> list[CellResult]:
    """The first cell, with four rounds: as loaded, two updates, a VACUUM."""
    labels = [measure("life", "action", None, text_value=action, round=number) for number, action in enumerate(ACTIONS)]
    times = [
        measure("count", "query_time", seconds, round=number, repetition=repetition, clock="client")
        for number, pair in TIMES.items()
        for repetition, seconds in enumerate(pair, 1)
    ]
    return [replace(results[0], measurements=(*labels, *times))]


@pytest.fixture
def rows(
    make_run: MakeRun, series: list[CellResult], database: Callable[..., Any], tmp_path: Path
) -> Callable[..., Any]:
    """Rows of a query on a run with the series; published figures if there are any."""

    def query(sql: str, experiment: Experiment | None = None) -> list[tuple[Any, ...]]:
        return list(database(make_run(tmp_path, series, experiment=experiment)).execute(sql).fetchall())

    return query


def test_rounds_say_what_they_did_and_how_often_by_then(rows: Callable[..., Any]) -> None:
    assert rows("select round, series, action, turn from series_round order by round") == [
        (0, "life", "nothing", 1),
        (1, "life", "update", 1),
        (2, "life", "update", 2),
        (3, "life", "vacuum", 1),
    ]


def test_rounds_stand_beside_the_first(rows: Callable[..., Any]) -> None:
    found = rows("select round, action, median, first_median, ratio, ratio_low, ratio_high from rounds order by round")
    assert found[0][:4] == (0, "nothing", 1.05, 1.05)
    assert found[2][:4] == (2, "update", 2.1, 1.05)
    assert found[2][4:] == pytest.approx((2.0, 2.0 / 1.1, 2.2))


def published(experiment: Experiment, *figures: tuple[dict[str, Any], int | None, float]) -> Experiment:
    return replace(
        experiment,
        baseline={"round": 0},
        published=tuple(
            Published(
                "study", "Greenplum", "published", levels, "count", "query_time", "seconds", value, "psql", None, at
            )
            for levels, at, value in figures
        ),
    )


def test_a_figure_of_a_round_is_set_in_ratio_to_round_0(rows: Callable[..., Any], experiment: Experiment) -> None:
    cell = {**HEAP, "index": "none"}
    study = published(experiment, (HEAP, 0, 0.06), (cell, 2, 0.09), (cell, 3, 0.07))

    found = rows("select round, published_ratio, our_ratio, comparable from against_published order by round", study)

    assert found == [
        (2, pytest.approx(1.5), pytest.approx(2.0), True),
        (3, pytest.approx(7 / 6), pytest.approx(1.25 / 1.05), True),
    ]


def test_a_figure_of_a_round_that_the_run_did_not_have(rows: Callable[..., Any], experiment: Experiment) -> None:
    study = published(experiment, (HEAP, 0, 0.06), ({**HEAP, "index": "none"}, 7, 0.09))

    assert rows("select our_value, comparable, reason from against_published", study) == [
        (None, False, "the run has no query_time of this step")
    ]


def test_without_rounds_nothing_changed(rows: Callable[..., Any], experiment: Experiment, matrix: Matrix) -> None:
    """A figure without a round never meets a value of a round."""
    study = published(experiment, ({**HEAP, "index": "none"}, None, 0.09))

    assert rows("select our_value from against_published", study) == [(None,)]


BANDS = [
    (1.2, 1.3, "reproduced", None),
    (1.4, 1.5, "not reproduced", None),
    (0.9, 1.1, "not reproduced", None),
    (1.1, 1.3, None, "our interval, 1.10 to 1.30, crosses the edge of 1.15 to 1.35"),
]


@pytest.mark.parametrize(("low", "high", "verdict", "doubt"), BANDS)
def test_an_interval_and_a_band(
    rows: Callable[..., Any], low: float, high: float, verdict: str | None, doubt: str | None
) -> None:
    found = rows(f"select band_verdict({low}, {high}, 1.15, 1.35), band_doubt({low}, {high}, 1.15, 1.35)")
    assert found == [(verdict, doubt)]


def test_a_band_may_have_whole_numbers_for_edges(rows: Callable[..., Any]) -> None:
    told = "t: undecided, 1.00x [0.90, 2.00] against 1.00x"
    assert rows("select band_doubt(0.9, 2, 0, 1), band_told('t', 1, 1, 0.9, 2, 0, 1)") == [
        ("our interval, 0.90 to 2.00, crosses the edge of 0.00 to 1.00", told)
    ]


@pytest.mark.parametrize(
    ("ratios", "middle"),
    [
        ([2.0], (2.0, 0.5, 9.0)),
        ([2.0, 3.0], (2.5, 0.5, 9.0)),
        ([3.0, 1.0, 2.0], (2.0, 1.0, 3.0)),
        ([float(n) for n in range(1, 17)], (8.5, 4.0, 13.0)),
    ],
)
def test_the_middle_of_several_cells(
    rows: Callable[..., Any], ratios: list[float], middle: tuple[float, float, float]
) -> None:
    found = rows(f"select unnest(middle({ratios}, 0.5, 9.0))")
    assert found == [middle]


def test_what_a_frame_tells_is_seen_where_all_is_well(
    make_run: MakeRun, database: Callable[..., Any], tmp_path: Path
) -> None:
    check = {"type": "expect_column_values_to_be_between", "column": "ratio", "max_value": 2}
    expectation = Expectation("one", "It is so", "info", "frame", check, "select 2")
    frame = "select * from (values (1.0, 'a is 1'), (2.0, 'b is 2')) as frame(ratio, told)"

    (verdict,) = judge(database(make_run(tmp_path)), [expectation], {"frame": frame})

    assert (verdict.outcome, verdict.observed) == ("pass", "a is 1; b is 2")
