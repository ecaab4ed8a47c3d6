"""How levels of storage factors are spelled: sizes, codecs, switches, keys, encodings, indexes."""

from __future__ import annotations

import re
from typing import NamedTuple

from experiments.factors import index_parts, text
from experiments.model import Level, UserError

SIZE = re.compile(r"(?P<number>\d+) ?(?P<unit>B|kB|MB)?", re.IGNORECASE)
UNITS = {"b": 1, "kb": 1024, "mb": 1024 * 1024}
CODEC = re.compile(r"(?P<name>[a-z][a-z0-9_]*)(?::(?P<level>-?\d+))?")
KEY = re.compile(r"hash\((?P<columns>[a-z][a-z0-9_]*(?:, ?[a-z][a-z0-9_]*)*)\)")
ENCODING = re.compile(r"(?P<column>[a-z][a-z0-9_]*):(?P<codec>[a-z][a-z0-9_]*(?::\d+)?)")


class Codec(NamedTuple):
    """``zlib:5`` or ``zlib``; without a level the server chooses one."""

    name: str
    level: int | None


class Index(NamedTuple):
    """``btree(c2, id)`` or ``unique btree(id)``."""

    method: str
    columns: tuple[str, ...]
    is_unique: bool


def misspelled(factor: str, level: Level, form: str) -> UserError:
    """The error for a level that no engine could read."""
    return UserError(f'factor {factor}: level "{text(level)}" is not {form}')


def size_of(factor: str, level: Level) -> int:
    """Bytes of ``8kB``, ``2MB`` or ``8192``, in powers of 1024."""
    match = SIZE.fullmatch(text(level))
    if match is None:
        raise misspelled(factor, level, "a size such as 8kB or 2MB")
    return int(match["number"]) * UNITS[(match["unit"] or "b").lower()]


def codec_of(factor: str, level: Level) -> Codec:
    """The codec and its level."""
    match = CODEC.fullmatch(text(level))
    if match is None:
        raise misspelled(factor, level, "a codec such as none, zlib:5 or zstd")
    return Codec(match["name"], int(match["level"]) if match["level"] else None)


def switch_of(factor: str, level: Level) -> bool:
    """true, false, on or off."""
    switch = {"true": True, "on": True, "false": False, "off": False}.get(text(level))
    if switch is None:
        raise misspelled(factor, level, "true or false")
    return switch


def number_of(factor: str, level: Level) -> int:
    """A whole number."""
    if not re.fullmatch(r"\d+", text(level)):
        raise misspelled(factor, level, "a whole number")
    return int(text(level))


def word_of(factor: str, level: Level) -> str:
    """A plain name, such as that of an access method."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", text(level)):
        raise misspelled(factor, level, "a name of small letters, digits and _")
    return text(level)


def index_of(factor: str, level: Level) -> Index:
    """The access method of an index and its columns."""
    parts = index_parts(level)
    if parts is None:
        raise misspelled(factor, level, 'an index; write "none" or "method(column, ...)"')
    return Index(*parts, text(level).startswith("unique "))


def key_of(factor: str, level: Level) -> tuple[str, ...] | None:
    """The columns of ``hash(a, b)``; None for ``randomly``, no column for ``replicated``."""
    if level in ("randomly", "replicated"):
        return None if level == "randomly" else ()
    match = KEY.fullmatch(text(level))
    if match is None:
        raise misspelled(factor, level, "hash(column, ...), randomly or replicated")
    return tuple(re.split(", ?", match["columns"]))


def encodings_of(factor: str, level: Level) -> dict[str, Codec]:
    """The codec by column of ``c1:zstd:5, c2:rle_type:2``; none for ``none``."""
    if level == "none":
        return {}
    matches = [ENCODING.fullmatch(part) for part in re.split(", ?", text(level))]
    if None in matches:
        raise misspelled(factor, level, "column:codec[:level], ... or none")
    return {match["column"]: codec_of(factor, match["codec"]) for match in matches if match is not None}
