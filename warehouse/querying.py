"""Questions to the warehouse in SQL, read-only, and everything in it as Parquet."""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from experiments.model import UserError
from warehouse.formats import write_csv, write_json, write_table
from warehouse.loading import first_line
from warehouse.opening import open_to_read

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

Format = Literal["table", "csv", "json", "parquet"]

EXPORT_MARK = "storage-matrix-export.json"


def query(home: Path, sql: str, format: Format = "table") -> None:
    """Write the answer to one query to standard output; raises ``UserError`` for what is no query."""
    import duckdb

    with TemporaryDirectory() as scratch, closing(open_to_read(home, Path(scratch))) as connection:
        try:
            answer = _ask(connection, sql)
            if format == "parquet":
                _write_parquet(answer, Path(scratch) / "answer.parquet")
            else:
                _write_text(answer, format)
        except duckdb.Error as error:
            raise UserError(f"the warehouse refuses the query: {first_line(error)}") from error
        except BrokenPipeError:
            raise
        except OSError as error:
            raise UserError(f"cannot write standard output: {error.strerror}") from error


def _ask(connection: DuckDBPyConnection, sql: str) -> DuckDBPyRelation:
    from duckdb import StatementType

    try:
        sql.encode()
    except UnicodeEncodeError:
        raise UserError("the query is no text in this terminal's encoding; set LANG to a UTF-8 one") from None
    statements = connection.extract_statements(sql)
    if not statements:
        raise UserError('there is no query in that text; one is "from latest", for example')
    if len(statements) != 1:
        raise UserError(f"one query at a time: the text has {len(statements)} statements")
    # A PIVOT that leaves its columns to the data is several statements to DuckDB.
    if statements[0].type not in (StatementType.SELECT, StatementType.EXPLAIN, StatementType.MULTI):
        raise UserError(f"{statements[0].type.name} is not a query: the warehouse is only read; runs write it")
    return connection.sql(sql)


def _write_text(answer: DuckDBPyRelation, format: Format) -> None:
    columns, types, rows = answer.columns, [str(kind) for kind in answer.types], answer.fetchall()
    write = {"csv": write_csv, "json": write_json, "table": write_table}[format]
    write(sys.stdout, columns, types, rows)


def _write_parquet(answer: DuckDBPyRelation, scratch: Path) -> None:
    """DuckDB writes beside, where alone it may; the answer goes from there to standard output."""
    if sys.stdout.isatty():
        raise UserError("parquet is not for the terminal: redirect standard output to a file")
    answer.write_parquet(str(scratch))
    with scratch.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)


def export(home: Path, directory: Path) -> list[Path]:
    """Write every table and view to ``directory``, empty or from an earlier export, as ``<name>.parquet``."""
    former = _former_export(directory)
    try:
        with TemporaryDirectory(prefix=".export-", dir=_made(directory).parent) as scratch:
            names = _export_all(home, Path(scratch))
            (directory / EXPORT_MARK).write_text(json.dumps(sorted({*former, *names})) + "\n")
            for name in former.difference(names):
                (directory / name).unlink(missing_ok=True)
            return [(Path(scratch) / name).replace(directory / name) for name in names]
    except OSError as error:
        raise UserError(f"cannot export to {directory}: {error.strerror}; choose another directory") from error


def _export_all(home: Path, scratch: Path) -> list[str]:
    """Write all files to ``scratch``; their names."""
    relations = "select table_name from information_schema.tables where table_schema = 'main' order by table_name"
    with closing(open_to_read(home, scratch)) as connection:
        names = [name for (name,) in connection.execute(relations).fetchall()]
        for name in names:
            connection.table(name).write_parquet(str(scratch / f"{name}.parquet"))
    return [f"{name}.parquet" for name in names]


def _made(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    return directory.absolute()


def _former_export(directory: Path) -> set[str]:
    """The files of an earlier export; raises ``UserError`` where the directory holds other things."""
    mark = directory / EXPORT_MARK
    try:
        if mark.exists():
            return set(json.loads(mark.read_text()))
        if not directory.exists() or not any(directory.iterdir()):
            return set()
    except (OSError, ValueError) as error:
        raise UserError(f"cannot export to {directory}: {error}; choose another directory") from error
    raise UserError(f"cannot export to {directory}: it is not empty and no earlier export; choose another directory")
