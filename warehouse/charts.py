"""Charts with a row per storage form, as Vega-Lite: sizes by part, every sample of every cell, ratios beside a study's.

Text, axes and medians take their colour from the page, so that a chart can change between light and dark.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import altair

from warehouse.axes import GREY, PALETTE, Axis, Look
from warehouse.formatting import humanise, times
from warehouse.labels import CellName
from warehouse.samples import Part, Sample
from warehouse.selecting import Row

PART_COLOURS = {
    "table": PALETTE[0],
    "TOAST": "#8CC8F0",
    "index": PALETTE[1],
    "auxiliary": PALETTE[2],
    "maps": PALETTE[3],
    "undo": PALETTE[5],
    "other": GREY,
}
OURS, THEIRS = "ours", "published"
INK = "currentColor"
# Beside the longest bar, for its label.
LABEL_ROOM = 1.35
LEVEL_HEIGHT = 15
FORM_HEIGHT = 26

# Characters that a line of a legend may have.
PHONE_WIDTH = 54

Spec = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """Charts under one heading: one that takes the page's width, or several ``side_by_side``."""

    title: str
    specs: tuple[Spec, ...] = field(repr=False)
    side_by_side: bool = False


class FormRows:
    """The rows of a chart: one per storage form, divided by in-place level where there are several."""

    def __init__(self, cells: Iterable[CellName], looks: Mapping[str, Look]) -> None:
        there = list(cells)
        self.forms = list(dict.fromkeys(cell.form for cell in sorted(there, key=lambda cell: cell.position)))
        self.looks = {level: look for level, look in looks.items() if any(cell.in_place == level for cell in there)}
        self.divided = len(self.looks) > 1

    def encoding(self) -> dict[str, Any]:
        """Where a mark stands."""
        # A long name takes several lines, as many as its row has room for.
        broken = f"length(split(datum.label, ' ')) <= {max(1, len(self.looks))} ? split(datum.label, ' ') : datum.label"
        axis = altair.Axis(title=None, labelLimit=260, labelExpr=broken, labelPadding=7, ticks=False, domain=False)
        row = {"y": altair.Y("form:N", sort=self.forms, axis=axis, scale=altair.Scale(paddingInner=0.3))}
        return {**row, "yOffset": altair.YOffset("in_place:N", sort=list(self.looks))} if self.divided else row

    def colour(self) -> dict[str, Any]:
        """Colour and shape by in-place level; one colour where there is only one."""
        if not self.divided:
            return {"color": altair.value(PALETTE[0])}
        return drawn_as("in_place", self.looks)

    def place(self, cell: CellName) -> Row:
        """The fields that ``encoding`` and ``colour`` read."""
        return {"form": cell.form, "in_place": cell.in_place or ""}

    def finished(self, chart: Any, description: str, **data: Sequence[Row]) -> Spec:
        """The chart in the page's width, as high as its rows need."""
        step = {"step": LEVEL_HEIGHT, "for": "offset"} if self.divided else {"step": FORM_HEIGHT}
        return finished(chart.properties(width="container", height=step), description, **data)


def size_figure(parts: Sequence[Part], looks: Mapping[str, Look]) -> Figure:
    """The size of every cell, stacked by part, its total in figures."""
    rows = FormRows((part.cell for part in parts), looks)
    axis = Axis.of([part.total * LABEL_ROOM for part in parts], "bytes", from_zero=True)
    names = [name for name in PART_COLOURS if any(part.name == name for part in parts)]
    bars = [
        {
            **rows.place(part.cell),
            "part": part.name,
            "rank": names.index(part.name),
            "value": axis.place(part.value),
            "size": humanise(part.value, "bytes"),
            "total": humanise(part.total, "bytes"),
        }
        for part in parts
    ]
    colour = altair.Color("part:N", scale=ordinal(names, [PART_COLOURS[name] for name in names]), legend=legend(names))
    bar = chart("bars").mark_bar(height={"band": 0.85})
    stacked = bar.encode(
        x=axis.on(altair.X, stack="zero"),
        color=colour,
        order="rank:Q",
        tooltip=tooltip("form", "in_place", "part", "size", "total"),
        **rows.encoding(),
    )
    ends = [
        {**rows.place(part.cell), "value": axis.place(part.total), "label": _size_label(part, rows)}
        for part in {part.cell.whole: part for part in parts}.values()
    ]
    text = chart("ends").mark_text(align="left", dx=5, baseline="middle")
    labels = text.encode(x=axis.on(altair.X), text="label:N", **rows.encoding())
    return Figure("", (rows.finished(stacked + labels, "Size of each cell, stacked by part", bars=bars, ends=ends),))


def _size_label(part: Part, rows: FormRows) -> str:
    size = humanise(part.total, "bytes")
    return f"{size} · {part.cell.in_place}" if rows.divided and part.cell.in_place else size


def sample_figure(title: str, samples: Sequence[Sample], looks: Mapping[str, Look]) -> Figure:
    """Every sample of every cell in one measure, warm-ups hollow, a tick at the median of those that count."""
    rows = FormRows((sample.cell for sample in samples), looks)
    axis = Axis.of([sample.value for sample in samples], samples[0].measure.unit)
    dots = [
        {**rows.place(sample.cell), "value": axis.place(sample.value), "sample": sample.told, "measured": sample.text}
        for sample in samples
    ]
    told = tooltip("form", "in_place", "sample", "measured")
    shared = {"x": axis.on(altair.X), "tooltip": told, **rows.encoding()}
    hollow_dots = [dot for dot, sample in zip(dots, samples, strict=True) if sample.is_warmup]
    filled_dots = [dot for dot, sample in zip(dots, samples, strict=True) if not sample.is_warmup]
    layers = [
        chart("hollow" if hollow else "filled")
        .mark_point(filled=not hollow, size=46, opacity=0.9 if hollow else 0.75, strokeWidth=1.3)
        .encode(**shared, **rows.colour())
        for hollow in (True, False)
    ]
    middles = [
        {**rows.place(cell), "value": axis.place(value), "median": humanise(value, samples[0].measure.unit)}
        for cell, value in medians_of(samples)
    ]
    tick = chart("middles").mark_tick(color=INK, opacity=1, thickness=2, size=LEVEL_HEIGHT - 2)
    ticks = tick.encode(x=axis.on(altair.X), tooltip=tooltip("form", "in_place", "median"), **rows.encoding())
    description = f"{title}: every sample by storage form, with medians"
    data = {"hollow": hollow_dots, "filled": filled_dots, "middles": middles}
    return Figure(title, (rows.finished(altair.layer(*layers, ticks), description, **data),))


def medians_of(samples: Iterable[Sample]) -> list[tuple[CellName, float]]:
    """The median of the samples that count, by cell."""
    by_cell: dict[str, list[Sample]] = {}
    for sample in samples:
        if not sample.is_warmup:
            by_cell.setdefault(sample.cell.whole, []).append(sample)
    return [(found[0].cell, median(sample.value for sample in found)) for found in by_cell.values()]


def ratio_figure(title: str, cells: Sequence[tuple[CellName, Row]], looks: Mapping[str, Look]) -> Figure:
    """Our ratio to the baseline beside the published one, for every form that has both."""
    rows = FormRows((cell for cell, _ in cells), looks)
    axis = Axis.of(
        [row[ratio] for _, row in cells for ratio in ("our_ratio", "published_ratio")],
        "ratio",
        name="ratio to the baseline",
    )
    dots = [
        {**rows.place(cell), "whose": whose, "value": axis.place(row[ratio]), "ratio": times(row[ratio])}
        for cell, row in cells
        for whose, ratio in ((OURS, "our_ratio"), (THEIRS, "published_ratio"))
    ]
    whose = [OURS, THEIRS]
    names = legend(whose)
    base = chart("dots").encode(x=axis.on(altair.X), **rows.encoding())
    point = base.mark_point(filled=True, size=70, opacity=0.9).encode(
        color=altair.Color("whose:N", scale=ordinal(whose, [PALETTE[0], PALETTE[1]]), legend=names),
        shape=altair.Shape("whose:N", scale=ordinal(whose, ["circle", "diamond"]), legend=names),
        tooltip=tooltip("form", "in_place", "whose", "ratio"),
    )
    line = base.mark_line(color=GREY, strokeWidth=2, opacity=0.6).encode(detail=["form:N", "in_place:N"])
    description = f"{title}: our ratio to the baseline beside the study's"
    return Figure(title, (rows.finished(line + point, description, dots=dots),))


def chart(data: str) -> Any:
    """A chart of the rows that ``finished`` is given under this name: altair copies inline rows again and again."""
    return altair.Chart(altair.NamedData(data))


def ordinal(names: Sequence[str], values: Sequence[str]) -> Any:
    """A scale that gives each name its value."""
    return altair.Scale(domain=list(names), range=list(values))


def drawn_as(field: str, looks: Mapping[str, Look], *, with_legend: bool = True) -> dict[str, Any]:
    """Colour and shape of a field's values."""
    names = list(looks)
    key = legend(names) if with_legend else None
    colours, shapes = [look.colour for look in looks.values()], [look.shape for look in looks.values()]
    return {
        "color": altair.Color(f"{field}:N", scale=ordinal(names, colours), legend=key),
        "shape": altair.Shape(f"{field}:N", scale=ordinal(names, shapes), legend=key),
    }


def legend(names: Collection[str]) -> Any:
    """A legend above the chart, in as many columns as its names leave room for on a phone."""
    widths = [len(name) + 3 for name in names]
    columns = len(names) if sum(widths) <= PHONE_WIDTH else max(1, PHONE_WIDTH // max(widths))
    return altair.Legend(title=None, orient="top", columns=columns)


def tooltip(*fields: str) -> list[Any]:
    """What is told about a mark under the pointer."""
    return [altair.Tooltip(f"{field}:N", title=field.replace("_", "-")) for field in fields]


def finished(chart: Any, description: str, **data: Sequence[Row]) -> Spec:
    """The specification with its rows, described for who cannot see it; the page gives text and axes their colour."""
    # A test validates what is made here; doing it for every chart of every report takes longer than all the rest.
    spec: Spec = chart.properties(description=description).to_dict(validate=False)
    del spec["config"], spec["$schema"]
    return {**spec, "datasets": data}
