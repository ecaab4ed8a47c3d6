"""The folder of an experiment -> Experiment, with every name in it checked; and where such folders are found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import chain
from pathlib import Path

from experiments.declaration import read_declaration, sql_uses
from experiments.identity import digest
from experiments.model import Experiment, UserError
from experiments.naming import quoted, unknown
from experiments.published import Declared, read_published
from experiments.reading import Section, read_toml
from experiments.sqlfiles import check_sql, read_sql

FILE = "experiment.toml"
NAME = re.compile(r"\w[\w-]{0,62}")


def find_experiment(name_or_path: str, home: Path, dialects: Mapping[str, tuple[str, ...]]) -> Experiment:
    """The experiment of that name in ``home`` or among the shipped, or in that folder.

    Raises ``UserError`` for an unknown name, a folder without an experiment, and a name that both places have.
    """
    own, shipped = _folders(Path(home) / "experiments"), _folders(files("experiments"))
    if name_or_path in own and name_or_path in shipped:
        raise _clash(name_or_path, own)
    if name_or_path in own:
        return load_experiment(own[name_or_path], dialects)
    if name_or_path in shipped:
        return load_experiment(shipped[name_or_path], dialects, f"experiments/{name_or_path}")
    folder = Path(name_or_path)
    if (folder / FILE).is_file():
        return load_experiment(folder, dialects)
    if len(folder.parts) > 1 or folder.is_dir():
        raise UserError(f"{name_or_path}: no {FILE} there; a path must be the folder of an experiment")
    raise UserError(unknown("experiment", name_or_path, sorted({**own, **shipped})))


def list_experiments(home: Path) -> dict[str, Traversable]:
    """The folders of all experiments in ``home`` and of the shipped ones, by name, not yet read.

    Raises ``UserError`` for a name that both places have.
    """
    own, shipped = _folders(Path(home) / "experiments"), _folders(files("experiments"))
    for name in sorted(own.keys() & shipped.keys()):
        raise _clash(name, own)
    return dict(sorted({**own, **shipped}.items()))


def _folders(place: Traversable) -> dict[str, Traversable]:
    if not place.is_dir():
        return {}
    return {folder.name: folder for folder in place.iterdir() if (folder / FILE).is_file()}


def _clash(name: str, own: Mapping[str, Traversable]) -> UserError:
    return UserError(
        f"experiment {quoted(name)} is both {own[name]} and the shipped experiments/{name}; rename your folder"
    )


def load_experiment(
    folder: Traversable, dialects: Mapping[str, tuple[str, ...]], shown: str | None = None
) -> Experiment:
    """Read and check an experiment. ``dialects`` maps each known dialect to itself and its ancestors, nearest first.

    ``shown`` is what messages call the folder. Raises ``UserError`` naming file, key, what was found, what is known.
    """
    shown = shown or str(folder)
    known = frozenset(chain(dialects, *dialects.values()))
    name = _name(folder, shown)
    root = read_toml(folder / FILE, f"{shown}/{FILE}")
    experiment = read_declaration(name, root, known)
    sql = read_sql(folder / "sql", f"{shown}/sql")
    check_sql(sql, sql_uses(root, experiment), known, f"{shown}/sql")
    study = _study(folder / "published.toml", f"{shown}/published.toml")
    declared = Declared(experiment.factors, [step.name for step in experiment.steps], experiment.profiles)
    return replace(
        experiment,
        published=read_published(study, declared),
        sql=sql,
        spec_hash=digest(root.data, study.data, sql),
    )


def _name(folder: Traversable, shown: str) -> str:
    name = folder.resolve().name if isinstance(folder, Path) else folder.name
    if not NAME.fullmatch(name):
        raise UserError(f"{shown}: {quoted(name)} cannot name an experiment; use letters, digits, _ and - (at most 63)")
    return name


def _study(file: Traversable, shown: str) -> Section:
    return read_toml(file, shown) if file.is_file() else Section(shown, "", {})
