"""published.toml: the figures of a study, written as the study printed them, in base units with their method.

A group of figures is a table like the study's own: ``factors`` and then ``columns`` say what the cells of each of the
``rows`` are; ``-`` stands where a factor does not apply or a figure was not published.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from experiments.factors import check_levels
from experiments.metrics import METRICS
from experiments.model import Factor, Levels, Published
from experiments.naming import listed, quoted, unknown
from experiments.reading import Section
from experiments.units import FIGURE, Figure, figure, units

KEYS = ("source", "engine", "profile", "binary_units", "methods", "factors", "columns", "rows")
ABSENT = "-"


@dataclass(frozen=True)
class Declared:
    """What of an experiment a published figure may name."""

    factors: tuple[Factor, ...]
    steps: Collection[str]
    profiles: Collection[str]


@dataclass(frozen=True)
class _Column:
    """A column of a group: step, metric and round of its figures, and the levels that all of them share."""

    step: str
    metric: str
    levels: Levels
    round: int | None


def read_published(root: Section, declared: Declared) -> tuple[Published, ...]:
    """Every figure of the file; raises ``UserError`` for names that the experiment lacks and figures said twice."""
    root.check_keys(["figures"])
    figures: dict[tuple[object, ...], Published] = {}
    for group in root.sections("figures"):
        for key, one in _figures(group, declared):
            levels = tuple(sorted(one.levels.items()))
            identity = (one.source, one.engine, one.profile, one.step, one.metric, one.round, levels)
            if identity in figures:
                raise group.error(key, f"a second {one.metric} of step {one.step} for the same levels")
            figures[identity] = one
    return tuple(figures.values())


def _figures(group: Section, declared: Declared) -> Iterator[tuple[str, Published]]:
    """The figures of one group, each with its key in the file."""
    group.check_keys(KEYS)
    source, engine = group.line("source"), group.line("engine")
    profile = group.one_of("profile", "profile", group.line("profile"), declared.profiles)
    binary = group.typed("binary_units", group.data.get("binary_units", False), bool)
    names = _factor_names(group, declared.factors)
    columns = [_column(section, declared) for section in group.sections("columns")]
    methods = _methods(group.section("methods"), columns)
    for key, row in _rows(group, len(names) + len(columns)):
        shared = _row_levels(group, key, names, row, declared.factors)
        for place, column in enumerate(columns, len(names)):
            if row[place] != ABSENT:
                cell, metric, levels = f"{key}[{place}]", column.metric, {**shared, **column.levels}
                value, unit, precision = _figure(group, cell, row[place], metric, binary=binary)
                yield (
                    cell,
                    Published(
                        source, engine, profile, levels, column.step, metric, unit, value, methods[metric], precision,
                        column.round,
                    ),
                )  # fmt: skip


def _factor_names(group: Section, factors: tuple[Factor, ...]) -> list[str]:
    names = group.typed("factors", group.data.get("factors", []), list)
    for index, name in enumerate(names):
        group.one_of("factor", f"factors[{index}]", name, [factor.name for factor in factors])
    return names


def _column(section: Section, declared: Declared) -> _Column:
    section.check_keys(["step", "metric", "levels", "round"])
    step = _step(section, declared)
    metric = section.one_of("metric", "metric", section.line("metric"), METRICS)
    levels = section.section("levels")
    number = section.need("round", int) if "round" in section.data else None
    return _Column(step, metric, check_levels(levels, declared.factors, levels.data), number)


def _step(section: Section, declared: Declared) -> str:
    """A step, or ``ingest:2``: the second command of a pgbench script."""
    step = section.line("step")
    section.one_of("step", "step", step.partition(":")[0], declared.steps)
    return step


def _methods(section: Section, columns: list[_Column]) -> Mapping[str, str]:
    """How each metric was measured: one sentence for each, so that like can be compared with like."""
    section.check_keys({column.metric for column in columns})
    return {column.metric: section.line(column.metric) for column in columns}


def _rows(group: Section, width: int) -> list[tuple[str, list[Any]]]:
    rows = []
    for index, row in enumerate(group.need("rows", list)):
        key = f"rows[{index}]"
        cells = group.typed(key, row, list)
        if len(cells) != width:
            raise group.error(key, f"must have {width} cells, one for each factor and column, got {len(cells)}")
        rows.append((key, cells))
    return rows


def _row_levels(group: Section, key: str, names: list[str], row: list[Any], factors: tuple[Factor, ...]) -> Levels:
    levels = {name: level for name, level in zip(names, row, strict=False) if level != ABSENT}
    return check_levels(Section(group.file, group.path(key), levels), factors, levels)


def _figure(group: Section, key: str, printed: object, metric: str, *, binary: bool) -> Figure:
    match = FIGURE.fullmatch(group.typed(key, printed, str))
    if match is None:
        raise group.error(key, f'{quoted(printed)} is no figure; write digits, a space and a unit, such as "44 GB"')
    known = units(binary=binary)
    if match["unit"] not in known:
        raise group.error(key, unknown("unit", match["unit"], known))
    read = figure(match["digits"], match["unit"], binary=binary)
    if read.unit != METRICS[metric].unit:
        fitting = [unit for unit, (base, _) in known.items() if base == METRICS[metric].unit]
        raise group.error(key, f"{quoted(printed)} is no {metric}; {listed('unit', fitting)}")
    return read
