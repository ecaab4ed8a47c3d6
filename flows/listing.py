"""The command ``list``: which experiments and targets there are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.model import Experiment, Level, Target, UserError
from experiments.spec import find_experiment, list_experiments
from experiments.targets import load_targets
from flows.asking import DEFAULT_TARGETS
from flows.output import print_json, standard_output
from tasks.dialects.registry import lineages

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Listed:
    """An experiment by name, or why it cannot be read: one broken folder does not hide the others."""

    name: str
    experiment: Experiment | None
    problem: str | None


def show(home: Path, *, as_json: bool) -> int:
    """Print experiments with their profiles, and targets."""
    experiments = [_read(name, home) for name in list_experiments(home)]
    targets = load_targets(home, os.environ, (), lineages()).known
    if as_json:
        print_json({"experiments": list(map(_experiment, experiments)), "targets": list(map(_target, targets.values()))})
        return 0
    console = standard_output()
    console.print(_experiment_table(experiments))
    console.print(_target_table(list(targets.values())))
    return 0


def _read(name: str, home: Path) -> Listed:
    try:
        return Listed(name, find_experiment(name, home, lineages()), None)
    except UserError as error:
        return Listed(name, None, str(error))


def _experiment(listed: Listed) -> dict[str, object]:
    if listed.experiment is None:
        return {"name": listed.name, "problem": listed.problem}
    return {
        "name": listed.name,
        "question": listed.experiment.question,
        "profiles": {name: dict(profile) for name, profile in listed.experiment.profiles.items()},
        "parameters": dict(listed.experiment.parameters),
    }


def _target(target: Target) -> dict[str, object]:
    return {
        "name": target.name,
        "launcher": target.launcher,
        "dialect": target.dialect,
        "summary": target.summary,
        "is_default": target.name in DEFAULT_TARGETS,
    }


def _experiment_table(experiments: list[Listed]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table("experiment", "question", "profiles", box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for listed in experiments:
        if listed.experiment is None:
            table.add_row(listed.name, Text(str(listed.problem), "red"))
        else:
            profiles = listed.experiment.profiles
            table.add_row(
                listed.name,
                Text(listed.experiment.question),
                Text("\n".join(f"{name} ({_settings(settings)})" for name, settings in profiles.items())),
            )
    return table


def _settings(settings: dict[str, Level]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "as declared"
