"""Values as people read them: three significant digits and a unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

NOTHING = "–"


class Scale(NamedTuple):
    """A unit to print in, and how many base units it holds."""

    unit: str
    size: float


SECONDS = (Scale("h", 3600), Scale("min", 60), Scale("s", 1), Scale("ms", 1e-3), Scale("µs", 1e-6))
# Powers of 1024 under decimal names, as pg_size_pretty prints them and the studies quote them.
BYTES = tuple(Scale(unit, 1024.0**power) for power, unit in ((4, "TB"), (3, "GB"), (2, "MB"), (1, "kB"), (0, "B")))
PER_SECOND = (Scale("M/s", 1e6), Scale("k/s", 1e3), Scale("/s", 1))
SCALES: Mapping[str, tuple[Scale, ...]] = {"seconds": SECONDS, "bytes": BYTES, "per_second": PER_SECOND}
# Minutes begin at 600 s: below, a column of seconds compares better than a mixture.
LONG = 600.0


def scale_for(value: float, unit: str) -> Scale:
    """The unit in which ``value`` has digits before the point; a whole axis takes the one of its largest value."""
    if unit not in SCALES:
        return Scale("" if unit == "ratio" else unit, 1)
    size = abs(value)
    fitting = [
        scale for scale in SCALES[unit] if size >= scale.size and (scale.unit not in ("h", "min") or size >= LONG)
    ]
    return fitting[0] if fitting else (SCALES[unit][-1] if size else _base(unit))


def _base(unit: str) -> Scale:
    return next(scale for scale in SCALES[unit] if scale.size == 1)


def humanise(value: float | None, unit: str) -> str:
    """``1.87 s``, ``168 ms``, ``44.2 GB``, ``20,000``; a dash where there is no value."""
    if value is None:
        return NOTHING
    if unit in ("rows", "pages", "count"):
        return f"{value:,.0f}"
    scale = scale_for(value, unit)
    is_exact = scale.size == 1 and value == int(value)
    number = f"{value:,.0f}" if is_exact and unit in ("bytes", "per_second") else digits(value / scale.size)
    return f"{number} {scale.unit}".rstrip()


def digits(value: float) -> str:
    """Three significant digits, whole numbers too, so that a column lines up; 0 is bare."""
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 0.001:
        places = 1 if size >= 9.995 else 2 if size >= 0.9995 else 3
        return f"{value:.{places}f}"
    return f"{value:.2g}"


def times(ratio: float | None) -> str:
    """A ratio as a factor: ``3.56x``."""
    return NOTHING if ratio is None else f"{digits(ratio)}x"


def counted(count: int, one: str, many: str | None = None) -> str:
    """``1 cell``, ``3 cells``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listed(names: Sequence[str], most: int = 3, between: str = "; ") -> str:
    """The first few of ``names`` and how many more there are; cells are named with commas in them."""
    more = len(names) - most
    return between.join(names[:most]) + (f" and {more} more" if more > 0 else "")


def spelled(levels: Mapping[str, Any]) -> str:
    """Levels as a reader writes them: ``compression=lz4, fillfactor=70``."""
    return ", ".join(f"{factor}={level}" for factor, level in levels.items())
