"""What the ledger's files hold besides cell results and verdicts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from experiments.model import Expectation, Factor, Level, Levels, Matrix, Published, Verdict

RunStatus = Literal["ok", "failed", "interrupted"]

# How far two readings of the same process's start time may lie apart: the system clock is stepped now and then.
START_TOLERANCE = 2.0


@dataclass(frozen=True)
class Owner:
    """The process that a run belongs to; a number alone would match another process after a while."""

    pid: int
    started: float

    @classmethod
    def this(cls) -> Owner:
        """The process that asks."""
        import psutil

        return cls(os.getpid(), psutil.Process().create_time())

    def is_alive(self) -> bool:
        """Whether that very process still runs."""
        import psutil

        try:
            return abs(psutil.Process(self.pid).create_time() - self.started) < START_TOLERANCE
        except psutil.NoSuchProcess:
            return False


@dataclass(frozen=True)
class RunTarget:
    """A target as a run knew it. ``lineage``: its dialect, then the dialect's ancestors, nearest first."""

    name: str
    launcher: str
    lineage: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """What a run set out to do: the spec, what was asked for, and the plan.

    ``frames`` has the SQL of the expectations by the frame's name, so that a run can be judged without its experiment.
    """

    run_id: str
    experiment: str
    question: str
    spec_hash: str
    baseline: Levels
    factors: tuple[Factor, ...]
    expectations: tuple[Expectation, ...]
    frames: Mapping[str, str]
    published: tuple[Published, ...]
    profile: str
    parameters: Mapping[str, Level]
    only: Mapping[str, tuple[Level, ...]]
    order_seed: int
    repeats: int | None
    timeout: float
    targets: tuple[RunTarget, ...]
    matrix: Matrix
    owner: Owner
    version: str
    started_at: str


@dataclass(frozen=True)
class Environment:
    """The circumstances on one target; the same ones have the same id in every run."""

    environment_id: str
    target: str
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Judgement:
    """What the expectations said at one time; a later judgement of the same run replaces it."""

    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True)
class Finish:
    """How and when a run ended, with seconds of wall time by part."""

    status: RunStatus
    finished_at: str
    timings: Mapping[str, float] = field(default_factory=dict)
