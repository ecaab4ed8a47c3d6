"""What a check says of a frame, and what it must not say when something is missing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest

from experiments.model import Expectation, Verdict
from tests.warehouse.synthetic_run import write_run
from warehouse.expectations import judge
from warehouse.loading import run_database

# Great Expectations warns of its own defaults.
pytestmark = pytest.mark.filterwarnings("ignore:.*condition:DeprecationWarning")

PAIR = {
    "type": "expect_column_pair_values_a_to_be_greater_than_b",
    "column_A": "heap_bytes",
    "column_B": "compressed_bytes",
}
AT_MOST_2 = {"type": "expect_column_values_to_be_between", "column": "ratio", "max_value": 2}

Judge = Callable[..., Verdict]


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    home = tmp_path_factory.mktemp("home")
    with run_database(write_run(home).directory) as connection:
        yield connection


@pytest.fixture
def verdict(connection: duckdb.DuckDBPyConnection) -> Judge:
    def verdict(
        frame: str, check: Mapping[str, Any], promises: str = "select 2", frames: Mapping[str, str] | None = None
    ) -> Verdict:
        expectation = Expectation("one", "It is so", "critical", "frame", check, promises)
        return judge(connection, [expectation], frames or {"frame": frame})[0]

    return verdict


def values(columns: str, *rows: str) -> str:
    return f"select * from (values {', '.join(rows)}) as frame({columns})"


def pairs(*rows: str) -> str:
    return values("form, heap_bytes, compressed_bytes", *rows)


def ratios(*rows: str) -> str:
    return values("form, ratio", *rows)


def test_rows_that_all_meet_the_check_pass(verdict: Judge) -> None:
    said = verdict(pairs("('a', 9, 3)", "('b', 8, 1)"), PAIR)

    assert said == Verdict("one", "It is so", "critical", "pass", "", "all 2 rows meet it")


def test_a_row_that_breaks_the_check_fails_it_and_is_shown_with_its_levels(verdict: Judge) -> None:
    said = verdict(pairs("('a', 9, 3)", "('b', 1, 8)"), PAIR)

    assert said.outcome == "fail"
    assert said.detail == "1 of 2 rows break it"
    assert json.loads(said.observed) == [{"form": "b", "heap_bytes": 1, "compressed_bytes": 8}]


def test_equal_values_are_not_greater(verdict: Judge) -> None:
    assert verdict(pairs("('a', 9, 3)", "('b', 8, 8)"), PAIR).outcome == "fail"


def test_at_most_five_rows_are_shown(verdict: Judge) -> None:
    said = verdict("select range as form, 3 as ratio from range(40)", AT_MOST_2)

    assert said.detail == "40 of 40 rows break it"
    assert len(json.loads(said.observed)) == 5


def test_levels_are_shown_as_levels_and_numbers_with_six_digits(verdict: Judge) -> None:
    frame = """
    select '{"toast": "external"}'::json as levels, 3.14159265 as ratio, null as note union all select null, 1, 'n'
    """

    assert json.loads(verdict(frame, AT_MOST_2).observed) == [{"levels": {"toast": "external"}, "ratio": 3.14159}]


def test_fewer_rows_than_promised_are_inconclusive_and_the_lost_cells_are_named(verdict: Judge) -> None:
    said = verdict(pairs("('a', 9, 3)"), PAIR)

    assert said.outcome == "inconclusive"
    assert said.detail == (
        "1 of 2 promised rows is there, and these cells gave no result: "
        "embedded: pglz external fillfactor=70 hash(c2) (failed); duckdb: 16kB compression=auto art(c2) (timeout)"
    )


def test_a_missing_row_is_inconclusive_even_where_another_breaks_the_check(verdict: Judge) -> None:
    said = verdict(pairs("('a', 1, 3)"), PAIR)

    assert said.outcome == "inconclusive"
    assert said.detail.endswith("; of the 1 that can be judged, 1 break it")
    assert json.loads(said.observed) == [{"form": "a", "heap_bytes": 1, "compressed_bytes": 3}]


def test_a_frame_without_rows_is_inconclusive(verdict: Judge) -> None:
    said = verdict(pairs("('a', 9, 3)") + " where false", PAIR)

    assert said.outcome == "inconclusive"
    assert said.detail.startswith("0 of 2 promised rows are there")


@pytest.mark.parametrize("missing", ["null", "'nan'::double", "'inf'::double", "'-inf'::double"])
def test_a_value_that_is_not_there_or_not_finite_is_inconclusive(verdict: Judge, missing: str) -> None:
    said = verdict(ratios("('a', 1.0::double)", f"('b', {missing})"), AT_MOST_2)

    assert said.outcome == "inconclusive"
    assert said.detail.startswith('1 of 2 rows without a value: [{"form": "b"')


@pytest.mark.parametrize("ignored", ["both_values_are_missing", "either_value_is_missing", "neither"])
def test_a_missing_value_is_inconclusive_whatever_the_pair_check_ignores(verdict: Judge, ignored: str) -> None:
    said = verdict(pairs("('a', 9, 3)", "('b', null, 8)"), {**PAIR, "ignore_row_if": ignored})

    assert said.outcome == "inconclusive"


def test_a_column_of_nothing_but_null_is_inconclusive(verdict: Judge) -> None:
    assert verdict(ratios("('a', null)", "('b', null)"), AT_MOST_2).outcome == "inconclusive"


def test_a_null_in_a_column_that_the_check_does_not_read_does_not_matter(verdict: Judge) -> None:
    assert verdict(ratios("(null, 1)", "('b', 2)"), AT_MOST_2).outcome == "pass"


@pytest.mark.parametrize(("second", "outcome"), [("null", "fail"), ("1", "pass")])
def test_a_check_for_null_judges_null(verdict: Judge, second: str, outcome: str) -> None:
    check = {"type": "expect_column_values_to_not_be_null", "column": "ratio"}

    assert verdict(ratios("('a', 1)", f"('b', {second})"), check).outcome == outcome


def test_a_condition_that_leaves_out_every_row_is_inconclusive(verdict: Judge) -> None:
    check = {**AT_MOST_2, "row_condition": "ratio > 100", "condition_parser": "pandas"}

    assert verdict(ratios("('a', 1)", "('b', 2)"), check).outcome == "inconclusive"


def test_a_row_in_doubt_makes_the_verdict_inconclusive_with_its_reason(verdict: Judge) -> None:
    frame = values("form, ratio, inconclusive", "('a', 1, null)", "('b', 3, 'the interval reaches from 0.8 to 5.2')")

    said = verdict(frame, AT_MOST_2)

    assert said.outcome == "inconclusive"
    assert said.detail == "1 of 2 rows cannot be judged: the interval reaches from 0.8 to 5.2"
    assert json.loads(said.observed)[0]["form"] == "b"


def test_a_row_in_doubt_may_lack_its_value(verdict: Judge) -> None:
    frame = values("form, ratio, inconclusive", "('a', 1, null)", "('b', null, 'one sample only')")

    assert verdict(frame, AT_MOST_2).detail == "1 of 2 rows cannot be judged: one sample only"


def test_a_row_in_doubt_does_not_hide_a_row_that_fails(verdict: Judge) -> None:
    frame = values("form, ratio, inconclusive", "('a', 5, null)", "('b', 1, 'too wide')")

    assert verdict(frame, AT_MOST_2).outcome == "fail"


@pytest.mark.parametrize(("mostly", "outcome"), [(0.5, "inconclusive"), (0.8, "fail")])
def test_with_rows_in_doubt_it_fails_only_where_they_could_not_save_it(
    verdict: Judge, mostly: float, outcome: str
) -> None:
    frame = values("form, ratio, inconclusive", "('a', 5, null)", "('b', 1, null)", "('c', 1, 'too wide')")

    assert verdict(frame, {**AT_MOST_2, "mostly": mostly}).outcome == outcome


def test_a_column_for_doubts_without_any_changes_nothing(verdict: Judge) -> None:
    frame = values("form, ratio, inconclusive", "('a', 1, null)", "('b', 2, null)")

    assert verdict(frame, AT_MOST_2).outcome == "pass"


@pytest.mark.parametrize(("limit", "outcome"), [(2, "pass"), (1, "fail")])
def test_a_check_of_the_frame_as_a_whole_shows_its_value(verdict: Judge, limit: int, outcome: str) -> None:
    check = {"type": "expect_column_mean_to_be_between", "column": "ratio", "max_value": limit}

    said = verdict(ratios("('a', 1.0)", "('b', 2.0)"), check)

    assert (said.outcome, said.observed) == (outcome, "1.5")
    assert said.detail == "the frame as a whole gave 1.5"


def test_a_check_of_the_frame_as_a_whole_waits_for_rows_in_doubt(verdict: Judge) -> None:
    frame = values("form, ratio, inconclusive", "('a', 5, null)", "('b', 1, 'too wide')")
    check = {"type": "expect_column_mean_to_be_between", "column": "ratio", "max_value": 2}

    assert verdict(frame, check).outcome == "inconclusive"


def test_a_value_that_is_no_number_is_inconclusive(verdict: Judge) -> None:
    check = {"type": "expect_column_stdev_to_be_between", "column": "ratio", "max_value": 1}

    assert verdict(ratios("('a', 1.0)"), check, promises="select 1").outcome == "inconclusive"


def test_unexpected_values_of_the_frame_as_a_whole_are_shown(verdict: Judge) -> None:
    check = {"type": "expect_column_distinct_values_to_be_in_set", "column": "ratio", "value_set": [1]}

    said = verdict(ratios("('a', 1)", "('b', 2)"), check)

    assert (said.outcome, said.observed) == ("fail", "[2]")


def test_a_column_is_found_to_exist(verdict: Judge) -> None:
    check = {"type": "expect_column_to_exist", "column": "ratio"}

    assert verdict(ratios("('a', 1)", "('b', 2)"), check).outcome == "pass"


def test_a_row_count_is_judged(verdict: Judge) -> None:
    check = {"type": "expect_table_row_count_to_equal", "value": 3}

    assert verdict(ratios("('a', 1)", "('b', 2)"), check).outcome == "fail"


def test_where_nothing_was_promised_the_check_is_not_applicable(verdict: Judge) -> None:
    promises = "select count(*) from planned_cell where levels->>'orientation' = 'ao_row'"

    said = verdict("not even SQL", PAIR, promises=promises)

    assert said.outcome == "not_applicable"
    assert said.detail == "no planned cell can feed this check"


BROKEN = [
    ({"type": "expect_the_moon"}, "Great Expectations knows no expect_the_moon"),
    ({}, "the check has no type"),
    ({**AT_MOST_2, "column": "rato"}, "the frame has no column rato; it has form, ratio"),
    (
        {**AT_MOST_2, "max_vale": 2},
        "expect_column_values_to_be_between: 1 validation error for ExpectColumnValuesToBeBetween; "
        "max_vale; extra fields not permitted (type=value_error.extra)",
    ),
    (
        {"type": "expect_column_values_to_be_between", "column": "form", "max_value": 2},
        "Column values, min_value, and max_value must either be None or of the same type.",
    ),
    (
        {"type": "expect_column_values_to_match_regex", "column": "form", "regex": "("},
        "Invalid regular expression: missing ): (",
    ),
]


@pytest.mark.parametrize(("check", "reason"), BROKEN)
def test_a_check_that_cannot_be_carried_out_is_an_error_and_not_a_fail(
    verdict: Judge, check: Mapping[str, Any], reason: str
) -> None:
    said = verdict(ratios("('a', 1)", "('b', 2)"), check)

    assert said.outcome == "error"
    assert said.detail == f"the check itself broke: {reason}"


@pytest.mark.parametrize("check", [{"type": "expect_the_moon"}, {**AT_MOST_2, "column": "rato"}])
def test_a_broken_check_is_found_out_without_rows_too(verdict: Judge, check: Mapping[str, Any]) -> None:
    assert verdict(ratios("('a', 1)") + " where false", check).outcome == "error"


def test_sql_that_fails_is_an_error(verdict: Judge) -> None:
    said = verdict("select nothing from nowhere", AT_MOST_2)

    assert said.outcome == "error"
    assert said.detail.startswith(
        "the check itself broke: frame frame: Catalog Error: Table with name nowhere does not exist!"
    )


@pytest.mark.parametrize(
    ("promises", "reason"),
    [
        ("select many", 'promises: Binder Error: Referenced column "many" was not found'),
        ("select null", "promises must give a number of rows, not None"),
        ("select 'two'", "promises must give a number of rows, not 'two'"),
        ("select 1 where false", "promises must give a number of rows, not None"),
    ],
)
def test_promises_that_are_no_number_are_an_error(verdict: Judge, promises: str, reason: str) -> None:
    said = verdict(ratios("('a', 1)"), AT_MOST_2, promises=promises)

    assert said.outcome == "error"
    assert said.detail.startswith(f"the check itself broke: {reason}")


def test_a_frame_that_nobody_wrote_is_an_error(verdict: Judge) -> None:
    said = verdict("", AT_MOST_2, frames={"other": "select 1"})

    assert said.detail == "the check itself broke: there is no frame frame; the frames are other"


def test_integers_that_a_float_would_round_are_an_error(verdict: Judge) -> None:
    check = {"type": "expect_column_pair_values_to_be_equal", "column_A": "a", "column_B": "b"}
    frame = "select 9007199254740993::hugeint as a, 9007199254740992::hugeint as b"

    said = verdict(frame, check, promises="select 1")

    assert said.detail == "the check itself broke: frame frame: column a has integers beyond 2^53, compare them as text"


def test_each_expectation_gets_its_own_verdict_in_order(connection: duckdb.DuckDBPyConnection) -> None:
    frames = {"good": ratios("('a', 1)"), "bad": ratios("('a', 3)")}
    expectations = [
        Expectation(name, name, "info", name, AT_MOST_2, "select 1") for name in ("good", "missing", "bad", "good")
    ]

    outcomes = [verdict.outcome for verdict in judge(connection, expectations, frames)]

    assert outcomes == ["pass", "error", "fail", "pass"]


def test_judging_says_nothing_and_leaves_no_file(
    verdict: Judge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))

    verdict(ratios("('a', 1)", "('b', 3)"), AT_MOST_2)

    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []
