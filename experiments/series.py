"""The rounds of a series step: which steps they name, how often, and that these steps wait for the series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.language import Option
from experiments.model import Factor, Level, Round, Step
from experiments.naming import quoted
from experiments.reading import Section
from experiments.values import check_values

ROUND_KEYS = ("do", "times", "watch")
TIMES = Option(int, 1, "how often", minimum=0, by_name=True)


def read_rounds(section: Section, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a series with its rounds read; a round without ``watch`` has that of the series."""
    watch = section.texts("watch")
    rounds = []
    for one in section.sections("rounds"):
        one.check_keys(ROUND_KEYS)
        rounds.append(
            Round(
                do=one.texts("do"),
                times=one.option("times", TIMES),
                watch=one.texts("watch") if "watch" in one.data else watch,
            )
        )
    if not rounds:
        raise section.error("rounds", "is empty")
    return {**options, "watch": watch, "rounds": tuple(rounds)}


def check_series(
    sections: Sequence[Section], steps: Sequence[Step], factors: Sequence[Factor], parameters: Mapping[str, Level]
) -> None:
    """Raise ``UserError`` unless every named step waits for a series and every waiting step is named by one."""
    named: set[str] = set()
    for section, step in zip(sections, steps, strict=True):
        if step.kind == "series":
            if step.at == "series":
                raise section.error("at", "a series within a series")
            named |= _check_rounds(section, step, steps, factors, parameters)
    for section, step in zip(sections, steps, strict=True):
        if step.at == "series" and step.name not in named:
            raise section.error("at", f"no series names the step {quoted(step.name)}")


def _check_rounds(
    section: Section, series: Step, steps: Sequence[Step], factors: Sequence[Factor], parameters: Mapping[str, Level]
) -> set[str]:
    waits = {step.name: step.at == "series" for step in steps if step is not series}
    named: set[str] = set()
    for index, one in enumerate(series.options["rounds"]):
        where = f"rounds[{index}]"
        for key, names in (("do", one.do), ("watch", one.watch)):
            for name in names:
                if not waits[section.one_of("step", f"{where}.{key}", name, waits)]:
                    raise section.error(f"{where}.{key}", f'step {quoted(name)} needs at = "series" to run in one')
                named.add(name)
        if TIMES.names_value(one.times):
            check_values(section, f"{where}.times", str(one.times), TIMES, factors, parameters)
    return named
