"""Options that take their value from a factor or parameter: such a name must be known, and its values must suit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.factors import all_levels, text
from experiments.language import Option
from experiments.model import Factor, Level
from experiments.reading import Section


def check_values(
    section: Section, key: str, name: str, option: Option, factors: Sequence[Factor], parameters: Mapping[str, Level]
) -> None:
    """Raise ``UserError`` unless ``name`` is a factor or parameter all of whose values suit the option."""
    values: dict[str, Sequence[Level]] = {factor.name: all_levels(factor) for factor in factors}
    values |= {parameter: [default] for parameter, default in parameters.items()}
    section.one_of("factor or parameter", key, name, values)
    for value in values[name]:
        section.fitting(f"{key} = {name} = {text(value)}", value, option)
