"""The [[steps]] of an experiment: one kind each, the kind's options, and where a step runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from experiments.factors import chosen_levels
from experiments.language import COMMON, STEP_KINDS
from experiments.metrics import METRICS
from experiments.model import Column, Factor, Level, Step
from experiments.naming import listed, quoted
from experiments.reading import Section
from experiments.series import check_series, read_rounds
from experiments.values import check_values


def read_steps(
    root: Section, factors: Sequence[Factor], parameters: Mapping[str, Level], dialects: Collection[str]
) -> tuple[Step, ...]:
    """The steps in declared order; names are unique, since measurements are kept by them."""
    if not root.need("steps", list):
        raise root.error("steps", "is empty")
    sections = root.sections("steps")
    steps: list[Step] = []
    for section in sections:
        step = _step(section, factors, sorted(dialects))
        if step.name in {other.name for other in steps}:
            raise section.error(step.kind, f"a second step named {quoted(step.name)}; step names are unique")
        _check_names(section, step, factors, parameters)
        if "after" in step.options:
            before = [other.name for other in steps if other.kind == "pgbench"]
            section.one_of("pgbench step before this one", "after", step.options["after"], before)
        steps.append(step)
    check_series(sections, steps, factors, parameters)
    return tuple(steps)


def _step(section: Section, factors: Sequence[Factor], dialects: list[str]) -> Step:
    kind = _kind(section)
    options = {**COMMON, **STEP_KINDS[kind].options}
    section.check_keys([kind, *options])
    name = section.name(kind)
    values = {key: section.option(key, option) for key, option in options.items()}
    values["dialects"] = _dialects(section, values["dialects"], dialects)
    values["when"] = chosen_levels(section.section("when"), factors)
    if "sql" in values:
        values["sql"] = section.name("sql") if "sql" in section.data else name
    if kind == "series":
        values = read_rounds(section, values)
    if kind == "measure":
        values["metrics"] = section.texts("metrics")
        values["extensions"] = section.texts("extensions")
        for index, metric in enumerate(values["metrics"]):
            section.one_of("metric", f"metrics[{index}]", metric, METRICS)
    return Step(kind, name, values.pop("at") or STEP_KINDS[kind].at, values)


def option_in(step: Step, key: str, known: Mapping[str, object]) -> Any:
    """An option of a step; where it names a factor or parameter, its value in ``known``."""
    return STEP_KINDS[step.kind].options[key].value_in(step.options[key], known)


def check_columns(root: Section, steps: Iterable[Step], columns: Iterable[Column]) -> None:
    """The columns that steps name are columns of the table."""
    known = [column.name for column in columns]
    for section, step in zip(root.sections("steps"), steps, strict=True):
        if step.options.get("column") is not None:
            section.one_of("column", "column", step.options["column"], known)


def _check_names(section: Section, step: Step, factors: Sequence[Factor], parameters: Mapping[str, Level]) -> None:
    """What an option names must be there, and every value that it can have there must be one of the option's."""
    in_place = [factor.name for factor in factors if factor.in_place]
    # An index that is there before the load is no change of a loaded table, so any factor may have its levels.
    if "factor" in step.options:
        known = [factor.name for factor in factors] if step.at == "load" else in_place
        section.one_of("in-place factor" if known == in_place else "factor", "factor", step.options["factor"], known)
    for key, option in STEP_KINDS[step.kind].options.items():
        if option.names_value(step.options[key]):
            check_values(section, key, step.options[key], option, factors, parameters)


def _dialects(section: Section, declared: Iterable[object], known: list[str]) -> tuple[str, ...]:
    named = ((f"dialects[{index}]", dialect) for index, dialect in enumerate(declared))
    return tuple(section.one_of("dialect", key, section.typed(key, dialect, str), known) for key, dialect in named)


def _kind(section: Section) -> str:
    kinds = [key for key in section.data if key in STEP_KINDS]
    if len(kinds) == 1:
        return kinds[0]
    if kinds:
        raise section.error(kinds[1], f"a second kind of step beside {quoted(kinds[0])}; a step has exactly one")
    options = set(chain(COMMON, *(kind.options for kind in STEP_KINDS.values())))
    for key in section.data:
        if key not in options:
            raise section.unknown_key(key, STEP_KINDS, meant=options)
    raise section.error("", f"no kind of step; {listed('kind', sorted(STEP_KINDS))}")
