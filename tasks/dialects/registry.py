"""Find dialects: every class with a name in a module of this package, so that a new engine is one new file."""

from __future__ import annotations

import pkgutil
import re
from functools import cache
from importlib import import_module
from inspect import isabstract

import tasks.dialects
from experiments.model import UserError
from experiments.naming import unknown
from tasks.dialects.contract import Session
from tasks.dialects.dialect import Dialect, lineage_of


@cache
def _dialects() -> dict[str, type[Dialect]]:
    modules = [import_module(f"tasks.dialects.{info.name}") for info in pkgutil.iter_modules(tasks.dialects.__path__)]
    classes = (value for module in modules for value in vars(module).values() if isinstance(value, type))
    found = {kind.name: kind for kind in classes if issubclass(kind, Dialect) and not isabstract(kind)}
    return dict(sorted(found.items()))


def lineages() -> dict[str, tuple[str, ...]]:
    """Every known dialect with its ancestors, itself first."""
    return {name: lineage_of(kind) for name, kind in _dialects().items()}


def dialect_named(name: str) -> Dialect:
    """The dialect as its facts describe it."""
    if name not in _dialects():
        raise UserError(unknown("dialect", name, _dialects()))
    return _dialects()[name].from_facts()


def recognise(version: str) -> str:
    """The dialect of a server that answers ``select version()`` with this text: the most special that knows it."""
    matches = [
        name
        for name, kind in _dialects().items()
        if kind.version_pattern is not None and re.search(kind.version_pattern, version)
    ]
    if not matches:
        known = ", ".join(_dialects())
        raise UserError(f'no dialect knows a server that says "{version}"; known: {known}', exit_code=4)
    return max(matches, key=lambda name: len(lineages()[name]))


def probe(session: Session, declared: str | None = None) -> Dialect:
    """The dialect of the live server, probed. ``declared`` counts where the version text leaves it open.

    Raises ``UserError`` where the server is of another family than the target says.
    """
    version = str(session.value("select version()"))
    name = recognise(version)
    if declared is not None and declared not in lineages()[name]:
        if name not in dialect_named(declared).lineage:
            raise UserError(f'the target says dialect {declared}, the server says "{version}"', exit_code=4)
        name = declared
    return dialect_named(name).probe(session)
