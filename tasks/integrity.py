"""The two promises behind every comparison: the same rows everywhere, and the storage that was asked for."""

from __future__ import annotations

from decimal import Decimal
from hashlib import md5

from experiments.model import Step
from tasks.context import CellContext, CellFailed

DIGEST = "count and sums of md5 pieces, computed by the server"
FINGERPRINT = "that of a table with the same fingerprint, by the server's own hash of all rows"


def check_rows(step: Step, context: CellContext, wanted: tuple[str, str] | None = None) -> None:
    """Digest the table in the server and hold it against ``wanted``: a digest, and whose it is.

    When absent, that is what the run has seen first, for this number and this kind of rows.

    Raises ``CellFailed`` where the table is empty or differs: another row set would make every comparison void.
    """
    with context.scanning(all_rows=True):
        digest, method = _digest(context)
    count = int(digest.partition(":")[0])
    context.record(step.name, "rows", count, "count(*) in the digest")
    context.record(step.name, "row_digest", None, method, text=digest)
    if count == 0:
        raise CellFailed("the table is empty after it")
    experiment, levels = context.experiment, context.cell.levels
    rows = f"{levels.get(experiment.rows_by or '', 'rows')} x {levels.get(experiment.times or '', 1)}"
    first = wanted or context.seen.setdefault(rows, (digest, context.cell.target))
    if first[0] != digest:
        raise CellFailed(f"digest {digest} differs from {first[0]} on {first[1]}: not the same rows")


def _digest(context: CellContext) -> tuple[str, str]:
    """The digest of the table, and how it was found: rows whose fingerprint this server has shown are known rows."""
    columns, fingerprint = context.experiment.columns, None
    if (statement := context.dialect.fingerprint_sql(context.table, columns)) is not None:
        fingerprint = f"fingerprint on {context.cell.target}: {_joined(context.session.rows(statement)[0])}"
        if fingerprint in context.seen:
            return context.seen[fingerprint][0], FINGERPRINT
    digest = _joined(context.session.rows(context.dialect.digest_sql(context.table, columns))[0])
    if fingerprint is not None:
        context.seen[fingerprint] = (digest, context.cell.target)
    return digest, DIGEST


def _joined(row: tuple[object, ...]) -> str:
    """Numbers of whatever type as one text; a sum over no rows is NULL."""
    return ":".join(str(int(str(part or 0))) for part in row)


def check_storage(context: CellContext) -> None:
    """Ask the catalog whether the storage is what the levels say; raises ``CellFailed`` where it is not."""
    with context.session.lightly():
        wrong = context.dialect.verify(context.session, context.table, context.experiment.columns, context.cell.levels)
    if wrong:
        raise CellFailed("storage is not what was asked for: " + "; ".join(wrong))


def result_digest(rows: list[tuple[object, ...]]) -> str:
    """An order-independent digest of a query's result: its row count, and a hash of its rows in sorted order."""
    texts = sorted(repr([_canonical(value) for value in row]) for row in rows)
    return f"{len(rows)}:{md5(chr(10).join(texts).encode()).hexdigest()}"


def _canonical(value: object) -> str | None:
    """One spelling for a value whichever driver fetched it: a count may come as int or as Decimal."""
    if value is None or isinstance(value, str):
        return value
    return f"{value.normalize():f}" if isinstance(value, Decimal) else str(value)
