"""The answer to a query as a table to read, as CSV or as JSON."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, TextIO

Rows = Sequence[tuple[Any, ...]]

# A longer table is for a program: CSV, JSON and Parquet have every row.
TABLE_ROWS = 1000
WIDE = 100_000


def write_csv(file: TextIO, columns: Sequence[str], types: Sequence[str], rows: Rows) -> None:
    """With a header; NULL is an empty field, a list or struct is JSON."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_field(value) for value in row] for row in rows)


def write_json(file: TextIO, columns: Sequence[str], types: Sequence[str], rows: Rows) -> None:
    """A list of objects; JSON columns are objects in it, timestamps ISO 8601, numbers that are not finite null."""
    objects = [
        {name: _native(value, kind) for name, kind, value in zip(columns, types, row, strict=True)} for row in rows
    ]
    json.dump(objects, file, ensure_ascii=False, allow_nan=False, indent=2)
    file.write("\n")


def write_table(file: TextIO, columns: Sequence[str], types: Sequence[str], rows: Rows) -> None:
    """To read, with at most ``TABLE_ROWS`` rows; off a terminal it is as wide as it must be."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for name, value in zip(columns, rows[0] if rows else columns, strict=True):
        is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
        table.add_column(Text(name), justify="right" if is_number else "left", overflow="fold")
    for row in rows[:TABLE_ROWS]:
        table.add_row(*(Text(_shown(value)) for value in row))
    Console(file=file, width=None if file.isatty() else WIDE).print(table)
    if len(rows) > TABLE_ROWS:
        file.write(f"... and {len(rows) - TABLE_ROWS} more rows; --format csv, json or parquet has them all\n")


def _shown(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
    return str(_field(value))


def _field(value: Any) -> Any:
    if isinstance(value, list | tuple | dict):
        return json.dumps(_native(value), ensure_ascii=False)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value


def _native(value: Any, kind: str = "") -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return json.loads(value) if kind == "JSON" else value
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _native(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray):
        return [_native(item) for item in value]
    return value.isoformat() if isinstance(value, datetime | date | time) else str(value)
