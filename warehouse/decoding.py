"""Dataclasses to plain JSON values and back, by their type annotations; what does not fit is told by its path."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
Decoder = Callable[[Any], Any]


class Malformed(Exception):
    """A value that does not fit its type: where it lies, and what it should have been."""

    def __init__(self, problem: str, path: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.path = path

    def __str__(self) -> str:
        return f"{self.path or 'the file'} {self.problem}"

    def below(self, name: str) -> Malformed:
        """The same, seen from one level further up."""
        separator = "" if not self.path or self.path.startswith("[") else "."
        return Malformed(self.problem, f"{name}{separator}{self.path}")


def plain(value: Any) -> Any:
    """What JSON can say: dataclasses and mappings become objects, a float that is not finite becomes null."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, Decimal):
        return plain(int(value) if value.is_finite() and value == value.to_integral_value() else float(value))
    if isinstance(value, date | datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def decode(kind: type[T], data: Any) -> T:
    """``data`` as a ``kind``; keys that it does not know are left alone. Raises ``Malformed``."""
    decoded: T = _decoder(cast(Any, kind))(data)
    return decoded


@cache
def _decoder(kind: Any) -> Decoder:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda data: data
    if is_dataclass(kind):
        return _dataclass(kind)
    if origin in (Union, UnionType):
        return _union(arguments)
    if origin is Literal:
        return _literal(arguments)
    if origin is tuple:
        return _tuple(arguments[0])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(arguments[1])
    return _scalar(kind)


def _dataclass(kind: Any) -> Decoder:
    hints = get_type_hints(kind)
    parts = [(field.name, _decoder(hints[field.name]), _is_required(field)) for field in fields(kind)]

    def decoder(data: Any) -> Any:
        if not isinstance(data, dict):
            raise Malformed("is not an object")
        values = {}
        for name, part, is_required in parts:
            if name in data:
                try:
                    values[name] = part(data[name])
                except Malformed as error:
                    raise error.below(name) from None
            elif is_required:
                raise Malformed(f'has no "{name}"')
        return kind(**values)

    return decoder


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _union(kinds: tuple[Any, ...]) -> Decoder:
    if all(kind in _SCALARS for kind in kinds):
        return _scalar(*kinds)
    (kind,) = (kind for kind in kinds if kind is not NoneType)
    part = _decoder(kind)
    return lambda data: None if data is None else part(data)


def _literal(words: tuple[Any, ...]) -> Decoder:
    def decoder(data: Any) -> Any:
        if data not in words:
            raise Malformed(f"is not one of {', '.join(map(str, words))}")
        return data

    return decoder


def _tuple(kind: Any) -> Decoder:
    part = _decoder(kind)

    def decoder(data: Any) -> Any:
        if not isinstance(data, list):
            raise Malformed("is not a list")
        items = []
        for position, item in enumerate(data):
            try:
                items.append(part(item))
            except Malformed as error:
                raise error.below(f"[{position}]") from None
        return tuple(items)

    return decoder


def _mapping(kind: Any) -> Decoder:
    part = _decoder(kind)

    def decoder(data: Any) -> Any:
        if not isinstance(data, dict):
            raise Malformed("is not an object")
        items = {}
        for key, item in data.items():
            try:
                items[key] = part(item)
            except Malformed as error:
                raise error.below(key) from None
        return items

    return decoder


_SCALARS: Mapping[Any, tuple[tuple[type, ...], str]] = {
    str: ((str,), "a text"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    bool: ((bool,), "true or false"),
    NoneType: ((NoneType,), "null"),
}


def _scalar(*kinds: Any) -> Decoder:
    # By exact type: JSON has no others, and to isinstance a bool would be an int.
    accepted = frozenset(accepted for kind in kinds for accepted in _SCALARS[kind][0])
    problem = f"is not {' or '.join(_SCALARS[kind][1] for kind in kinds)}"

    def decoder(data: Any) -> Any:
        if type(data) not in accepted:
            raise Malformed(problem)
        return data

    return decoder
