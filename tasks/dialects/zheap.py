"""zheap: PostgreSQL 12beta1 with a table access method that updates in place and keeps old versions as undo."""

from __future__ import annotations

from typing import ClassVar

from tasks.dialects.contract import SizeQuery
from tasks.dialects.facts import Fact
from tasks.dialects.postgresql import PostgreSQL

LIVE = "seen on PostgreSQL 12beta1 with zheap"


class Zheap(PostgreSQL):
    """``version()`` reads like any PostgreSQL; it is the target that says zheap."""

    name = "zheap"
    version_pattern = None
    own_facts: ClassVar[tuple[Fact, ...]] = (
        Fact("version_number", 120000, "Built on PostgreSQL 12beta1.", LIVE),
        Fact("access_methods", ("heap", "zheap"), "CREATE TABLE ... USING zheap.", LIVE),
        Fact("toast_compression", ("pglz",), "As PostgreSQL 12; the TOAST table is a zheap too.", LIVE),
        Fact("wal_compression", ("pglz",), "As PostgreSQL 12: on or off.", LIVE),
        Fact(
            "undo",
            True,
            "Old row versions lie in undo logs of the whole server, outside of every table's size.",
            "zheap: src/backend/access/zheap/README",
        ),
    )

    def is_stumble(self, message: str) -> bool:
        """Its discard worker renames undo segments while the checkpointer opens them: seen in one of eight."""
        return message.startswith("checkpoint request failed")

    def undo_sql(self) -> str | None:
        """The upper 24 bits of a position are the number of its log."""
        return (
            "select coalesce(sum(('x' || insert)::bit(64)::bigint & ((1::bigint << 40) - 1)), 0) from pg_stat_undo_logs"
        )

    def sizes(self, table: str) -> list[SizeQuery]:
        """With the undo of the whole server beside them; it is no part of the total."""
        undo = (
            "select null::text, coalesce(sum(('x' || insert)::bit(64)::bigint - ('x' || discard)::bit(64)::bigint), 0)"
            " from pg_stat_undo_logs"
        )
        return [*super().sizes(table), SizeQuery("undo_bytes", undo, "pg_stat_undo_logs: inserted, not yet discarded")]
