"""DuckDB's codecs: which columns a level of ``compression`` is given to, and in which blocks it fits."""

from __future__ import annotations

import re
from collections.abc import Mapping

from experiments.model import Column, Levels
from tasks.dialects.column_types import Kind, kind_of
from tasks.dialects.levels import size_of

DEFAULT_BLOCK = 262144
STRINGS: frozenset[Kind] = frozenset({"text", "char", "bytes"})
NUMBERS: frozenset[Kind] = frozenset({"integer", "numeric", "boolean", "date", "timestamp"})
CODEC_KINDS: Mapping[str, frozenset[Kind]] = {
    "none": STRINGS | NUMBERS | {"float", "integers"},
    "auto": frozenset(),
    "zstd": STRINGS,
    "dict_fsst": STRINGS,
    "bitpacking": NUMBERS,
    "rle": NUMBERS,
}
"""The kinds of column that each level is given to; the other columns are left to DuckDB."""
WIDTHS = {"boolean": 1, "bool": 1, "smallint": 2, "int2": 2, "integer": 4, "int": 4, "int4": 4, "date": 4}
DECIMAL_WIDTHS = ((4, 2), (9, 4), (18, 8), (38, 16))
"""Digits of a decimal, and the bytes of the integer that holds them."""
SMALLEST_BITPACKED = 8192
"""Bytes of block for each byte of a value, below which bitpacking is silently ignored (seen on 2.0.1)."""


def codec_for(column: Column, levels: Levels) -> str | None:
    """The codec that a column is told to use, by DuckDB's name for it; None leaves it to DuckDB."""
    level = str(levels.get("compression", "auto"))
    if kind_of(column) not in CODEC_KINDS[level] or (level == "bitpacking" and not can_be_bitpacked(column, levels)):
        return None
    return "uncompressed" if level == "none" else level


def can_be_bitpacked(column: Column, levels: Levels) -> bool:
    """Whether blocks are large enough for values of that width."""
    return block_size(levels) >= SMALLEST_BITPACKED * _width(column)


def block_size(levels: Levels) -> int:
    """Bytes of a block of the file."""
    return size_of("blocksize", levels["blocksize"]) if "blocksize" in levels else DEFAULT_BLOCK


def _width(column: Column) -> int:
    """Bytes of a value; bigint and timestamp have 8, and a decimal as many as its digits need."""
    digits = re.search(r"\((\d+)", column.type)
    if kind_of(column) == "numeric" and digits:
        return next(width for most, width in DECIMAL_WIDTHS if int(digits[1]) <= most)
    return WIDTHS.get(column.type.strip().lower(), 8)
