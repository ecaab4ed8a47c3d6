"""The digest of a table's rows, computed by Python from the rows themselves: what every engine's SQL is held against."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from experiments.model import Column


def row_digest(rows: Iterable[tuple[Any, ...]], columns: tuple[Column, ...]) -> tuple[int, int, int, int, int]:
    """How many rows there are, and of their md5s the sums of the first, second, third and fourth seven digits."""
    count, sums = 0, [0, 0, 0, 0]
    for row in rows:
        prefixed = (_prefixed(value, column.type) for value, column in zip(row, columns, strict=True))
        hashed = hashlib.md5(b"".join(prefixed), usedforsecurity=False).hexdigest()
        count += 1
        sums = [total + int(hashed[7 * n : 7 * n + 7], 16) for n, total in enumerate(sums)]
    return count, sums[0], sums[1], sums[2], sums[3]


def _prefixed(value: Any, kind: str) -> bytes:
    if value is None:
        return b":"
    octets = _text(value, kind).encode()
    return b"%d:%s" % (len(octets), octets)


def _text(value: Any, kind: str) -> str:
    match value:
        case bool():
            return str(value).lower()
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S.%f}".rjust(26, "0")
        case date():
            return value.isoformat()
        case bytes():
            return value.hex()
        case list():
            return "{" + ",".join("NULL" if item is None else str(item) for item in value) + "}"
        case Decimal():
            digits = kind.removesuffix(")").partition(",")[2] or 0
            return f"{value:.{digits}f}"
    return str(value).rstrip(" ") if kind.startswith("char(") else str(value)
