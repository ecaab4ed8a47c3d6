"""TOML with its place: every complaint names the file, the key, what was found and what is known."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import Any, TypeVar

from experiments.language import Option
from experiments.model import UserError
from experiments.naming import NAME, NAME_RULE, hint, listed, quoted, unknown

T = TypeVar("T")
WORDS: Mapping[type[Any], str] = {
    str: "a text",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
}


def is_a(value: object, kind: type[Any]) -> bool:
    """Whether a TOML value has this type; true is no integer, an integer is a number."""
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, int | float) if kind is float else isinstance(value, kind)


@dataclass(frozen=True)
class Section:
    """A table of a TOML file; ``file`` and ``key`` say where it stands, as the user sees it."""

    file: str
    key: str
    data: Mapping[str, Any]

    def path(self, key: str) -> str:
        """The full key of an entry of this table; of the table itself for an empty ``key``."""
        return ".".join(part for part in (self.key, key) if part)

    def error(self, key: str, message: str) -> UserError:
        """A complaint about the entry ``key``."""
        return UserError(f"{self.file}: {self.path(key)}: {message}")

    def check_keys(self, known: Iterable[str]) -> None:
        """Refuse keys that are not ``known``."""
        known = sorted(known)
        for key in self.data:
            if key not in known:
                raise self.unknown_key(key, known)

    def unknown_key(self, key: str, known: Iterable[str], meant: Iterable[str] = ()) -> UserError:
        """The complaint about an unknown key; ``meant`` are further keys that may have been meant."""
        known = sorted(known)
        return self.error(key, f"unknown key; {listed('key', known)}{hint(key, [*known, *meant])}")

    def check_names(self) -> None:
        """Refuse keys that are no good names."""
        for key in self.data:
            if not NAME.fullmatch(key):
                raise self.error(key, f"not a name: {NAME_RULE}")

    def typed(self, key: str, value: object, kind: type[T]) -> T:
        """``value``, which must be of this type."""
        if not is_a(value, kind):
            raise self.error(key, f"must be {WORDS[kind]}, got {quoted(value)}")
        return kind(value)  # type: ignore[call-arg]

    def need(self, key: str, kind: type[T]) -> T:
        """The entry ``key``, which must be there."""
        if key not in self.data:
            raise self.error(key, f"is missing; it must be {WORDS[kind]}")
        return self.typed(key, self.data[key], kind)

    def name(self, key: str) -> str:
        """The entry ``key``, which must be a good name."""
        name = self.need(key, str)
        if not NAME.fullmatch(name):
            raise self.error(key, f"{quoted(name)} is not a name: {NAME_RULE}")
        return name

    def line(self, key: str) -> str:
        """The entry ``key``, which must be a text that says something."""
        text = self.need(key, str).strip()
        if not text:
            raise self.error(key, "is empty")
        return text

    def texts(self, key: str) -> tuple[str, ...]:
        """The entry ``key`` as texts: one, a list of them, or none when it is absent."""
        found = self.data.get(key, [])
        if isinstance(found, str):
            return (found,)
        listed = enumerate(self.typed(key, found, list))
        return tuple(self.typed(f"{key}[{index}]", text, str) for index, text in listed)

    def section(self, key: str) -> Section:
        """The table ``key``; an empty one when it is absent."""
        return Section(self.file, self.path(key), self.typed(key, self.data.get(key, {}), dict))

    def sections(self, key: str) -> tuple[Section, ...]:
        """The list of tables ``key``; empty when it is absent."""
        tables = enumerate(self.typed(key, self.data.get(key, []), list))
        return tuple(
            Section(self.file, self.path(f"{key}[{index}]"), self.typed(f"{key}[{index}]", table, dict))
            for index, table in tables
        )

    def one_of(self, noun: str, key: str, found: str, known: Iterable[str]) -> str:
        """``found``, which must be among ``known``."""
        known = list(known)
        if found not in known:
            raise self.error(key, unknown(noun, found, known))
        return found

    def option(self, key: str, option: Option) -> Any:
        """The value of an option: its default when absent, a tuple where many are given."""
        if key not in self.data and option.required:
            raise self.error(key, f"is missing; it must be {WORDS[option.type]}")
        if key not in self.data:
            return option.default
        value = self.data[key]
        if not (option.many and isinstance(value, list)):
            return self._checked(key, value, option)
        if not value:
            raise self.error(key, "is empty")
        return tuple(self._checked(f"{key}[{index}]", item, option) for index, item in enumerate(value))

    def _checked(self, key: str, found: object, option: Option) -> Any:
        if option.names_value(found):
            return found
        return self.fitting(key, found, option)

    def fitting(self, key: str, found: object, option: Option) -> Any:
        """``found`` as a value of the option itself: of its type, among its choices, not below its minimum."""
        value: Any = self.typed(key, found, option.type)
        if option.choices and value not in option.choices:
            raise self.error(key, f"must be one of {', '.join(option.choices)}, got {quoted(value)}")
        if option.minimum is not None and value < option.minimum:
            raise self.error(key, f"must be at least {option.minimum}, got {quoted(value)}")
        return value


def read_toml(file: Traversable, shown: str) -> Section:
    """A whole TOML file, which the messages call ``shown``; raises ``UserError`` where it cannot be read."""
    try:
        return Section(shown, "", tomllib.loads(file.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{shown}: not a TOML file: {error}") from None
    except OSError as error:
        raise UserError(f"{shown}: cannot be read: {error.strerror}") from None
