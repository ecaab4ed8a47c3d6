"""The [[expect]] tables of an experiment: a claim, how much it weighs, the frame that feeds it and its check."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import get_args

from experiments.language import Option
from experiments.model import Expectation, Severity
from experiments.naming import quoted
from experiments.reading import Section
from experiments.template import check

KEYS = ("name", "claim", "severity", "promises", "frame", "check", "source")
SEVERITY = Option(str, None, "how much a failure weighs", choices=get_args(Severity), required=True)
CHECK_TYPE = re.compile(r"expect_[a-z0-9_]+")


def read_expectations(sections: Iterable[Section], parameters: Collection[str]) -> tuple[Expectation, ...]:
    """The expectations in declared order; their SQL may name ``parameters``, and names are unique."""
    expectations: list[Expectation] = []
    for section in sections:
        one = _expectation(section, parameters)
        if one.name in {other.name for other in expectations}:
            raise section.error("name", f"a second expectation named {quoted(one.name)}")
        expectations.append(one)
    return tuple(expectations)


def _expectation(section: Section, parameters: Collection[str]) -> Expectation:
    section.check_keys(KEYS)
    promises = section.line("promises")
    check(promises, parameters, f"{section.file}: {section.path('promises')}")
    return Expectation(
        name=section.name("name"),
        claim=section.line("claim"),
        severity=section.option("severity", SEVERITY),
        frame=section.name("frame"),
        check=_check(section.section("check")),
        promises=promises,
        source=section.line("source") if "source" in section.data else None,
    )


def _check(section: Section) -> dict[str, object]:
    name = section.line("type")
    if not CHECK_TYPE.fullmatch(name):
        raise section.error("type", f"{quoted(name)} is no Great Expectations type such as expect_column_to_exist")
    return dict(section.data)
