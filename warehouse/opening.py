"""The warehouse's file: whether it is ours, whether somebody has it open, and a connection that only reads."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.model import UserError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# DuckDB's file header: eight bytes of checksum, then these.
MAGIC = b"DUCK"
MAGIC_OFFSET = 8


class Unavailable(UserError):
    """The warehouse cannot be used now, through no fault of its content."""


def warehouse_file(home: Path) -> Path:
    """Where the warehouse of a home lies."""
    return home / "warehouse.duckdb"


def log_of(file: Path) -> Path:
    """The write-ahead log that DuckDB keeps beside a file that is open to write."""
    return file.with_name(f"{file.name}.wal")


def check_unused(file: Path) -> None:
    """Raises ``Unavailable`` where a write-ahead log lies beside the file."""
    if log_of(file).exists():
        raise Unavailable(
            f"{file} is open to write elsewhere ({log_of(file).name} lies beside it): close it there; "
            f'if nobody has it open, delete both files and run "storage-matrix rebuild"'
        )


def connected(file: Path | None = None, *, read_only: bool = False) -> DuckDBPyConnection:
    """A connection to the file, or to a database in memory, that draws no progress bar on standard output."""
    import duckdb

    connection = duckdb.connect(str(file) if file else ":memory:", read_only=read_only)
    connection.execute("set enable_progress_bar = false")
    return connection


def open_to_read(home: Path, writable: Path | None = None) -> DuckDBPyConnection:
    """A read-only connection whose SQL reaches no file but those in the directory ``writable``.

    Raises ``UserError`` where there is no warehouse, or none of ours, and ``Unavailable`` where somebody writes to it.
    """
    import duckdb

    file = warehouse_file(home)
    if not file.exists():
        command = "rebuild" if any((home / "ledger").glob("*/run.json")) else "run storage_matrix"
        raise UserError(f'no warehouse in {home} yet: "storage-matrix {command}" makes one')
    _check_magic(file)
    try:
        connection = connected(file, read_only=True)
    except duckdb.Error as error:
        if "lock" in str(error) or "different configuration" in str(error):
            raise Unavailable(f"{file} is open to write elsewhere: close it there") from error
        raise _not_ours(file) from error
    try:
        connection.execute("select format from warehouse_format")
    except duckdb.Error as error:
        connection.close()
        raise _not_ours(file) from error
    if writable is not None:
        connection.execute(f"set allowed_directories = [{literal(f'{writable}/')}]")
    connection.execute("set enable_external_access = false")
    return connection


def literal(text: str) -> str:
    """A text as SQL writes it; DuckDB takes no parameters in SET and ATTACH."""
    quoted = text.replace("'", "''")
    return f"'{quoted}'"


def _check_magic(file: Path) -> None:
    try:
        with file.open("rb") as opened:
            head = opened.read(MAGIC_OFFSET + len(MAGIC))
    except OSError as error:
        raise Unavailable(f"cannot read {file}: {error.strerror}") from error
    if not head.endswith(MAGIC) or len(head) < MAGIC_OFFSET + len(MAGIC):
        raise _not_ours(file)


def _not_ours(file: Path) -> UserError:
    return UserError(f'{file} is not a storage-matrix warehouse: move it away, then run "storage-matrix rebuild"')


def check_warehouse(home: Path) -> None:
    """Raise ``UserError`` where a file of another program lies in the warehouse's place; who writes to it may."""
    if warehouse_file(home).exists():
        with suppress(Unavailable):
            open_to_read(home).close()
