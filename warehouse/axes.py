"""Value axes and colours that the charts of a report share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.formatting import Scale, scale_for

# Okabe and Ito's palette, the blue a little lighter: told apart by colour-blind readers, on light and on dark paper.
# Grey stands for "nothing", such as no index. Shapes say the same again.
GREY = "#8c8c8c"
PALETTE = ("#1A7FC1", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800")
SHAPES = {
    "circle": "●",
    "square": "■",
    "diamond": "◆",
    "triangle-up": "▲",
    "cross": "✚",
    "triangle-down": "▼",
    "triangle-right": "▶",
}
# From this spread on, small values would lie on top of each other on a linear axis.
WIDE_SPREAD = 12
MARGIN = 1.15
# From this spread on, ticks at 2 and 5 have no room between the powers of ten.
CROWDED = 1000


@dataclass(frozen=True)
class Look:
    """How a name is drawn, the same in every chart of a target."""

    colour: str
    shape: str

    @property
    def character(self) -> str:
        """The shape as text, for a key outside the charts."""
        return SHAPES[self.shape]


def looks(names: Sequence[str], *, with_base: bool = False) -> dict[str, Look]:
    """A look for each name; the first is grey ``with_base``, the others take the palette in order."""
    palette = ([GREY] if with_base else []) + list(PALETTE)
    kinds = list(SHAPES)
    return {
        name: Look(palette[position % len(palette)], kinds[position % len(kinds)])
        for position, name in enumerate(names)
    }


@dataclass(frozen=True)
class Axis:
    """One unit and one domain for all charts of a measure, logarithmic where the spread needs it."""

    scale: Scale
    domain: tuple[float, float]
    is_log: bool
    name: str = ""

    @classmethod
    def of(cls, values: Sequence[float], unit: str, *, from_zero: bool = False, name: str = "") -> Axis:
        """The axis that shows all ``values``; bars need it ``from_zero``, and make their own room."""
        scale = scale_for(max(map(abs, values)), unit)
        low, high = min(values) / scale.size, max(values) / scale.size
        is_log = low > 0 and high / low >= WIDE_SPREAD and not from_zero
        domain = (
            (low / MARGIN, high * MARGIN) if is_log else (min(low, 0), max(high if from_zero else high * MARGIN, 0))
        )
        return cls(scale, domain if domain[0] < domain[1] else (0, 1), is_log, name)

    @property
    def title(self) -> str:
        """What it shows where the unit does not say it, the unit, and that the axis is logarithmic."""
        return ", ".join(filter(None, (self.name, self.scale.unit, "logarithmic" if self.is_log else "")))

    def place(self, value: float) -> float:
        """Where a value lies on the axis."""
        return value / self.scale.size

    def on(self, channel: Any, field: str = "value", **more: Any) -> Any:
        """The encoding of ``field`` on a channel of altair."""
        import altair

        scale = altair.Scale(type="log" if self.is_log else "linear", domain=list(self.domain), nice=False, zero=False)
        ticks: dict[str, Any] = {"values": list(_ticks(*self.domain))} if self.is_log else {"tickCount": 5}
        axis = altair.Axis(title=self.title or None, format=",~r", **ticks)
        return channel(f"{field}:Q", scale=scale, axis=axis, **more)


def _ticks(low: float, high: float) -> Iterator[float]:
    """1, 2, 5, 10 ... within the domain; powers of ten alone where it is wide."""
    for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
        for step in (1, 2, 5) if high / low < CROWDED else (1,):
            tick = float(f"{step}e{power}")
            if low <= tick <= high:
                yield tick
