"""Parameters and profiles: their declaration in experiment.toml, and what their values may be."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from experiments.factors import chosen_levels
from experiments.model import Factor, Level, Limit
from experiments.naming import quoted
from experiments.reading import WORDS, Section, is_a
from experiments.template import UNSAFE

KEYS = ("default", "minimum", "choices")
ONLY = "only"
# Without a row there is nothing to measure, whatever the experiment.
MINIMUMS: Mapping[str, float] = {"rows": 1}
LARGEST = 2**63 - 1


def read_parameters(section: Section) -> tuple[dict[str, Level], dict[str, Limit]]:
    """The defaults and the limits of [parameters]: a plain value, or a table of default, minimum and choices."""
    section.check_names()
    defaults: dict[str, Level] = {}
    limits: dict[str, Limit] = {}
    for name, declared in section.data.items():
        if isinstance(declared, dict):
            limits[name], default = _limit(section.section(name))
        else:
            limits[name], default = Limit(MINIMUMS.get(name)), declared
        defaults[name] = _default(section, name, default, limits[name])
    return defaults, limits


def _limit(section: Section) -> tuple[Limit, object]:
    section.check_keys(KEYS)
    if "default" not in section.data:
        raise section.error("default", "is missing")
    name = section.key.rpartition(".")[2]
    minimum = section.data.get("minimum", MINIMUMS.get(name))
    if minimum is not None:
        minimum = section.typed("minimum", minimum, float)
        if not is_a(section.data["default"], float):
            raise section.error("minimum", "only a number has a minimum")
    choices = section.typed("choices", section.data.get("choices", []), list)
    for index, choice in enumerate(choices):
        wrong = problem(choice, section.data["default"], Limit())
        if wrong:
            raise section.error(f"choices[{index}]", wrong)
    return Limit(minimum, tuple(choices)), section.data["default"]


def _default(section: Section, name: str, default: object, limit: Limit) -> Level:
    if not isinstance(default, str | int | float | bool):
        raise section.error(name, f"must be a text, a number, true or false, got {quoted(default)}")
    if name in MINIMUMS and not is_a(default, int):
        raise section.error(name, f"must be {WORDS[int]}, got {quoted(default)}")
    wrong = problem(default, default, limit)
    if wrong:
        raise section.error(name, wrong)
    return default


def problem(value: object, default: Level, limit: Limit) -> str | None:
    """What is wrong with ``value`` for a parameter with this default and limit; None where nothing is."""
    kind = type(default)
    if not is_a(value, kind):
        return f"must be {WORDS[kind]}, got {quoted(value)}"
    if isinstance(value, str):
        if UNSAFE.search(value):
            return f"must not hold a backslash or control character, got {quoted(value)}"
    elif isinstance(value, int | float):
        if not math.isfinite(value):
            return f"must be finite, got {value}"
        if abs(value) > LARGEST:
            return f"must be at most {LARGEST}, got {value}"
        if limit.minimum is not None and value < limit.minimum:
            return f"must be at least {limit.minimum:g}, got {value}"
    if limit.choices and value not in limit.choices:
        return f"must be one of {', '.join(str(choice) for choice in limit.choices)}, got {quoted(value)}"
    return None


def read_profiles(
    section: Section, parameters: Mapping[str, Level], limits: Mapping[str, Limit]
) -> dict[str, dict[str, Level]]:
    """The profiles, the default first; an experiment that declares none has one, ``default``."""
    section.check_names()
    if not section.data:
        return {"default": {}}
    return {name: _profile(section.section(name), parameters, limits) for name in section.data}


def read_narrowing(section: Section, factors: Collection[Factor]) -> dict[str, Mapping[str, tuple[Level, ...]]]:
    """The levels to which each profile narrows the matrix: its table ``only``, by factor."""
    return {name: chosen_levels(section.section(name).section(ONLY), factors) for name in section.data}


def _profile(section: Section, parameters: Mapping[str, Level], limits: Mapping[str, Limit]) -> dict[str, Level]:
    values = {name: value for name, value in section.data.items() if name != ONLY}
    for name, value in values.items():
        section.one_of("parameter", name, name, parameters)
        wrong = problem(value, parameters[name], limits[name])
        if wrong:
            raise section.error(name, wrong)
    return {name: type(parameters[name])(value) for name, value in values.items()}
