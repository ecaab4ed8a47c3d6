"""Pending lists of GIN indexes: entries are put there first, and into the index in bulk by whoever fills the list."""

from __future__ import annotations

from experiments.factors import index_parts
from experiments.model import Level, Levels
from tasks.dialects.levels import size_of, switch_of

LIMITS = range(64, 2147483648)
"""gin_pending_list_limit in kB: https://www.postgresql.org/docs/18/gin.html#GIN-FAST-UPDATE"""


def is_gin(levels: Levels) -> bool:
    """Whether the index of these levels is one."""
    parts = index_parts(levels.get("index", ""))
    return parts is not None and parts[0] == "gin"


def has_pending_list(levels: Levels) -> bool:
    """Whether new entries go to a list first, as they do unless one says otherwise."""
    return is_gin(levels) and switch_of("fastupdate", levels.get("fastupdate", True))


def limit_in_kilobytes(level: Level) -> int:
    """The level ``4MB`` as the storage parameter takes it, without a unit."""
    return size_of("gin_pending_list_limit", level) // 1024


def limit_refusal(level: Level) -> str | None:
    """Why a limit is refused, in the words of the server."""
    limit = limit_in_kilobytes(level)
    if limit in LIMITS:
        return None
    bounds = f'Valid values are between "{LIMITS.start}" and "{LIMITS.stop - 1}".'
    return f'value {limit} out of bounds for option "gin_pending_list_limit": {bounds}'


def index_options(levels: Levels) -> dict[str, str]:
    """Storage parameters of the index by name."""
    options: dict[str, str] = {}
    if is_gin(levels) and "fastupdate" in levels:
        options["fastupdate"] = "on" if switch_of("fastupdate", levels["fastupdate"]) else "off"
    if has_pending_list(levels) and "gin_pending_list_limit" in levels:
        options["gin_pending_list_limit"] = str(limit_in_kilobytes(levels["gin_pending_list_limit"]))
    return options
