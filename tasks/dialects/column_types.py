"""The portable column types of an experiment, by the kind of value that they hold."""

from __future__ import annotations

import re
from typing import Literal

from experiments.model import Column, UserError

Kind = Literal[
    "integer", "numeric", "float", "text", "char", "boolean", "date", "timestamp", "bytes", "integers", "other"
]

TYPE = re.compile(r"(?P<name>[a-z][a-z0-9_ ]*?) ?(?P<numbers>\(\d+(?:, ?\d+)?\))?(?P<array>(?:\[\])*)")
KINDS: dict[str, Kind] = {
    **dict.fromkeys(("smallint", "int2", "integer", "int", "int4", "bigint", "int8"), "integer"),
    **dict.fromkeys(("numeric", "decimal"), "numeric"),
    **dict.fromkeys(("real", "float4", "double precision", "float8", "float"), "float"),
    **dict.fromkeys(("text", "varchar", "character varying"), "text"),
    **dict.fromkeys(("char", "character", "bpchar"), "char"),
    **dict.fromkeys(("boolean", "bool"), "boolean"),
    "date": "date",
    **dict.fromkeys(("timestamp", "timestamp without time zone"), "timestamp"),
    "bytea": "bytes",
}
# Numerics can be toasted too, but their storage is MAIN and their values are short.
TOASTABLE: frozenset[Kind] = frozenset({"text", "char", "bytes", "integers"})


def kind_of(column: Column) -> Kind:
    """The kind of a column; raises ``UserError`` where its type is not the name of a type."""
    match = TYPE.fullmatch(column.type.strip().lower())
    if match is None:
        raise UserError(
            f'column {column.name}: "{column.type}" is not a type; write a name such as integer, numeric(10,2) or text'
        )
    kind = KINDS.get(match["name"], "other")
    if match["array"]:
        return "integers" if kind == "integer" else "other"
    return kind


def scale_of(column: Column) -> int | None:
    """Digits after the point of ``numeric(p, s)``; None where the type leaves them open."""
    numbers = re.search(r"\((\d+)(?:, ?(\d+))?\)", column.type)
    return int(numbers[2] or 0) if numbers else None


def toastable(columns: tuple[Column, ...]) -> list[Column]:
    """The columns whose long values TOAST compresses or moves out of line."""
    return [column for column in columns if kind_of(column) in TOASTABLE]
