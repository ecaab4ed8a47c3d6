"""Factors and their levels: read, checked, looked up along a dialect's ancestors, and written as text."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping

from experiments.model import Column, Factor, Level, Levels, Step
from experiments.naming import quoted, unknown
from experiments.reading import Section

ALL = "*"
# Conservative on purpose: no quotes, no semicolon, no comment. Whatever passes is still rendered as a literal.
LEVEL = re.compile(r"(?!.*--)[A-Za-z0-9][A-Za-z0-9_.:,()%+ -]{0,63}")
# Stands among the levels of a reload factor for whatever else the probe of a target finds.
PROBED = "..."
LEVEL_RULE = (
    "a level has letters, digits, spaces and _ . : , ( ) % + - (no --), starts with a letter or digit, "
    "and has at most 64 characters"
)
INDEX = re.compile(r"(?:unique )?(?P<method>[a-z][a-z0-9_]*)\((?P<columns>[a-z][a-z0-9_]*(?:, ?[a-z][a-z0-9_]*)*)\)")
NO_INDEX = "none"


def read_factors(section: Section, dialects: Collection[str], *, in_place: bool) -> tuple[Factor, ...]:
    """The factors of [factors] or [in_place], in declared order."""
    section.check_names()
    factors = tuple(Factor(name, _levels_by_dialect(section, name, dialects), in_place) for name in section.data)
    for factor in factors:
        if in_place and any(PROBED in levels for levels in factor.levels.values()):
            raise section.error(factor.name, f"{quoted(PROBED)} is for reload factors: in place, the first is the base")
    return factors


def _levels_by_dialect(section: Section, name: str, dialects: Collection[str]) -> dict[str, tuple[Level, ...]]:
    declared = section.data[name]
    if isinstance(declared, list):
        levels = {ALL: _levels(section, name, declared)}
    elif isinstance(declared, dict):
        table = section.section(name)
        for dialect in table.data:
            table.one_of("dialect", dialect, dialect, sorted(dialects))
        levels = {dialect: _levels(table, dialect, table.data[dialect]) for dialect in table.data}
    else:
        raise section.error(name, f"must be a list of levels or a table of them by dialect, got {quoted(declared)}")
    if not any(levels.values()):
        raise section.error(name, "has no levels")
    return levels


def _levels(section: Section, key: str, declared: object) -> tuple[Level, ...]:
    levels = section.typed(key, declared, list)
    seen: set[str] = set()
    for index, level in enumerate(levels):
        _check_level(section, f"{key}[{index}]", level)
        if text(level) in seen:
            raise section.error(f"{key}[{index}]", f"level {quoted(level)} stands here twice")
        seen.add(text(level))
    return tuple(levels)


def _check_level(section: Section, key: str, level: object) -> None:
    if isinstance(level, str):
        if level != PROBED and not LEVEL.fullmatch(level):
            raise section.error(key, f"{quoted(level)} is not a level: {LEVEL_RULE}")
    elif not isinstance(level, int | float) or not math.isfinite(level):
        raise section.error(key, f"must be a text, a finite number, true or false, got {quoted(level)}")


def text(level: Level) -> str:
    """A level as one types it: ``true``, ``70``, ``zlib:5``; two levels with the same text are the same level."""
    return str(level).lower() if isinstance(level, bool) else str(level)


def levels_for(factor: Factor, lineage: Iterable[str]) -> tuple[Level, ...]:
    """The levels on a dialect, by its nearest ancestor; none where the factor does not apply."""
    return next((factor.levels[name] for name in (*lineage, ALL) if name in factor.levels), ())


def all_levels(factor: Factor) -> tuple[Level, ...]:
    """Every level that is declared for some dialect, in order of appearance."""
    every = (level for levels in factor.levels.values() for level in levels if level != PROBED)
    return tuple({text(level): level for level in every}.values())


def check_levels(section: Section, factors: Iterable[Factor], levels: Mapping[str, object]) -> Levels:
    """``levels`` of [baseline] or a published figure, each of which must be declared."""
    known = {factor.name: factor for factor in factors}
    for name, level in levels.items():
        section.one_of("factor", name, name, known)
        declared = all_levels(known[name])
        if level not in declared:
            raise section.error(name, unknown("level", str(level), map(text, declared)))
    return {name: next(one for one in all_levels(known[name]) if one == level) for name, level in levels.items()}


def chosen_levels(section: Section, factors: Iterable[Factor]) -> dict[str, tuple[Level, ...]]:
    """Some of the levels of some factors: ``{ updates = [1, 2], vacuum = "none" }``, each of which must be declared."""
    known = {factor.name: factor for factor in factors}
    chosen: dict[str, tuple[Level, ...]] = {}
    for name, declared in section.data.items():
        section.one_of("factor", name, name, known)
        levels = declared if isinstance(declared, list) else [declared]
        if not levels:
            raise section.error(name, "is empty")
        chosen[name] = tuple(check_levels(section, [known[name]], {name: level})[name] for level in levels)
    return chosen


def index_parts(level: Level) -> tuple[str, tuple[str, ...]] | None:
    """``btree(c2, id)``, which may be ``unique``, as its method and columns; None where the level is no index."""
    match = INDEX.fullmatch(str(level))
    return (match["method"], tuple(re.split(", ?", match["columns"]))) if match else None


def check_indexes(root: Section, factors: Iterable[Factor], steps: Iterable[Step], columns: Iterable[Column]) -> None:
    """The levels that an index step builds must be ``none`` or an index on columns that the table has."""
    built = {step.options["factor"] for step in steps if step.kind == "index"}
    names = [column.name for column in columns]
    for factor in factors:
        if factor.name in built:
            section = root.section("in_place" if factor.in_place else "factors")
            for dialect, levels in factor.levels.items():
                key = factor.name if dialect == ALL else f"{factor.name}.{dialect}"
                for index, level in enumerate(levels):
                    _check_index(section, f"{key}[{index}]", level, names)


def _check_index(section: Section, key: str, level: Level, columns: list[str]) -> None:
    parts = index_parts(level)
    if parts is None and level != NO_INDEX:
        raise section.error(key, f'{quoted(level)} is no index; write "none" or "method(column, ...)"')
    for column in parts[1] if parts else ():
        section.one_of("column", key, column, columns)
