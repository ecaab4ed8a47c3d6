"""The code of a kind of step: ``tasks.steps.<kind>`` with ``run(step, context)`` and perhaps ``unmet(context)``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from experiments.model import Step
from tasks.context import CellContext

Runner = Callable[[Step, CellContext], None]


def unmet(step: Step, context: CellContext) -> str | None:
    """What the target lacks for this step, asked before anything is created; None where nothing is known to."""
    needs = getattr(import_module(f"tasks.steps.{step.kind}"), "unmet", None)
    return needs(context) if needs is not None else None


def runner(kind: str) -> Runner:
    """The function that runs steps of ``kind``; the language has already refused kinds that do not exist."""
    return cast(Runner, import_module(f"tasks.steps.{kind}").run)
