"""Printed figures such as ``44 GB`` or ``168 ms``: the value in base units, and how precisely it was printed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

FIGURE = re.compile(r"(?P<digits>\d+(?:\.\d+)?) (?P<unit>\S+)")
PREFIXES = ("k", "M", "G", "T")

UNITS: Mapping[str, tuple[str, Decimal]] = {
    "us": ("seconds", Decimal("1e-6")),
    "ms": ("seconds", Decimal("1e-3")),
    "s": ("seconds", Decimal(1)),
    "min": ("seconds", Decimal(60)),
    "h": ("seconds", Decimal(3600)),
    "B": ("bytes", Decimal(1)),
    **{f"{prefix.upper()}iB": ("bytes", Decimal(1024) ** power) for power, prefix in enumerate(PREFIXES, 1)},
    "rows": ("rows", Decimal(1)),
    "transactions": ("count", Decimal(1)),
    "/s": ("per_second", Decimal(1)),
    "tps": ("per_second", Decimal(1)),
    "x": ("ratio", Decimal(1)),
    "%": ("ratio", Decimal("0.01")),
}


class Figure(NamedTuple):
    """A value in its base unit; ``precision`` is half a unit of the last printed digit."""

    value: float
    unit: str
    precision: float


def units(*, binary: bool) -> dict[str, tuple[str, Decimal]]:
    """The known units; kB, MB, GB and TB are powers of 1024 where ``binary`` (``pg_size_pretty``), else of 1000."""
    base = Decimal(1024 if binary else 1000)
    return {**UNITS, **{f"{prefix}B": ("bytes", base**power) for power, prefix in enumerate(PREFIXES, 1)}}


def figure(digits: str, unit: str, *, binary: bool) -> Figure:
    """Read the digits of a figure in a known unit."""
    base_unit, scale = units(binary=binary)[unit]
    decimals = len(digits.partition(".")[2])
    last_place = Decimal(1).scaleb(-decimals)
    return Figure(float(Decimal(digits) * scale), base_unit, float(last_place / 2 * scale))
