"""The [[steps]] of an experiment: one kind each, the kind's options, and where a step runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import chain

from experiments.language import COMMON, STEP_KINDS
from experiments.model import Factor, Step
from experiments.naming import listed, quoted
from experiments.reading import Section


def read_steps(root: Section, factors: Iterable[Factor], dialects: Collection[str]) -> tuple[Step, ...]:
    """The steps in declared order; names are unique, since measurements are kept by them."""
    if not root.need("steps", list):
        raise root.error("steps", "is empty")
    in_place = [factor.name for factor in factors if factor.in_place]
    steps: list[Step] = []
    for section in root.sections("steps"):
        step = _step(section, sorted(dialects))
        if step.name in {other.name for other in steps}:
            raise section.error(step.kind, f"a second step named {quoted(step.name)}; step names are unique")
        if "factor" in step.options:
            section.one_of("in-place factor", "factor", step.options["factor"], in_place)
        steps.append(step)
    return tuple(steps)


def _step(section: Section, dialects: list[str]) -> Step:
    kind = _kind(section)
    options = {**COMMON, **STEP_KINDS[kind].options}
    section.check_keys([kind, *options])
    name = section.name(kind)
    values = {key: section.option(key, option) for key, option in options.items()}
    values["dialects"] = _dialects(section, values["dialects"], dialects)
    if "sql" in values:
        values["sql"] = section.name("sql") if "sql" in section.data else name
    return Step(kind, name, values.pop("at") or STEP_KINDS[kind].at, values)


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
