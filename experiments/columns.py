"""The [table] of an experiment: columns of portable types, the key, and the size of a row."""

from __future__ import annotations

import re
from collections.abc import Iterable

from experiments.factors import all_levels
from experiments.language import COLUMN_TYPES
from experiments.model import Column, Factor
from experiments.naming import quoted, unknown
from experiments.reading import Section, is_a

KEYS = ("key", "row_bytes", "times", "rows_by", "columns")
TYPE = re.compile(r"(?P<name>[^()\[\]]+)(?:\((?P<numbers>\d+(?:, ?\d+)*)\))?(?:\[\])?")


def read_table(section: Section) -> tuple[tuple[Column, ...], str, int]:
    """The columns in declared order, the name of the key among them, and the bytes of a row without compression."""
    section.check_keys(KEYS)
    columns = read_columns(section.section("columns"))
    if not columns:
        raise section.error("columns", "is missing or empty; it must be a table of column types")
    key = section.one_of("column", "key", section.need("key", str), [column.name for column in columns])
    row_bytes = section.need("row_bytes", int)
    if row_bytes < 1:
        raise section.error("row_bytes", f"must be at least 1, got {row_bytes}")
    return columns, key, row_bytes


def read_times(section: Section, factors: Iterable[Factor]) -> str | None:
    """The factor whose level multiplies the parameter ``rows``, if the table has one."""
    if "times" not in section.data:
        return None
    known = {factor.name: factor for factor in factors if not factor.in_place}
    name = section.one_of("reload factor", "times", section.need("times", str), known)
    for level in all_levels(known[name]):
        if not is_a(level, int) or not isinstance(level, int) or level < 1:
            raise section.error(
                "times", f"factor {quoted(name)} has level {quoted(level)}; each must be an integer from 1"
            )
    return name


def read_rows_by(section: Section, factors: Iterable[Factor]) -> str | None:
    """The factor by whose level the rows differ; they are compared within a level then."""
    if "rows_by" not in section.data:
        return None
    known = [factor.name for factor in factors if not factor.in_place]
    return section.one_of("reload factor", "rows_by", section.need("rows_by", str), known)


def read_columns(section: Section) -> tuple[Column, ...]:
    """The columns; a type is one of ``COLUMN_TYPES`` with the numbers that it takes, or an array of it."""
    section.check_names()
    return tuple(Column(name, _type(section, name)) for name in section.data)


def _type(section: Section, name: str) -> str:
    declared = section.need(name, str)
    match = TYPE.fullmatch(declared)
    if match is None or match["name"] not in COLUMN_TYPES:
        raise section.error(name, unknown("column type", match["name"] if match else declared, COLUMN_TYPES))
    numbers = match["numbers"].count(",") + 1 if match["numbers"] else 0
    if numbers not in COLUMN_TYPES[match["name"]]:
        fitting = " or ".join(str(count) for count in COLUMN_TYPES[match["name"]])
        raise section.error(name, f"{match['name']} with {numbers} numbers in parentheses; it takes {fitting}")
    return declared
