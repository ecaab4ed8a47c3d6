"""The commands ``target check``, ``up`` and ``down``, and the servers that killed runs left behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.language import LAUNCHERS, Option
from experiments.model import Target, UserError
from experiments.reading import WORDS
from experiments.settings import problem
from flows.home import make_home
from tasks.launchers.place import Place
from tasks.launchers.server import Owner

if TYPE_CHECKING:
    from experiments.targets import Secrets
    from tasks.dialects.dialect import Dialect
    from tasks.launchers.service import Reach

# Said elsewhere on the page, or of no use to who reads it.
NOT_TOLD = ("version", "version_number", "probed", "run_here")


def tell_orphans(home: Path) -> None:
    """Stop the servers whose run was killed, and say so on standard error."""
    place = Place.of(home, os.environ)
    if place.root.exists():
        from tasks.launchers.reaping import reap_orphans

        for sentence in reap_orphans(place):
            print(f"storage-matrix: {sentence}", file=sys.stderr)


def check_target(home: Path, name: str, settings: Sequence[str], *, as_json: bool) -> int:
    """Reach a target and print its version and what it supports."""
    from flows.output import plain_table, print_json, standard_output
    from tasks.launchers.service import check

    target, secrets = _target(home, name, settings)
    with check(target, Place.of(home, os.environ), Owner.run(), secrets) as reach:
        dialect = _probe(target, reach)
        where = reach.server.psql_line()
    if as_json:
        told = {"target": target.name, "dialect": dialect.name, "version": reach.version, "was_up": reach.was_up}
        print_json({**told, "capabilities": _capabilities(dialect)})
        return 0
    table = plain_table("", "")
    table.show_header = False
    table.add_row("version", reach.version)
    table.add_row("state", "up" if reach.was_up else "not up; it was started for this check")
    table.add_row("dialect", dialect.name)
    for name, value in _capabilities(dialect).items():
        table.add_row(name.replace("_", " "), _in_words(value))
    standard_output().print(table)
    if reach.was_up:
        standard_output().print(where, soft_wrap=True)  # whole, to be pasted
    return 0


def start_target(home: Path, name: str, settings: Sequence[str]) -> int:
    """Start a server for the user and print how to reach it."""
    from tasks.launchers.service import up

    target, secrets = _target(home, name, settings)
    print(up(target, Place.of(make_home(home), os.environ), secrets).psql_line())
    return 0


def stop_target(home: Path, name: str) -> int:
    """Stop the user's server."""
    from tasks.launchers.service import down

    print(down(_target(home, name, ())[0], Place.of(home, os.environ)))
    return 0


def _target(home: Path, name: str, settings: Sequence[str]) -> tuple[Target, Secrets]:
    """The target with these settings, and its URL if the name came with one."""
    from experiments.targets import load_targets
    from tasks.dialects.registry import lineages

    urls = [name] if "=" in name or "://" in name else []
    targets = load_targets(home, os.environ, urls, lineages())
    target = targets.pick([name.partition("=")[0]])[0]
    return _changed(target, dict(map(_setting, settings))), targets.secrets


def _changed(target: Target, asked: Mapping[str, str]) -> Target:
    """The target with these options of its launcher; what is none of them is a setting of the server."""
    if not asked:
        return target
    known = LAUNCHERS[target.launcher].options
    if "settings" not in known:
        raise UserError(f'--set: target "{target.name}" (launcher {target.launcher}) is not started with settings')
    own = {name: option for name, option in known.items() if option.type in (int, str)}
    options: dict[str, Any] = {name: _typed(name, value, own[name]) for name, value in asked.items() if name in own}
    settings = {name: value for name, value in asked.items() if name not in own}
    for wrong in filter(None, map(problem, settings)):
        raise UserError(f"--set: {wrong}")
    if settings:
        options["settings"] = {**target.options.get("settings", {}), **settings}
    return replace(target, options={**target.options, **options}, declared=target.options)


def _typed(name: str, value: str, option: Option) -> str | int:
    if option.type is str:
        return value
    try:
        return int(value)
    except ValueError:
        raise UserError(f'--set: {name} must be {WORDS[int]}, got "{value}"') from None


def _setting(written: str) -> tuple[str, str]:
    name, separator, value = (part.strip() for part in written.partition("="))
    if not (name and separator and value):
        raise UserError(f'--set: write NAME=VALUE, such as work_mem=64MB, got "{written}"')
    return name, value


def _probe(target: Target, reach: Reach) -> Dialect:
    from tasks.dialects.registry import probe
    from tasks.session import open_session

    session = open_session(reach.server.url, Path(reach.server.data_directory or "."), timeout=60)
    try:
        return probe(session, target.dialect)
    finally:
        session.close()


def _capabilities(dialect: Dialect) -> dict[str, Any]:
    """What the live server supports, as plain data; what is empty does not apply."""
    capabilities = dialect.capabilities
    values = {field.name: _plain(getattr(capabilities, field.name)) for field in fields(capabilities)}
    return {name: value for name, value in values.items() if name not in NOT_TOLD and value not in ("", None, [], 0)}


def _plain(value: object) -> object:
    if isinstance(value, range):
        return f"{value[0]} to {value[-1]} in steps of {value.step}"
    if isinstance(value, frozenset | tuple):
        return sorted(value)
    return value


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
