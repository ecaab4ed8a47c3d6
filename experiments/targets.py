"""The named places to run: shipped, the user's own, from the environment and from the command line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NoReturn

from experiments.language import DSN_SOURCES, LAUNCHERS, TARGET_KEYS
from experiments.model import Target, UserError
from experiments.naming import quoted, unknown
from experiments.reading import Section, read_toml
from experiments.settings import problem
from experiments.urls import has_password, read_url

FILE = "targets.toml"
PREFIX = "STORAGE_MATRIX_TARGET_"
NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")
NAME_RULE = "a target's name has small letters, digits, _ and -, starts with a letter and has at most 63 characters"


class Secrets(Mapping[str, str]):
    """The URLs of the command line, by target. They are for the launcher's eyes: never printed, stored or pickled."""

    def __init__(self, urls: Mapping[str, str]) -> None:
        self._urls = dict(urls)

    def __getitem__(self, target: str) -> str:
        return self._urls[target]

    def __iter__(self) -> Iterator[str]:
        return iter(self._urls)

    def __len__(self) -> int:
        return len(self._urls)

    def __repr__(self) -> str:
        return f"Secrets({len(self._urls)} hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("secrets are not serialised: hand on the names of targets instead")


@dataclass(frozen=True)
class Targets:
    """Every known target by name, and apart from them the secrets."""

    known: Mapping[str, Target]
    secrets: Secrets = field(default_factory=lambda: Secrets({}))

    def pick(self, names: Sequence[str]) -> tuple[Target, ...]:
        """The targets of these names; raises ``UserError`` for an unknown one."""
        return tuple(self._one(name) for name in names)

    def _one(self, name: str) -> Target:
        if "://" in name:
            raise UserError("--target: a URL needs a name: write NAME=URL")
        if name not in self.known:
            raise UserError(f"--target: {unknown('target', name, sorted(self.known))}")
        return self.known[name]


def load_targets(home: Path, environ: Mapping[str, str], extra: Iterable[str], dialects: Collection[str]) -> Targets:
    """Every target: shipped, of ``home``, ``STORAGE_MATRIX_TARGET_<NAME>`` and ``extra`` (``NAME=URL``).

    Raises ``UserError`` for what is not understood, and for a name that two of these places define.
    """
    arguments = _arguments(extra)
    shipped, own = files("experiments") / FILE, Path(home) / FILE
    sources: Mapping[str, Iterable[Target]] = {
        f"experiments/{FILE}": _read(shipped, f"experiments/{FILE}", dialects),
        str(own): _read(own, str(own), dialects) if own.exists() else (),
        "the environment": _from_environment(environ),
        "--target": [
            _from_url(name, url, f"--target {name}", "url_from", "argument") for name, url in arguments.items()
        ],
    }
    known: dict[str, Target] = {}
    places: dict[str, str] = {}
    for place, targets in sources.items():
        for target in targets:
            if target.name in known:
                first = places[target.name]
                raise UserError(f"target {target.name} is defined by {first} and by {place}; give one another name")
            known[target.name], places[target.name] = target, place
    return Targets(known, Secrets(arguments))


def _read(file: Traversable, shown: str, dialects: Collection[str]) -> Iterator[Target]:
    root = read_toml(file, shown)
    for name in root.data:
        if not NAME.fullmatch(name):
            raise root.error(name, f"not a name: {NAME_RULE}")
        yield _target(name, root.section(name), sorted(dialects))


def _target(name: str, section: Section, dialects: list[str]) -> Target:
    launcher = section.one_of("launcher", "launcher", section.option("launcher", TARGET_KEYS["launcher"]), LAUNCHERS)
    kind = LAUNCHERS[launcher]
    section.check_keys([*TARGET_KEYS, *kind.options])
    options = {key: section.option(key, option) for key, option in kind.options.items()}
    if launcher == "dsn":
        _check_dsn(section)
    if "settings" in options:
        _check_settings(section.section("settings"))
    dialect = section.option("dialect", TARGET_KEYS["dialect"]) or kind.dialect
    return Target(
        name,
        launcher,
        section.one_of("dialect", "dialect", dialect, dialects),
        {key: value for key, value in options.items() if value is not None},
        section.option("exclusive", TARGET_KEYS["exclusive"]),
        section.option("summary", TARGET_KEYS["summary"]),
    )


def _check_settings(section: Section) -> None:
    for name, value in section.data.items():
        if wrong := problem(name):
            raise section.error(name, wrong)
        if not isinstance(value, str | int | float):
            raise section.error(name, f"must be a text, a number, true or false, got {quoted(value)}")


def _check_dsn(section: Section) -> None:
    given = [key for key in DSN_SOURCES if key in section.data]
    if len(given) != 1:
        found = " and ".join(given) or "none"
        raise section.error("", f"needs exactly one of {', '.join(DSN_SOURCES)}, got {found}")
    if given == ["url"]:
        url = section.need("url", str)
        if has_password(url):
            advice = "put the password in PGPASSFILE or name an environment variable with url_env"
            raise section.error("url", f"holds a password; {advice}")
        try:
            launcher = read_url(url).launcher
        except ValueError as error:
            raise section.error("url", str(error)) from None
        if launcher != "dsn":
            raise section.error("url", f'is for launcher "{launcher}", not for "dsn"')


def _from_environment(environ: Mapping[str, str]) -> Iterator[Target]:
    """A target for each variable that is set; its option is the variable's name, not its value."""
    for variable, url in sorted(environ.items()):
        if variable.startswith(PREFIX) and url:
            name = variable.removeprefix(PREFIX).lower()
            _check_name(name, variable)
            yield _from_url(name, url, variable, "url_env", variable)


def _arguments(extra: Iterable[str]) -> dict[str, str]:
    """``NAME=URL`` by name. What is not understood is not repeated: it may hold a password."""
    urls: dict[str, str] = {}
    for argument in extra:
        name, separator, url = argument.partition("=")
        if not separator or "://" in name:
            raise UserError("--target: a URL needs a name: write NAME=URL")
        _check_name(name, "--target")
        if name in urls:
            raise UserError(f"--target: {name} is given twice")
        urls[name] = url
    return urls


def _check_name(name: str, where: str) -> None:
    if not NAME.fullmatch(name):
        raise UserError(f"{where}: {quoted(name)} is not a name: {NAME_RULE}")


def _from_url(name: str, url: str, where: str, key: str, value: str) -> Target:
    """A target whose option ``key`` says where its URL is to be found; a file's path is no secret and stands there."""
    try:
        launcher, dialect, path = read_url(url)
    except ValueError as error:
        raise UserError(f"{where}: {error}") from None
    options = {key: value} if path is None else {"path": path}
    return Target(name, launcher, dialect, options, summary=f"given by {where.partition(' ')[0]}")
