"""Charts over a factor or over rounds, as Vega-Lite: what one factor does, and how a series goes on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import altair

from experiments.model import Levels
from warehouse.axes import GREY, PALETTE, Axis, Look, looks
from warehouse.charts import INK, Figure, Spec, chart, drawn_as, finished, medians_of, tooltip
from warehouse.formatting import humanise
from warehouse.labels import CellName
from warehouse.rows import in_words
from warehouse.samples import Sample
from warehouse.selecting import Row

LEVEL_WIDTH = 82
PANEL_HEIGHT = 190
ROUNDS_HEIGHT = 280
MOST_TICKS = 10
# A label of several words takes several lines.
BROKEN = "split(datum.label, ' ')"
# With more lines than colours a reader cannot tell them apart.
MOST_LINES = len(PALETTE)


def factor_figure(
    title: str, samples: Sequence[Sample], factors: Mapping[str, Sequence[str]], in_place: Mapping[str, Look]
) -> Figure | None:
    """A panel per factor, with every sample over its levels; None where no factor has two levels in this measure."""
    axis = Axis.of([sample.value for sample in samples], samples[0].measure.unit)
    panels = []
    for factor, levels in factors.items():
        there = {str(sample.cell.levels.get(factor)) for sample in samples if not sample.is_warmup}
        shown = [level for level in levels if level in there]
        if len(shown) > 1:
            panels.append(_factor_panel(factor, shown, samples, axis, in_place))
    return Figure(title, tuple(panels), side_by_side=True) if panels else None


def _factor_panel(
    factor: str, levels: Sequence[str], samples: Sequence[Sample], axis: Axis, in_place: Mapping[str, Look]
) -> Spec:
    chosen = [sample for sample in samples if str(sample.cell.levels.get(factor)) in levels]
    place = {
        "x": altair.X(
            "level:N",
            sort=list(levels),
            axis=altair.Axis(title=None, labelAngle=0, labelLimit=LEVEL_WIDTH, labelExpr=BROKEN),
        ),
        "xOffset": altair.XOffset("beside:Q", scale=altair.Scale(domain=[-1, 1])),
        "y": axis.on(altair.Y),
    }
    pairs = chart("pairs").mark_line(color=GREY, opacity=0.5, strokeWidth=1).encode(**place, detail="others:N")
    ticks = chart("ticks").mark_tick(color=INK, opacity=1, thickness=2.5, size=LEVEL_WIDTH / 2, orient="horizontal")
    colour = {"color": drawn_as("in_place", in_place, with_legend=False)["color"]} if len(in_place) > 1 else {}
    layers = altair.layer(
        pairs,
        _dots(in_place, hollow=True).encode(**place),
        _dots(in_place, hollow=False).encode(**place),
        ticks.encode(**place, **colour, tooltip=tooltip("level", "in_place", "median")),
    )
    data = {
        "pairs": _pairs(factor, chosen, axis),
        "hollow": _rows(factor, [sample for sample in chosen if sample.is_warmup], axis),
        "filled": _rows(factor, [sample for sample in chosen if not sample.is_warmup], axis),
        "ticks": _level_medians(factor, chosen, axis),
    }
    size = {"width": LEVEL_WIDTH * len(levels), "height": PANEL_HEIGHT}
    return finished(layers.properties(title=factor, **size), f"Every sample by level of {factor}, with medians", **data)


def _dots(in_place: Mapping[str, Look], *, hollow: bool) -> Any:
    dots = chart("hollow" if hollow else "filled").mark_point(
        filled=not hollow, size=32, opacity=0.9 if hollow else 0.7, color=PALETTE[0], strokeWidth=1.2
    )
    # The key stands beside the charts, once for all panels.
    look = drawn_as("in_place", in_place, with_legend=False) if len(in_place) > 1 else {}
    return dots.encode(tooltip=tooltip("cell", "sample", "measured"), **look)


def _rows(factor: str, samples: Sequence[Sample], axis: Axis) -> list[Row]:
    """The samples, spread sideways in the order of their cells so that they do not hide each other."""
    return [
        {
            "level": str(sample.cell.levels[factor]),
            "beside": ((number * 7) % 11 - 5) / 9,
            "value": axis.place(sample.value),
            "in_place": sample.cell.in_place or "",
            "cell": sample.cell.whole,
            "sample": sample.told,
            "measured": sample.text,
        }
        for number, sample in enumerate(samples)
    ]


def _pairs(factor: str, samples: Sequence[Sample], axis: Axis) -> list[Row]:
    """Medians of cells that differ in nothing but the factor: a line joins them."""
    found = medians_of(samples)
    others = _others([cell.levels for cell, _ in found], factor)
    return [
        {"level": str(cell.levels[factor]), "beside": 0, "others": key, "value": axis.place(value)}
        for (cell, value), key in zip(found, others, strict=True)
    ]


def _others(cells: Sequence[Levels], factor: str) -> list[str]:
    """What tells cells apart besides the factor.

    Another factor may apply at some of its levels only (compression, where TOAST compresses): it is left out, unless
    it makes a difference at one level.
    """
    everywhere = set.intersection(*(set(levels) for levels in cells)) - {factor}
    keys = _keys(cells, everywhere)
    is_clear = len({(key, levels[factor]) for key, levels in zip(keys, cells, strict=True)}) == len(cells)
    return keys if is_clear else _keys(cells, {name for levels in cells for name in levels} - {factor})


def _keys(cells: Sequence[Levels], factors: Iterable[str]) -> list[str]:
    return [repr([(name, levels.get(name)) for name in sorted(factors)]) for levels in cells]


def _level_medians(factor: str, samples: Sequence[Sample], axis: Axis) -> list[Row]:
    """A median per level and in-place level: over both lookups by scan and by index it would lie where nothing is."""
    groups: dict[tuple[str, str], list[float]] = {}
    for sample in samples:
        if not sample.is_warmup:
            groups.setdefault((str(sample.cell.levels[factor]), sample.cell.in_place or ""), []).append(sample.value)
    middles = {group: median(values) for group, values in groups.items()}
    return [
        {
            "level": level,
            "beside": 0,
            "in_place": in_place,
            "value": axis.place(value),
            "median": humanise(value, samples[0].measure.unit),
        }
        for (level, in_place), value in middles.items()
    ]


@dataclass(frozen=True)
class Happenings:
    """What the rounds of a series did, by cell name and round; ``marked`` ones had a VACUUM or the like."""

    actions: Mapping[tuple[str, int | None], str] = field(default_factory=dict)
    marked: Collection[tuple[str, int | None]] = ()


def round_figure(title: str, samples: Sequence[Sample], factors: Collection[str], happenings: Happenings) -> Figure:
    """A measure over the rounds of a series: a line through the medians, every sample, triangles at marked rounds.

    As many of the last ``factors`` are lines of one panel as there are colours for; the others part the panels.
    """
    axis = Axis.of([sample.value for sample in samples], samples[0].measure.unit)
    panels: dict[str, list[Sample]] = {}
    lines = _line_factors([sample.cell for sample in samples], factors)
    for sample in sorted(samples, key=lambda sample: sample.cell.position):
        panels.setdefault(_in_words(sample.cell, [name for name in factors if name not in lines]), []).append(sample)
    specs = [
        _lines(f"{title} over rounds, {panel or 'a line per cell'}", taken, lines, axis, happenings, _size(panel))
        for panel, taken in panels.items()
    ]
    return Figure(title, tuple(specs), side_by_side=len(specs) > 1)


def _line_factors(cells: Sequence[CellName], factors: Collection[str]) -> list[str]:
    chosen: list[str] = []
    for factor in reversed(list(factors)):
        if len({_in_words(cell, [factor, *chosen]) for cell in cells}) > MOST_LINES:
            break
        chosen.insert(0, factor)
    return chosen


def _in_words(cell: CellName, factors: Collection[str]) -> str:
    return in_words({name: cell.levels[name] for name in factors if name in cell.levels})


def _size(panel: str) -> dict[str, Any]:
    return (
        {"title": panel, "width": 300, "height": PANEL_HEIGHT}
        if panel
        else {"width": "container", "height": ROUNDS_HEIGHT}
    )


def _lines(
    description: str,
    samples: Sequence[Sample],
    factors: Collection[str],
    axis: Axis,
    happenings: Happenings,
    properties: Mapping[str, Any],
) -> Spec:
    names = list(dict.fromkeys(_in_words(sample.cell, factors) for sample in samples))
    look = drawn_as("line", looks(names), with_legend=len(names) > 1)
    place = {
        "x": _rounds([sample.round or 0 for sample in samples]),
        "y": axis.on(altair.Y),
    }
    told = tooltip("cell", "sample", "did", "measured")
    layers = altair.layer(
        chart("middles").mark_line(strokeWidth=2).encode(**place, color=look["color"]),
        chart("hollow").mark_point(filled=False, size=34, strokeWidth=1.2).encode(**place, **look, tooltip=told),
        chart("filled").mark_point(filled=True, size=34, opacity=0.7).encode(**place, **look, tooltip=told),
        chart("events").mark_text(text="▼", dy=-12).encode(**place, color=look["color"]),
    )
    middles = _round_medians(samples, factors, axis)
    data = {
        "middles": middles,
        "hollow": [_round_row(sample, factors, axis, happenings) for sample in samples if sample.is_warmup],
        "filled": [_round_row(sample, factors, axis, happenings) for sample in samples if not sample.is_warmup],
        "events": [middle for middle in middles if (middle["cell"], middle["round"]) in happenings.marked],
    }
    return finished(layers.properties(**properties), description, **data)


def _rounds(numbers: Sequence[int]) -> Any:
    """The axis of the rounds, which has no halves."""
    first, last = min(numbers), max(numbers)
    every = -(-(last - first) // MOST_TICKS) or 1
    axis = altair.Axis(title="round", values=list(range(first, last + 1, every)), format="d")
    return altair.X("round:Q", axis=axis, scale=altair.Scale(domain=[first, last], nice=False, zero=False))


def _round_row(sample: Sample, factors: Collection[str], axis: Axis, happenings: Happenings) -> Row:
    return {
        "cell": sample.cell.whole,
        "line": _in_words(sample.cell, factors),
        "round": sample.round,
        "value": axis.place(sample.value),
        "sample": sample.told,
        "did": happenings.actions.get((sample.cell.whole, sample.round), ""),
        "measured": sample.text,
    }


def _round_medians(samples: Sequence[Sample], factors: Collection[str], axis: Axis) -> list[Row]:
    groups: dict[tuple[str, int | None], list[Sample]] = {}
    for sample in samples:
        if not sample.is_warmup:
            groups.setdefault((sample.cell.whole, sample.round), []).append(sample)
    return [
        {
            "cell": cell,
            "line": _in_words(group[0].cell, factors),
            "round": number,
            "value": axis.place(median(sample.value for sample in group)),
        }
        for (cell, number), group in groups.items()
    ]
