"""Levels that are settings of the server: [settings] says what each sets; in a [ladder] each adds to those before."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from experiments.factors import ALL, text
from experiments.model import Experiment, Factor, Level, Levels
from experiments.naming import quoted
from experiments.reading import Section
from experiments.template import UNSAFE

Settings = Mapping[str, str]
BySetting = Mapping[str, Mapping[str, Mapping[str, Settings]]]

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?")
# With these a launcher finds its server again, or keeps it to itself.
LAUNCHERS_OWN = frozenset(
    {"port", "listen_addresses", "data_directory", "config_file", "hba_file", "ident_file", "external_pid_file"}
    | {"unix_socket_directories", "unix_socket_directory", "unix_socket_permissions", "include", "include_dir"}
)


def read_settings(root: Section, factors: Iterable[Factor], dialects: Collection[str]) -> BySetting:
    """What the levels of each factor set, by factor, dialect and level; ladders are already added up."""
    known = {factor.name: factor for factor in factors}
    found: dict[str, Mapping[str, Mapping[str, Settings]]] = {}
    for section, is_ladder in ((root.section("settings"), False), (root.section("ladder"), True)):
        for name in section.data:
            section.one_of("factor", name, name, known)
            if known[name].in_place:
                raise section.error(name, "is an in-place factor; a server is set before a table is loaded")
            if name in found:
                raise section.error(name, "is in [settings] already")
            found[name] = _of_factor(section, known[name], dialects, is_ladder)
            _check_clash(section, name, found)
    return found


def _of_factor(
    section: Section, factor: Factor, dialects: Collection[str], is_ladder: bool
) -> dict[str, dict[str, Settings]]:
    declared = section.data[factor.name]
    levels = {dialect: listed for dialect, listed in factor.levels.items() if listed}
    if isinstance(declared, str) and not is_ladder:
        name = _checked_name(section, factor.name, declared)
        return {dialect: {text(one): {name: server_text(one)} for one in listed} for dialect, listed in levels.items()}
    tables = _tables(section, factor.name, levels, dialects)
    return {dialect: _of_levels(tables[dialect], listed, is_ladder) for dialect, listed in levels.items()}


def _tables(
    section: Section, name: str, levels: Mapping[str, tuple[Level, ...]], dialects: Collection[str]
) -> dict[str, Section]:
    """The table of settings for each dialect that has levels of its own: one for all of them, or one for each."""
    table = section.section(name)
    if not table.data or not table.data.keys() <= set(dialects):
        every = {text(level) for listed in levels.values() for level in listed}
        for level in table.data:
            table.one_of("level", level, level, sorted(every))
        return dict.fromkeys(levels, table)
    for dialect in table.data.keys() - levels.keys():
        raise table.error(dialect, f"the factor has no levels there; it has levels for {', '.join(levels)}")
    tables = {dialect: table.section(dialect) for dialect in levels}
    for dialect, listed in levels.items():
        for level in tables[dialect].data:
            tables[dialect].one_of("level", level, level, map(text, listed))
    return tables


def _of_levels(table: Section, levels: Iterable[Level], is_ladder: bool) -> dict[str, Settings]:
    found: dict[str, Settings] = {}
    below: Settings = {}
    for level in map(text, levels):
        if level not in table.data:
            raise table.error(level, "is missing; it must be a table of settings, {} for none")
        own = table.section(level)
        settings = {_checked_name(own, name, name): _value(own, name) for name in own.data}
        found[level] = {**below, **settings}
        below = found[level] if is_ladder else {}
    return found


def _checked_name(section: Section, key: str, name: str) -> str:
    if not NAME.fullmatch(name):
        raise section.error(key, f"{quoted(name)} is not the name of a setting")
    if wrong := problem(name):
        raise section.error(key, wrong)
    return name


def problem(name: str) -> str | None:
    """What keeps a setting of a server from being anybody's to set; None where nothing does."""
    return f"{quoted(name)} is for the launcher to set" if name.lower() in LAUNCHERS_OWN else None


def _value(section: Section, name: str) -> str:
    value = section.data[name]
    if not isinstance(value, str | int | float) or (isinstance(value, str) and (not value or UNSAFE.search(value))):
        raise section.error(name, f"must be a text, a number, true or false, got {quoted(value)}")
    return server_text(value)


def server_text(value: object) -> str:
    """A value as the configuration of a server has it: ``on``, ``512MB``, ``0.9``."""
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _check_clash(section: Section, factor: str, found: BySetting) -> None:
    """A setting that two factors set would have the value of one and the label of both."""
    names = {name: _names(tables) for name, tables in found.items()}
    for other in names.keys() - {factor}:
        for setting in sorted(names[factor] & names[other]):
            raise section.error(factor, f"sets {quoted(setting)}, which factor {quoted(other)} sets too")


def _names(tables: Mapping[str, Mapping[str, Settings]]) -> set[str]:
    return {name.lower() for levels in tables.values() for settings in levels.values() for name in settings}


def settings_of(experiment: Experiment, levels: Levels, lineage: tuple[str, ...]) -> dict[str, str]:
    """What the levels of a block set on its server; empty where they set nothing."""
    settings: dict[str, str] = {}
    for factor, tables in experiment.settings.items():
        if factor in levels:
            dialect = next(name for name in (*lineage, ALL) if name in tables)
            settings |= tables[dialect][text(levels[factor])]
    return settings
