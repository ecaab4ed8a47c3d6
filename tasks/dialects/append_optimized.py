"""Append-optimized tables of the Greenplum family: which options they take, and how the server refuses others."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from experiments.model import Levels
from tasks.dialects.levels import Codec, codec_of, encodings_of, size_of, switch_of

ORIENTATIONS = {"heap": "h", "ao_row": "a", "ao_column": "c"}
"""Levels of ``orientation``, and pg_class.relstorage of such a table up to Greenplum 6."""
LEVEL_OPTION = range(20)
"""What the option compresslevel takes before a codec is asked."""


def is_append_optimized(levels: Levels) -> bool:
    """Whether block size, compression and checksum mean anything."""
    return levels.get("orientation") in ("ao_row", "ao_column")


def blocksize_refusal(size: int, legal: Collection[int]) -> str | None:
    """Why a block of ``size`` bytes is refused, in the words of Greenplum 6."""
    if size in legal:
        return None
    lowest, highest = min(legal), max(legal)
    if lowest < size < highest:
        return f"block size must be between 8KB and 2MB and be a multiple of 8KB: Got block size {size}."
    return out_of_bounds("blocksize", size, lowest, highest)


def codec_refusal(
    codec: Codec, levels: Levels, built_in: Collection[str], bounds: Iterable[tuple[str, int, int]]
) -> str | None:
    """Why a codec is refused, in the words of Greenplum 6 and in the order in which it checks."""
    name, level = codec
    if name == "none":
        # Any level is accepted with none (regress test ao11) and means nothing.
        return None
    if name not in built_in:
        return f'unknown compresstype "{name}"'
    if name == "rle_type" and levels["orientation"] == "ao_row":
        return "rle_type cannot be used with Append Only relations row orientation"
    lowest, highest = next((low, high) for known, low, high in bounds if known == name)
    if level is None or lowest <= level <= highest:
        return None
    if level not in LEVEL_OPTION:
        return out_of_bounds("compresslevel", level, LEVEL_OPTION.start, LEVEL_OPTION.stop - 1)
    if level == 0:
        return f'compresstype "{name}" can\'t be used with compresslevel 0'
    allowed = "1" if highest == 1 else f"in the range {lowest} to {highest}"
    return f"compresslevel={level} is out of range for {name} (should be {allowed})"


def out_of_bounds(option: str, value: int, lowest: int, highest: int) -> str:
    """PostgreSQL's message and detail for a whole number."""
    return f'value {value} out of bounds for option "{option}": Valid values are between "{lowest}" and "{highest}".'


def storage_options(levels: Levels) -> dict[str, str]:
    """Storage parameters by the server's names; block sizes in bytes, since it takes no unit."""
    options: dict[str, str] = {}
    if "blocksize" in levels:
        options["blocksize"] = str(size_of("blocksize", levels["blocksize"]))
    if "compression" in levels:
        options |= codec_options(codec_of("compression", levels["compression"]))
    if "checksum" in levels:
        options["checksum"] = str(switch_of("checksum", levels["checksum"])).lower()
    return options


def codec_options(codec: Codec) -> dict[str, str]:
    """A codec as storage parameters; without a level the server takes 1."""
    level = {} if codec.level is None else {"compresslevel": str(codec.level)}
    return {"compresstype": codec.name, **level}


def column_options(levels: Levels, columns: Iterable[str]) -> dict[str, dict[str, str]]:
    """The storage parameters of each column: the table's, or its own codec in the table's blocks."""
    if levels.get("orientation") != "ao_column":
        return {}
    table = {name: value for name, value in storage_options(levels).items() if name != "checksum"}
    block = {name: value for name, value in table.items() if name == "blocksize"}
    own = encodings(levels)
    return {column: {**block, **codec_options(own[column])} if column in own else table for column in columns}


def encodings(levels: Levels) -> dict[str, Codec]:
    """The codecs that single columns are given."""
    return encodings_of("column_encoding", levels.get("column_encoding", "none"))
