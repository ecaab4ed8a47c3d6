"""The command ``list``: which experiments and targets there are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.model import Experiment, Target, UserError
from experiments.spec import find_experiment, list_experiments
from experiments.targets import load_targets
from flows.asking import DEFAULT_TARGETS
from flows.output import plain_table, print_json, standard_output
from tasks.dialects.registry import lineages
from warehouse.formatting import spelled

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Found:
    """An experiment by name, or why it cannot be read: one broken folder does not hide the others."""

    name: str
    experiment: Experiment | None
    problem: str = ""


def show(home: Path, *, as_json: bool) -> int:
    """Print experiments with their profiles, and targets."""
    experiments = [_read(name, home) for name in list_experiments(home)]
    targets = load_targets(home, os.environ, (), lineages()).known.values()
    if as_json:
        print_json({"experiments": [_as_data(found) for found in experiments], "targets": [*map(_target, targets)]})
        return 0
    console = standard_output()
    for table in (_experiments(experiments), _profiles(experiments), _targets(targets)):
        console.print(table)
        console.print()
    return 0


def _read(name: str, home: Path) -> Found:
    try:
        return Found(name, find_experiment(name, home, lineages()))
    except UserError as error:
        return Found(name, None, str(error))


def _as_data(found: Found) -> dict[str, object]:
    experiment = found.experiment
    if experiment is None:
        return {"name": found.name, "problem": found.problem}
    return {
        "name": found.name,
        "question": experiment.question,
        "profiles": experiment.profiles,
        "parameters": experiment.parameters,
    }


def _target(target: Target) -> dict[str, object]:
    return {
        "name": target.name,
        "launcher": target.launcher,
        "dialect": target.dialect,
        "summary": target.summary,
        "is_default": target.name in DEFAULT_TARGETS,
    }


def _experiments(experiments: Iterable[Found]) -> Table:
    table = plain_table("experiment", "question")
    for found in experiments:
        if found.experiment is None:
            table.add_row(found.name, found.problem, style="red")
        else:
            table.add_row(found.name, found.experiment.question)
    return table


def _profiles(experiments: Iterable[Found]) -> Table:
    """The first profile of an experiment is its default."""
    table = plain_table("experiment", "profile", "parameters")
    for found in experiments:
        for name, parameters in found.experiment.profiles.items() if found.experiment else ():
            table.add_row(found.name, name, spelled(parameters))
    return table


def _targets(targets: Iterable[Target]) -> Table:
    table = plain_table("target", "dialect", "")
    for target in targets:
        by_default = "; used by default" if target.name in DEFAULT_TARGETS else ""
        table.add_row(target.name, target.dialect, f"{target.summary}{by_default}")
    return table
