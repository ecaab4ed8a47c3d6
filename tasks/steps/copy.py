"""COPY a file of rows into the emptied table, durably, by the server itself or from the client."""

from __future__ import annotations

from collections.abc import Callable

from experiments.model import Step
from tasks.context import CellContext, CellUnsupported
from tasks.datafiles import RowFile
from tasks.dialects.quoting import literal
from tasks.errors import StatementFailed
from tasks.integrity import check_rows, check_storage

METHOD = "COPY {}, file {} the page cache, {}"


def run(step: Step, context: CellContext) -> None:
    """Time the COPY to its commit and on through CHECKPOINT, again and again; the rows must be those of the file."""
    file = context.file(step.options["file"])
    copy = _copy(step, context, file)
    where = "in" if file.warm() else "larger than"
    method = METHOD.format("from a file" if step.options["via"] == "server" else "from stdin", where, "{}")
    for repetition in range(1, (context.repeats or step.options["repeats"]) + 1):
        context.session.execute(context.dialect.truncate_sql(context.table))
        context.checkpoint()
        with context.costs(step.name, repetition):
            committed = _in_transaction(context, copy) if step.options["truncate"] == "inside" else copy()
            durable = committed + context.checkpoint()
        context.judge_wal(step.name, durable, repetition)
        _record(step, context, file, method, committed, durable, repetition)
    _check(step, context, file)


def _copy(step: Step, context: CellContext, file: RowFile) -> Callable[[], float]:
    """What loads the table and gives the seconds that it took."""
    table, session = context.table, context.session
    if step.options["via"] == "client":
        if not context.dialect.capabilities.can_copy:
            raise CellUnsupported(f"{context.dialect.name} has no COPY FROM STDIN")
        statement = context.dialect.copy_sql(table, "stdin", file.format)
        return lambda: session.send(statement, file.path)
    if file.exchange is None:
        raise CellUnsupported('via = "server" needs a server that we launched, to give it a file that it can read')
    statement = context.dialect.copy_sql(table, literal(str(file.server_path)), file.format)
    return lambda: session.timed(statement)[1]


def _in_transaction(context: CellContext, copy: Callable[[], float]) -> float:
    """TRUNCATE and COPY in one transaction: a server that logs little can tell that nobody needs the old rows."""
    session = context.session
    seconds = session.timed("begin")[1]
    try:
        seconds += session.timed(context.dialect.truncate_sql(context.table))[1]
        seconds += copy()
        return seconds + session.timed("commit")[1]
    except StatementFailed:
        session.execute("rollback")
        raise


def _record(
    step: Step, context: CellContext, file: RowFile, method: str, committed: float, durable: float, repetition: int
) -> None:
    for metric, seconds, until in (("commit_time", committed, "to commit"), ("load_time", durable, "to checkpoint")):
        context.record(step.name, metric, seconds, method.format(until), repetition=repetition, clock="client")
    for metric, amount in (("rows_per_second", file.rows), ("bytes_per_second", file.bytes)):
        context.record(step.name, metric, amount / durable, "of the file, by load_time", repetition=repetition)


def _check(step: Step, context: CellContext, file: RowFile) -> None:
    context.record(step.name, "file_bytes", file.bytes, "size of the file")
    context.record(step.name, "file_digest", None, "of the rows that DuckDB reads from the file", text=file.digest)
    check_rows(step, context, (file.digest, f"the file {file.path}"))
    check_storage(context)
