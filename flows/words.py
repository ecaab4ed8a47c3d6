"""How the command line writes cells and times for people."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.factors import text
from experiments.model import Cell, Level


def levels_in_words(levels: Mapping[str, Level]) -> str:
    """The levels without their factors' names, as the study's table has them: ``ao_row 8kB zlib:5``."""
    return " ".join(text(level) for level in levels.values())


def cell_in_words(cell: Cell) -> str:
    """``embedded heap 100 btree(c2)``; the replicate only where there is more than one."""
    if cell.role == "noop":
        return f"{cell.target} no-op (our own overhead)"
    again = f" (replicate {cell.replicate})" if cell.replicate > 1 else ""
    return f"{cell.target} {levels_in_words(cell.levels)}{again}"


def duration(seconds: float) -> str:
    """``0.4 s``, ``31 s``, ``2 min 05 s``, ``1 h 10 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
