"""The rows that an expectation is judged on: read by SQL, sorted into sound rows, gaps and doubtful ones."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb

from experiments.model import Expectation
from warehouse.loading import first_line
from warehouse.validation import CheckBroken, columns_read

if TYPE_CHECKING:
    import pandas

SHOWN = 5
# A frame may have this column: a text there says why the row cannot be judged, NULL that it can.
DOUBT = "inconclusive"
# A frame may have this column too: what was seen in a row, in words, for the verdict to show even where all is well.
TOLD = "told"
# NULL is what these checks are about; to every other one it is a value that was not measured.
NULL_CHECKS = (
    "expect_column_values_to_not_be_null",
    "expect_column_values_to_be_null",
    "expect_column_proportion_of_non_null_values_to_be_between",
)
# pandas turns these into floats when a NULL is among them, and floats are exact up to here only.
WIDE_INTEGERS = ("BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT")
EXACT = 2**53


@dataclass(frozen=True)
class Frame:
    """``sound`` rows can be judged, ``gaps`` lack a value that the check reads, ``doubtful`` ones say why not."""

    promised: int
    sound: pandas.DataFrame
    gaps: pandas.DataFrame
    doubtful: pandas.DataFrame

    @property
    def present(self) -> int:
        """All rows that are there, fit or not."""
        return len(self.sound) + len(self.gaps) + len(self.doubtful)

    @property
    def told(self) -> str:
        """What the first sound rows say of themselves, each thing once."""
        return (
            "; ".join(str(text) for text in self.sound[TOLD].dropna().drop_duplicates().head(SHOWN))
            if TOLD in self.sound
            else ""
        )

    @property
    def doubts(self) -> list[str]:
        """The reasons of the doubtful rows, each once."""
        return sorted({str(reason) for reason in self.doubtful[DOUBT]}) if len(self.doubtful) else []


def promised_rows(connection: duckdb.DuckDBPyConnection, expectation: Expectation) -> int:
    """How many rows the plan promised to the expectation's frame; raises ``CheckBroken``."""
    try:
        row = connection.execute(expectation.promises).fetchone()
    except duckdb.Error as error:
        raise CheckBroken(f"promises: {first_line(error)}") from None
    value = row[0] if row else None
    if not isinstance(value, int) or value < 0:
        raise CheckBroken(f"promises must give a number of rows, not {value!r}")
    return value


def read_frame(
    connection: duckdb.DuckDBPyConnection, expectation: Expectation, frames: Mapping[str, str], promised: int
) -> Frame:
    """Run the frame's SQL and sort its rows; raises ``CheckBroken``."""
    rows = _rows(connection, expectation.frame, frames)
    nothing = rows.index.to_series().isna()
    doubtful = rows[DOUBT].notna() if DOUBT in rows else nothing
    gaps = (nothing | _without_value(rows, expectation.check)) & ~doubtful
    return Frame(promised, rows[~doubtful & ~gaps], rows[gaps], rows[doubtful])


def shown(rows: pandas.DataFrame) -> str:
    """The first rows as JSON, without what is NULL."""
    records = rows.head(SHOWN).to_dict(orient="records")
    there = [{str(name): readable(value) for name, value in record.items() if value == value} for record in records]
    kept = [{name: value for name, value in record.items() if value is not None} for record in there]
    return json.dumps(kept, ensure_ascii=False, default=str)


def readable(value: Any) -> Any:
    """A value as JSON should show it: plain, six digits at most, levels unpacked."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, float) and math.isfinite(value):
        return int(value) if value.is_integer() else float(f"{value:.6g}")
    if isinstance(value, str) and value.startswith("{"):
        with suppress(ValueError):
            return json.loads(value)
    return str(value) if isinstance(value, float) else value


def _rows(connection: duckdb.DuckDBPyConnection, name: str, frames: Mapping[str, str]) -> pandas.DataFrame:
    if name not in frames:
        raise CheckBroken(f"there is no frame {name}; the frames are {', '.join(sorted(frames)) or 'none'}")
    try:
        result = connection.execute(frames[name])
        types = {str(column): str(kind) for column, kind, *_ in result.description or ()}
        rows = result.df()
    except duckdb.Error as error:
        raise CheckBroken(f"frame {name}: {first_line(error)}") from None
    for column, kind in types.items():
        if kind in WIDE_INTEGERS and rows[column].dtype.kind == "f" and rows[column].abs().max() >= EXACT:
            raise CheckBroken(f"frame {name}: column {column} has integers beyond 2^53, compare them as text")
    return rows


def _without_value(rows: pandas.DataFrame, check: Mapping[str, Any]) -> Any:
    """Which rows lack a finite value that the check reads: Great Expectations would let them pass unseen."""
    if check.get("type") in NULL_CHECKS:
        return False
    read = rows[[column for column in columns_read(check) if column in rows]]
    return (read.isna() | read.isin([math.inf, -math.inf])).any(axis="columns")
