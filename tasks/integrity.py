"""The two promises behind every comparison: the same rows everywhere, and the storage that was asked for."""

from __future__ import annotations

from decimal import Decimal
from hashlib import md5

from experiments.model import Step
from tasks.context import CellContext, CellFailed


def check_rows(step: Step, context: CellContext, wanted: tuple[str, str] | None = None) -> None:
    """Digest the table in the server and hold it against ``wanted``: a digest, and whose it is.

    When absent, that is what the run has seen first, for this number of rows.

    Raises ``CellFailed`` where the table is empty or differs: another row set would make every comparison void.
    """
    statement = context.dialect.digest_sql(context.table, context.experiment.columns)
    with context.session.reading():
        count, *sums = (int(part or 0) for part in context.session.rows(statement)[0])
    digest = ":".join(str(part) for part in (count, *sums))
    context.record(step.name, "rows", count, "count(*) in the digest")
    context.record(step.name, "row_digest", None, "count and sums of md5 pieces, computed by the server", text=digest)
    if count == 0:
        raise CellFailed(f"step {step.name} left the table empty")
    times = context.cell.levels.get(context.experiment.times or "", 1)
    first = wanted or context.seen.setdefault(f"rows x {times}", (digest, context.cell.target))
    if first[0] != digest:
        raise CellFailed(f"step {step.name}: digest {digest} differs from {first[0]} on {first[1]}: not the same rows")


def check_storage(context: CellContext) -> None:
    """Ask the catalog whether the storage is what the levels say; raises ``CellFailed`` where it is not."""
    with context.session.reading():
        wrong = context.dialect.verify(context.session, context.table, context.experiment.columns, context.cell.levels)
    if wrong:
        raise CellFailed("storage is not what was asked for: " + "; ".join(wrong))


def result_digest(rows: list[tuple[object, ...]]) -> str:
    """An order-independent digest of a query's result: its row count and the sum of the rows' hashes."""
    texts = (repr([_canonical(value) for value in row]) for row in rows)
    return f"{len(rows)}:{sum(int.from_bytes(md5(text.encode()).digest()[:7]) for text in texts)}"


def _canonical(value: object) -> str | None:
    """One spelling for a value whichever driver fetched it: a count may come as int or as Decimal."""
    if isinstance(value, Decimal):
        value = value.normalize()
        return f"{value:f}"
    return None if value is None else str(value)
