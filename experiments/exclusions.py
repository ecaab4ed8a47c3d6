"""[[exclude]]: combinations of levels that the plan leaves out, so that it need not be the product of everything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from experiments.factors import chosen_levels, text
from experiments.model import Factor, Level, Levels
from experiments.reading import Section

Exclusion = Mapping[str, tuple[Level, ...]]


def read_exclusions(sections: Iterable[Section], factors: tuple[Factor, ...]) -> tuple[Exclusion, ...]:
    """One exclusion per table: each factor that it names with the level or levels that meet there."""
    return tuple(_exclusion(section, factors) for section in sections)


def _exclusion(section: Section, factors: tuple[Factor, ...]) -> Exclusion:
    if not section.data:
        raise section.error("", "names no factor")
    return chosen_levels(section, factors)


def is_excluded(levels: Levels, exclusions: Iterable[Exclusion]) -> bool:
    """Whether some exclusion has all of its factors at one of its levels here."""
    return any(
        all(name in levels and text(levels[name]) in map(text, chosen) for name, chosen in exclusion.items())
        for exclusion in exclusions
    )
