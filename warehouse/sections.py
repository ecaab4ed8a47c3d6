"""The sections of a report that hold charts: a target's sizes, times, factors and rounds, and ratios beside a study."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warehouse.axes import Look, looks
from warehouse.charts import Figure, ratio_figure, sample_figure, size_figure
from warehouse.labels import CellName, Names
from warehouse.medians import Measure, title
from warehouse.panels import Happenings, factor_figure, round_figure
from warehouse.samples import Sample, samples, sizes
from warehouse.selecting import Row, rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# A round in which one of these was taken is marked in the charts of a series.
EVENTS = ("vacuum_time", "cleanup_time")
PUBLISHED = """
select * from against_published
order by source, engine, target, step, metric, round nulls first, comparable desc, our_ratio nulls last
"""


@dataclass(frozen=True)
class Charts:
    """The figures of one target by section; a section without any is left out."""

    target: str
    looks: Mapping[str, Look]
    sizes: Sequence[Figure]
    times: Sequence[Figure]
    factors: Sequence[Figure]
    rounds: Sequence[Figure]

    @property
    def any(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.sizes or self.times or self.rounds)


def target_charts(connection: DuckDBPyConnection, names: Names, target: str) -> Charts:
    """All figures of a target."""
    found = samples(connection, names, target)
    once = _without_rounds(found)
    parts = sizes(connection, names, target)
    in_place = looks(names.in_place(target), with_base=True)
    return Charts(
        target,
        in_place,
        [size_figure(parts, in_place)] if parts else [],
        [sample_figure(title(measure, once), taken, in_place) for measure, taken in once.items()],
        list(_factor_figures(once, names.factors(target), in_place)),
        list(_round_figures(found, names.factors(target), _actions(connection, names))),
    )


def _without_rounds(found: Mapping[Measure, Sequence[Sample]]) -> dict[Measure, list[Sample]]:
    chosen = {measure: [one for one in taken if one.round is None] for measure, taken in found.items()}
    return {measure: taken for measure, taken in chosen.items() if any(not one.is_warmup for one in taken)}


def _factor_figures(
    once: Mapping[Measure, Sequence[Sample]], factors: Mapping[str, Sequence[str]], in_place: Mapping[str, Look]
) -> Iterator[Figure]:
    for measure, taken in once.items():
        figure = factor_figure(title(measure, once), taken, factors, in_place)
        if figure is not None:
            yield figure


def _actions(connection: DuckDBPyConnection, names: Names) -> dict[tuple[str, int | None], str]:
    """What each round of a series did, by cell name and round."""
    found = connection.execute("select distinct cell_id, round, action from series_round").fetchall()
    return {(names.cells[cell_id].whole, number): action for cell_id, number, action in found}


def _round_figures(
    found: Mapping[Measure, Sequence[Sample]], factors: Collection[str], actions: Mapping[tuple[str, int | None], str]
) -> Iterator[Figure]:
    series = {measure: [one for one in taken if one.round is not None] for measure, taken in found.items()}
    events = [one for measure, taken in series.items() if measure.metric in EVENTS for one in taken]
    happenings = Happenings(actions, {(one.cell.whole, one.round) for one in events})
    shown = {measure: taken for measure, taken in series.items() if measure.metric not in EVENTS and _goes_on(taken)}
    for measure, taken in shown.items():
        yield round_figure(title(measure, shown), taken, factors, happenings)


def _goes_on(samples: Sequence[Sample]) -> bool:
    """Whether there is a line to draw: some cell with several rounds, and values that are not all the same."""
    places = {(one.cell.whole, one.round) for one in samples}
    return len(places) > len({cell for cell, _ in places}) and len({one.value for one in samples}) > 1


def published_rows(connection: DuckDBPyConnection) -> list[Row]:
    """Published figures beside ours; none where the study's levels were not run."""
    return rows(connection, PUBLISHED)


def published_figures(found: Sequence[Row], names: Names) -> list[Figure]:
    """A figure per measure with the ratios of all forms that can be compared, the baseline itself left out."""
    grouped: dict[tuple[str, Measure, int | None], list[tuple[CellName, Row]]] = {}
    for row in found:
        if row["comparable"] and not row["our_ratio"] == row["published_ratio"] == 1:
            group = row["target"], Measure(row["step"], row["our_metric"]), row["round"]
            grouped.setdefault(group, []).append((names.cells[row["cell_id"]], row))
    measures = {measure for _, measure, _ in grouped}
    return [
        ratio_figure(f"{title(measure, measures)}{_where(target, number)}", cells, looks(names.in_place(target)))
        for (target, measure, number), cells in grouped.items()
    ]


def _where(target: str, number: int | None) -> str:
    return f" on {target}" if number is None else f" on {target}, round {number}"
