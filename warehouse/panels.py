"""Charts over a factor or over rounds, as Vega-Lite: what one factor does, and how a series goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

import altair

from experiments.model import Levels
from warehouse.axes import GREY, PALETTE, Axis, colours, shapes
from warehouse.charts import MEDIAN, Figure, Spec, finished, inline, legend, medians_of, ordinal, tooltip
from warehouse.formatting import humanise
from warehouse.labels import CellName
from warehouse.samples import Sample
from warehouse.selecting import Row

LEVEL_WIDTH = 58
PANEL_HEIGHT = 190
ROUNDS_HEIGHT = 280
# With more lines than colours a reader cannot tell them apart: each storage form then has a panel of its own.
MOST_LINES = len(PALETTE)


def factor_figure(title: str, samples: Sequence[Sample], factors: Mapping[str, Sequence[str]]) -> Figure | None:
    """A panel per factor, with every sample over its levels; None where no factor has two levels in this measure."""
    axis = Axis.of([sample.value for sample in samples], samples[0].measure.unit)
    panels = []
    for factor, levels in factors.items():
        there = {str(sample.cell.levels.get(factor)) for sample in samples if not sample.is_warmup}
        shown = [level for level in levels if level in there]
        if len(shown) > 1:
            panels.append(_factor_panel(factor, shown, samples, axis))
    return Figure(title, "", tuple(panels), side_by_side=True) if panels else None


def _factor_panel(factor: str, levels: Sequence[str], samples: Sequence[Sample], axis: Axis) -> Spec:
    chosen = [sample for sample in samples if str(sample.cell.levels.get(factor)) in levels]
    x = altair.X("level:N", sort=list(levels), axis=altair.Axis(title=None, labelAngle=0, labelLimit=LEVEL_WIDTH + 14))
    y = axis.on(altair.Y)
    dots = [
        altair.Chart(inline(list(_dots(factor, chosen, axis, hollow=hollow))))
        .mark_point(filled=not hollow, size=30, opacity=0.8 if hollow else 0.55, color=PALETTE[0], strokeWidth=1.2)
        .encode(
            x=x,
            y=y,
            xOffset=altair.XOffset("beside:Q", scale=altair.Scale(domain=[-1, 1])),
            tooltip=tooltip("cell", "sample", "measured"),
        )
        for hollow in (True, False)
    ]
    pairs = altair.Chart(inline(_pairs(factor, chosen, axis))).mark_line(color=GREY, opacity=0.45, strokeWidth=1)
    ticks = altair.Chart(inline(_level_medians(factor, levels, chosen, axis))).mark_tick(style=MEDIAN, thickness=2.5)
    layers = altair.layer(
        pairs.encode(x=x, y=y, detail="others:N"),
        *dots,
        ticks.encode(x=x, y=y, tooltip=tooltip("level", "median")),
    )
    size = {"width": LEVEL_WIDTH * len(levels), "height": PANEL_HEIGHT}
    return finished(layers.properties(title=factor, **size), f"Every sample by level of {factor}, with medians")


def _dots(factor: str, samples: Sequence[Sample], axis: Axis, *, hollow: bool) -> Iterator[Row]:
    """The samples of a level, spread sideways in the order of their cells so that they do not hide each other."""
    for number, sample in enumerate(sample for sample in samples if sample.is_warmup == hollow):
        yield {
            "level": str(sample.cell.levels[factor]),
            "beside": ((number * 7) % 11 - 5) / 9,
            "value": axis.place(sample.value),
            "cell": sample.cell.whole,
            "sample": sample.told,
            "measured": sample.text,
        }


def _pairs(factor: str, samples: Sequence[Sample], axis: Axis) -> list[Row]:
    """Medians of cells that differ in nothing but the factor: a line joins them."""
    return [
        {"level": str(cell.levels[factor]), "others": _others(cell.levels, factor), "value": axis.place(value)}
        for cell, value in medians_of(samples)
    ]


def _others(levels: Levels, factor: str) -> str:
    return repr([(name, level) for name, level in levels.items() if name != factor])


def _level_medians(factor: str, levels: Sequence[str], samples: Sequence[Sample], axis: Axis) -> list[Row]:
    found = []
    for level in levels:
        value = median(
            sample.value for sample in samples if str(sample.cell.levels[factor]) == level and not sample.is_warmup
        )
        found.append({"level": level, "value": axis.place(value), "median": humanise(value, samples[0].measure.unit)})
    return found


def round_figure(title: str, samples: Sequence[Sample], events: Mapping[str, Sequence[int]]) -> Figure:
    """A measure over the rounds of a series: a line through the medians, every sample, triangles at ``events``.

    ``events`` has the rounds with a VACUUM or the like, by the cell's name.
    """
    axis = Axis.of([sample.value for sample in samples], samples[0].measure.unit)
    cells = sorted({sample.cell.whole: sample.cell for sample in samples}.values(), key=lambda cell: cell.position)
    if len(cells) <= MOST_LINES:
        chart = _lines(cells, samples, axis, events).properties(width="container", height=ROUNDS_HEIGHT)
        return Figure(title, "", (finished(chart, f"{title} over rounds, a line per cell"),))
    panels = [_form_panel(form, cells, samples, axis, events) for form in dict.fromkeys(cell.form for cell in cells)]
    return Figure(title, "", tuple(panels), side_by_side=True)


def _form_panel(
    form: str, cells: Sequence[CellName], samples: Sequence[Sample], axis: Axis, events: Mapping[str, Sequence[int]]
) -> Spec:
    of_form = [cell for cell in cells if cell.form == form]
    chart = _lines(of_form, [sample for sample in samples if sample.cell.form == form], axis, events)
    return finished(chart.properties(title=form, width=260, height=PANEL_HEIGHT), f"{form} over rounds")


def _lines(
    cells: Sequence[CellName], samples: Sequence[Sample], axis: Axis, events: Mapping[str, Sequence[int]]
) -> Any:
    names = [cell.whole for cell in cells]
    told = legend(names, title=None) if len(names) > 1 else None
    colour = altair.Color("cell:N", scale=ordinal(names, colours(names)), legend=told)
    shape = altair.Shape("cell:N", scale=ordinal(names, shapes(names)), legend=told)
    x = altair.X("round:Q", axis=altair.Axis(title="round", tickMinStep=1, format="d"))
    y = axis.on(altair.Y)
    dots = [
        altair.Chart(inline([_round_dot(sample, axis) for sample in samples if sample.is_warmup == hollow]))
        .mark_point(filled=not hollow, size=34, opacity=0.7, strokeWidth=1.2)
        .encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltip("cell", "sample", "measured"))
        for hollow in (True, False)
    ]
    middles = _round_medians(samples, axis)
    line = altair.Chart(inline(middles)).mark_line(strokeWidth=2).encode(x=x, y=y, color=colour)
    marked = [middle for middle in middles if middle["round"] in events.get(middle["cell"], ())]
    event = altair.Chart(inline(marked)).mark_text(text="▼", dy=-12, fontSize=12)
    return altair.layer(line, *dots, event.encode(x=x, y=y, color=colour))


def _round_dot(sample: Sample, axis: Axis) -> Row:
    return {
        "cell": sample.cell.whole,
        "round": sample.round,
        "value": axis.place(sample.value),
        "sample": sample.told,
        "measured": sample.text,
    }


def _round_medians(samples: Sequence[Sample], axis: Axis) -> list[Row]:
    values: dict[tuple[str, int | None], list[float]] = {}
    for sample in samples:
        if not sample.is_warmup:
            values.setdefault((sample.cell.whole, sample.round), []).append(sample.value)
    return [
        {"cell": cell, "round": number, "value": axis.place(median(found))} for (cell, number), found in values.items()
    ]
