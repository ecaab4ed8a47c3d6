"""What ``plan`` and ``run`` were asked, by whoever asks: names and numbers, and how they become a request."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.model import Request, UserError
from flows.home import VARIABLE

if TYPE_CHECKING:
    from experiments.targets import Secrets

DEFAULT_TARGETS = ("embedded", "duckdb")


@dataclass(frozen=True)
class Ask:
    """The words of a request, not yet checked. ``targets`` are names, or ``NAME=URL`` on the command line."""

    experiment: str
    targets: tuple[str, ...] = DEFAULT_TARGETS
    profile: str | None = None
    sets: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    repeats: int | None = None
    seed: int | None = None
    timeout: float | None = None


def resolve(ask: Ask, home: Path, environ: Mapping[str, str]) -> tuple[Request, Secrets]:
    """The request, and the URLs that came with it; raises ``UserError`` for the first name that is not known."""
    # Imported here: the command line's help must not wait for it.
    from experiments.request import build_request
    from experiments.spec import find_experiment
    from experiments.targets import load_targets
    from tasks.dialects.registry import lineages

    dialects = lineages()
    urls = [target for target in ask.targets if "=" in target or "://" in target]
    targets = load_targets(home, environ, urls, dialects)
    request = build_request(
        find_experiment(ask.experiment, home, dialects),
        targets.pick([target.partition("=")[0] for target in ask.targets]),
        ask.profile,
        ask.sets,
        ask.only,
        ask.repeats,
        ask.seed,
        ask.timeout,
    )
    return request, targets.secrets


def home_of_worker(home: str | None) -> Path:
    """The home of a deployment's run: a worker's working directory is no place for one, so there is no default."""
    named = home or os.environ.get(VARIABLE)
    if not named:
        raise UserError(f"no home: set the deployment's parameter home, or ${VARIABLE} for its worker")
    path = Path(named)
    if not path.is_absolute():
        raise UserError(f"home {named}: a deployment needs an absolute path")
    return path
