"""Find the code of a kind of step: ``tasks.steps.<kind>`` with a function ``run(step, context)``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from experiments.model import Step
from tasks.context import CellContext

Runner = Callable[[Step, CellContext], None]


def runner(kind: str) -> Runner:
    """The function that runs steps of ``kind``; the language has already refused kinds that do not exist."""
    return cast(Runner, import_module(f"tasks.steps.{kind}").run)
