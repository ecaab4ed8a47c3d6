"""The exit code that scripts read: the first reason that applies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from experiments.model import Cell, CellResult, Status, Verdict
from flows.outcome import exit_code

CELL = Cell("a00000000001", "c0ffee000001", "embedded", "postgresql", {"index": "none"}, "b00000000001")


def ended(status: Status, cell_id: str = "a00000000001", attempt: int = 1) -> CellResult:
    return CellResult(replace(CELL, cell_id=cell_id), status, "", "", attempt)


def said(outcome: Any, severity: Any = "critical") -> Verdict:
    return Verdict("smaller", "AO is smaller", severity, outcome, "", "")


@pytest.mark.parametrize(
    ("results", "verdicts", "code"),
    [
        ([ended("ok")], [said("pass")], 0),
        ([ended("ok"), ended("unsupported", "a00000000002")], [said("inconclusive"), said("not_applicable")], 0),
        ([ended("ok")], [said("fail")], 1),
        ([ended("ok")], [said("fail", "warning"), said("error", "info")], 0),
        ([ended("ok")], [said("error")], 3),
        ([ended("ok"), ended("failed", "a00000000002")], [said("pass")], 3),
        ([ended("timeout")], [said("fail")], 3),
        ([ended("cancelled")], [], 3),
    ],
)
def test_the_first_reason_that_applies_decides(results: list[CellResult], verdicts: list[Verdict], code: int) -> None:
    assert exit_code(results, verdicts) == code


def test_every_attempt_at_a_cell_counts() -> None:
    assert exit_code([ended("failed"), ended("ok", attempt=2)], []) == 3
    assert exit_code([ended("ok"), ended("failed", attempt=2)], []) == 3
