"""From the ledger into DuckDB: the tables and views, and the rows of a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.metrics import METRICS
from experiments.model import UserError
from warehouse.ledger import RunLedger
from warehouse.opening import connected
from warehouse.rows import Row, Rows, Unfinished, run_rows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


@cache
def schema() -> str:
    """The SQL of all tables and views."""
    return "\n".join(files("warehouse").joinpath(name).read_text("utf-8") for name in ("schema.sql", "views.sql"))


@cache
def schema_format() -> str:
    """A digest of the schema and the metrics: a warehouse with another one is made anew from the ledger."""
    metrics = json.dumps([astuple(metric) for metric in METRICS.values()])
    return hashlib.sha256(f"{schema()}{metrics}".encode()).hexdigest()[:12]


def create_schema(connection: DuckDBPyConnection) -> None:
    """The tables, the views and what they hold before the first run."""
    connection.begin()
    connection.execute(schema())
    connection.execute("insert into warehouse_format values (?)", [schema_format()])
    for metric in METRICS.values():
        connection.execute("insert into metric values (?, ?, ?, ?, ?)", astuple(metric))
    connection.commit()


def load_run(connection: DuckDBPyConnection, ledger: RunLedger, unfinished: Unfinished) -> None:
    """Put one run in the place of what is there of it; raises ``UserError``, nothing changed, for a damaged ledger."""
    import duckdb

    rows = run_rows(ledger, unfinished)
    connection.begin()
    try:
        _store(connection, rows)
    except (duckdb.IntegrityError, duckdb.DataError, OverflowError) as error:
        connection.rollback()
        raise UserError(f"the ledger of run {ledger.run_id} does not fit the warehouse: {first_line(error)}") from error
    connection.commit()


def first_line(error: Exception) -> str:
    """What DuckDB says, without the excerpt of the SQL below it."""
    return str(error).partition("\n")[0]


def _store(connection: DuckDBPyConnection, rows: Rows) -> None:
    run = rows["run"][0]
    for table, arriving in rows.items():
        if table != "published":
            connection.execute(f"delete from {table} where run_id = ?", [run["run_id"]])
            insert(connection, table, arriving)
    _store_published(connection, run, rows["published"])


def _store_published(connection: DuckDBPyConnection, run: Row, figures: Sequence[Row]) -> None:
    """Figures belong to the experiment: those that its newest run knew, whatever the order of loading."""
    newest = connection.execute("select max(run_id) from run where experiment = ?", [run["experiment"]]).fetchone()
    if newest == (run["run_id"],):
        connection.execute("delete from published where experiment = ?", [run["experiment"]])
        insert(connection, "published", figures)


def insert(connection: DuckDBPyConnection, table: str, rows: Sequence[Row]) -> None:
    """Append rows by column name, through Arrow: row-wise inserts cost milliseconds each."""
    if not rows:
        return
    # Imported here: the command line's help must not wait for it.
    import pyarrow

    connection.register("arriving", pyarrow.Table.from_pylist(rows))
    connection.execute(f"insert into {table} by name select * from arriving")
    connection.unregister("arriving")


def run_database(directory: Path) -> DuckDBPyConnection:
    """A database in memory with this run only: judging and reporting read it, whether or not publishing is possible."""
    connection = connected()
    create_schema(connection)
    load_run(connection, RunLedger(directory), "running")
    return connection
