"""What charts show: axes, looks, matched pairs, medians."""

from __future__ import annotations

from typing import Any

import pytest

from experiments.model import Level
from warehouse.axes import GREY, Axis, looks
from warehouse.charts import sample_figure, size_figure
from warehouse.labels import CellName
from warehouse.medians import Measure
from warehouse.panels import Happenings, factor_figure, round_figure
from warehouse.samples import Part, Sample

LOOKUP = Measure("lookup", "query_time")


def cell(position: int, in_place: str | None = None, **levels: Level) -> CellName:
    form = " ".join(str(level) for level in levels.values())
    whole = dict(levels) if in_place is None else {**levels, "index": in_place}
    return CellName("embedded", form, in_place, in_place in (None, "none"), whole, position)


def sample(of: CellName, value: float, **more: Any) -> Sample:
    return Sample(
        **{"cell": of, "measure": LOOKUP, "value": value, "repetition": 1, "round": None, "is_warmup": False} | more
    )


def rows(spec: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = spec["datasets"][name]
    return found


def test_an_axis_begins_at_zero_and_takes_the_unit_of_its_largest_value() -> None:
    axis = Axis.of([0.02, 0.1], "seconds")

    assert (axis.title, axis.is_log, axis.domain[0]) == ("ms", False, 0)
    assert axis.place(0.02) == pytest.approx(20)


def test_a_wide_spread_makes_the_axis_logarithmic_and_says_so() -> None:
    axis = Axis.of([0.0002, 0.1], "seconds")

    assert (axis.title, axis.is_log) == ("ms, logarithmic", True)
    assert axis.domain[0] < 0.2 < 100 < axis.domain[1]


def test_bars_and_values_of_zero_never_get_a_logarithmic_axis() -> None:
    assert not Axis.of([1, 1000], "bytes", from_zero=True).is_log
    assert not Axis.of([0, 1000], "rows").is_log
    assert Axis.of([0, 0], "rows").domain == (0, 1)


def test_no_index_is_grey_and_every_other_level_looks_different_in_colour_and_in_shape() -> None:
    named = looks(["none", "btree(c2)", "brin(c2)"], with_base=True)

    assert named["none"].colour == GREY
    assert len({look.colour for look in named.values()}) == len({look.character for look in named.values()}) == 3


def test_a_median_is_that_of_the_samples_that_count() -> None:
    one = cell(1, toast="default")
    taken = [sample(one, value) for value in (0.010, 0.011, 0.030)] + [sample(one, 0.2, is_warmup=True)]

    (spec,) = sample_figure("lookup", taken, {}).specs

    assert [row["median"] for row in rows(spec, "middles")] == ["11.0 ms"]
    assert [row["measured"] for row in rows(spec, "hollow")] == ["200 ms"]


def test_what_is_no_known_part_of_a_size_is_told_apart() -> None:
    one = cell(1, toast="default")

    (spec,) = size_figure([Part(one, "table", 60.0, 100.0), Part(one, "other", 40.0, 100.0)], {}).specs

    assert [(row["part"], row["size"]) for row in rows(spec, "bars")] == [("table", "60 B"), ("other", "40 B")]
    assert [row["label"] for row in rows(spec, "ends")] == ["100 B"]


def test_a_line_joins_cells_that_differ_in_nothing_but_the_factor() -> None:
    taken = [
        sample(cell(1, toast="default", fillfactor=100), 1.0),
        sample(cell(2, toast="default", fillfactor=70), 2.0),
        sample(cell(3, toast="external", fillfactor=100), 3.0),
        sample(cell(4, toast="external", fillfactor=70), 4.0),
    ]

    figure = factor_figure("lookup", taken, {"toast": ["default", "external"], "fillfactor": ["100", "70"]}, {})

    assert figure is not None
    toast, fillfactor = ([(row["others"], row["value"]) for row in rows(spec, "pairs")] for spec in figure.specs)
    assert {key for key, _ in toast} == {"[('fillfactor', 100)]", "[('fillfactor', 70)]"}
    assert [value for key, value in fillfactor if "external" in key] == [3.0, 4.0]


def test_a_factor_that_applies_at_one_level_only_does_not_part_the_pairs() -> None:
    taken = [
        sample(cell(1, compression="pglz", toast="default", fillfactor=100), 1.0),
        sample(cell(2, toast="external", fillfactor=100), 3.0),
    ]

    figure = factor_figure("lookup", taken, {"toast": ["default", "external"]}, {})

    assert figure is not None
    assert len({row["others"] for row in rows(figure.specs[0], "pairs")}) == 1


def test_pairs_stay_apart_where_such_a_factor_makes_a_difference() -> None:
    taken = [
        sample(cell(1, compression="pglz", toast="default"), 1.0),
        sample(cell(2, compression="lz4", toast="default"), 2.0),
        sample(cell(3, toast="external"), 3.0),
    ]

    figure = factor_figure("lookup", taken, {"toast": ["default", "external"]}, {})

    assert figure is not None
    assert len({row["others"] for row in rows(figure.specs[0], "pairs")}) == 3


def test_medians_by_factor_keep_scans_and_index_lookups_apart() -> None:
    taken = [
        sample(cell(number, index, toast=toast), value)
        for number, (toast, index, value) in enumerate(
            [
                ("default", "none", 5.0),
                ("default", "btree(c2)", 0.1),
                ("external", "none", 4.0),
                ("external", "btree(c2)", 0.1),
            ]
        )
    ]

    figure = factor_figure("lookup", taken, {"toast": ["default", "external"]}, looks(["none", "btree(c2)"]))

    assert figure is not None
    assert [(row["level"], row["median"]) for row in rows(figure.specs[0], "ticks")] == [
        ("default", "5.00 s"),
        ("default", "100 ms"),
        ("external", "4.00 s"),
        ("external", "100 ms"),
    ]


def test_a_factor_with_one_level_in_a_measure_has_no_panel() -> None:
    assert (
        factor_figure("load", [sample(cell(1, "none", toast="default"), 1.0)], {"index": ["none", "btree"]}, {}) is None
    )


def test_the_last_factors_are_lines_and_the_first_part_the_panels_on_the_same_axis() -> None:
    cells = [
        cell(4 * updates + number, updates=updates, vacuum=vacuum)
        for updates in (1, 2)
        for number, vacuum in enumerate(("none", "VACUUM", "VACUUM FULL", "autovacuum"))
    ]
    taken = [sample(one, float(one.position), round=number) for one in cells for number in (0, 1)]
    happenings = Happenings({("1 VACUUM", 1): "update, vacuum"}, {("1 VACUUM", 1)})

    figure = round_figure("count", taken, ["updates", "vacuum"], happenings)

    assert figure.side_by_side
    assert [spec["title"] for spec in figure.specs] == ["updates=1", "updates=2"]
    assert list(dict.fromkeys(row["line"] for row in rows(figure.specs[0], "middles"))) == [
        *("vacuum=none", "VACUUM", "VACUUM FULL", "autovacuum")
    ]
    assert len({str(spec["layer"][0]["encoding"]["y"]["scale"]["domain"]) for spec in figure.specs}) == 1
    assert [(row["line"], row["round"]) for row in rows(figure.specs[0], "events")] == [("VACUUM", 1)]
    assert [row["did"] for row in rows(figure.specs[0], "filled") if row["line"] == "VACUUM"] == ["", "update, vacuum"]


def test_few_cells_are_lines_of_one_chart() -> None:
    taken = [sample(cell(number, fillfactor=number), 1.0, round=turn) for number in range(3) for turn in (0, 1)]

    figure = round_figure("count", taken, ["fillfactor"], Happenings())

    assert not figure.side_by_side
    assert figure.specs[0]["width"] == "container"
