"""An order-independent digest of a table's rows that every engine computes alike.

A row is the join of its columns' texts, each after its length in octets and a colon; NULL is a colon alone, so that it
differs from ''. Of the row's md5 four pieces of 28 bits are summed: any engine's integers can hold the sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from experiments.model import Column, UserError
from tasks.dialects.column_types import Kind, kind_of, scale_of

PIECES = (1, 8, 15, 22)
"""Where in the 32 hex digits of an md5 the pieces of seven digits start, counted from one."""


@dataclass(frozen=True)
class DigestSpelling:
    """How an engine says the parts of the digest. ``texts`` has the canonical text of ``{c}`` by kind of column.

    ``hashed`` is its own fast hash of ``{text}``, and ``mixed`` that of two such hashes, where it has them.
    """

    octets: str
    piece: str
    texts: Mapping[Kind, str]
    hashed: str | None = None
    mixed: str = ""


def digest_sql(spelling: DigestSpelling, table: str, columns: tuple[Column, ...]) -> str:
    """SQL for one row: the count and four sums. Raises ``UserError`` for a type whose text differs between engines."""
    texts = [spelling.texts[digestible(column)].format(c=f'"{column.name}"') for column in columns]
    row = " || ".join(f"coalesce({spelling.octets}({text}) || ':' || {text}, ':')" for text in texts)
    sums = ", ".join(f"coalesce(sum({spelling.piece.format(start=start)}), 0)" for start in PIECES)
    # Without OFFSET 0 PostgreSQL pulls the subquery up and computes the md5 of each row four times.
    return f"select count(*), {sums} from (select md5({row}) as m from {table} offset 0) as hashed"


def fingerprint_sql(spelling: DigestSpelling, table: str, columns: tuple[Column, ...]) -> str | None:
    """SQL for one row that tells tables on the same server apart, in a third of the time of the digest or less.

    It means nothing elsewhere: the hash is the engine's. Hashes of columns are mixed one into the next, since their
    mere sum would not see that two rows have swapped a value.
    """
    if spelling.hashed is None or not columns:
        return None
    texts = (spelling.texts[digestible(column)].format(c=f'"{column.name}"') for column in columns)
    first, *others = (f"coalesce({spelling.hashed.format(text=text)}, 0)" for text in texts)
    row = reduce(lambda mixed, other: spelling.mixed.format(mixed, other), others, first)
    return f"select count(*), sum(({row})::bigint) from {table}"


def digestible(column: Column) -> Kind:
    """The kind of a column whose values have one text on every engine; else ``UserError``."""
    kind = kind_of(column)
    if kind in ("float", "other") or (kind == "numeric" and scale_of(column) is None):
        raise UserError(
            f"column {column.name}: {column.type} has no text that is the same on every engine, so rows cannot be"
            " compared; use integer, numeric(p,s), text, varchar, char(n), boolean, date, timestamp, bytea or integer[]"
        )
    return kind
