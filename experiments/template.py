"""Fill ``{{name}}`` placeholders in SQL with literals by type, so that a value can never become SQL."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from experiments.model import UserError
from experiments.naming import hint, listed, quoted

# Comments and quoted text come first, so that what stands inside them is not taken for a placeholder.
TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)
    |(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    |\{\{(?P<name>[^{}\n]*)\}\}
    |(?P<loose>\{\{)""",
    re.DOTALL | re.VERBOSE,
)
QUOTED_PLACEHOLDER = re.compile(r"\{\{ *[A-Za-z_]\w* *\}\}")
UNSAFE = re.compile(r"[\x00-\x1f\x7f\\]")


@dataclass(frozen=True)
class Fragment:
    """SQL that a dialect made; it is put in as it is."""

    sql: str


def render(text: str, values: Mapping[str, object], where: str) -> str:
    """``text`` with every placeholder filled; ``where`` is the file that a complaint names.

    Comments stay as they are. Raises ``UserError`` for a placeholder that is not in ``values``, stands inside
    quotes (it brings its own), or whose value cannot be written as a literal.
    """

    def fill(name: str) -> str:
        if name not in values:
            raise _unknown(name, values, where)
        return _sql(values[name], name, where)

    return _replace(text, fill, where)


def check(text: str, known: Iterable[str], where: str) -> None:
    """Raise the error that ``render`` would raise for placeholders that are not among ``known``."""
    known = frozenset(known)

    def look_up(name: str) -> str:
        if name not in known:
            raise _unknown(name, known, where)
        return ""

    _replace(text, look_up, where)


def _replace(text: str, fill: Callable[[str], str], where: str) -> str:
    def token(match: re.Match[str]) -> str:
        found = match.group()
        if match["comment"] or (match["text"] and not QUOTED_PLACEHOLDER.search(found)):
            return found
        if match["text"]:
            raise UserError(f"{where}: {quoted(found)}: a placeholder brings its own quotes; write it outside of them")
        if match["loose"]:
            raise UserError(f"{where}: {{{{ without its end; a placeholder is {{{{name}}}}")
        return fill(match["name"])

    return TOKEN.sub(token, text)


def _unknown(name: str, known: Iterable[str], where: str) -> UserError:
    names = sorted(known)
    placeholder = f"{{{{{name}}}}}"
    return UserError(f"{where}: unknown placeholder {placeholder}; {listed('placeholder', names)}{hint(name, names)}")


def _sql(value: object, name: str, where: str) -> str:
    if isinstance(value, Fragment):
        return value.sql
    return _literal(value, name, where)


def _literal(value: object, name: str, where: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float | Decimal) and math.isfinite(value):
        # In parentheses, a minus sign cannot meet another one and begin a comment.
        return f"({value})" if math.copysign(1, value) < 0 else f"{value}"
    if isinstance(value, str):
        return "'{}'".format(_plain(value, name, where).replace("'", "''"))
    raise UserError(
        f"{where}: {{{{{name}}}}} is {value!r}, which has no SQL literal; use a text, a number or a boolean"
    )


def _plain(text: str, name: str, where: str) -> str:
    if UNSAFE.search(text):
        raise UserError(f"{where}: {{{{{name}}}}} is {quoted(text)}: no backslash or control character is allowed")
    return text
