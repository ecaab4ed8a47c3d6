"""The metrics that a step may record: unit, better direction, and the floor below which nothing differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Unit = Literal["seconds", "bytes", "rows", "per_second", "ratio", "pages", "count", "text"]
Direction = Literal["lower", "higher", "none"]


@dataclass(frozen=True)
class Metric:
    """One metric. ``floor`` is in its unit: two values closer than that are the same as far as we can tell."""

    name: str
    unit: Unit
    direction: Direction
    floor: float
    description: str


_PAGE = 8192.0
_TIMER = 0.001

_DECLARED = (
    Metric("load_time", "seconds", "lower", _TIMER, "Load until durable: through COMMIT and CHECKPOINT"),
    Metric("commit_time", "seconds", "lower", _TIMER, "Load through COMMIT; what is left to a checkpoint is not in it"),
    Metric("query_time", "seconds", "lower", _TIMER, "One query, from sending it to its last row, by the client"),
    Metric("first_query_time", "seconds", "lower", _TIMER, "First run of a query after a change: it sets hint bits"),
    Metric("execution_time", "seconds", "lower", _TIMER, "One query by the server's clock: EXPLAIN ANALYZE, apart"),
    Metric("index_build_time", "seconds", "lower", _TIMER, "CREATE INDEX through COMMIT"),
    Metric("index_durable_time", "seconds", "lower", _TIMER, "CREATE INDEX until durable: through CHECKPOINT"),
    Metric("vacuum_time", "seconds", "lower", _TIMER, "VACUUM, or the wait for autovacuum to have been there"),
    Metric("statement_time", "seconds", "lower", _TIMER, "A statement through COMMIT"),
    Metric("update_time", "seconds", "lower", _TIMER, "A statement that changes rows, through COMMIT"),
    Metric("create_time", "seconds", "lower", _TIMER, "Making a family of tables, in batches"),
    Metric("analyze_time", "seconds", "lower", _TIMER, "Gathering statistics"),
    Metric("cleanup_time", "seconds", "lower", _TIMER, "Flushing the pending lists of GIN indexes"),
    Metric("total_bytes", "bytes", "lower", _PAGE, "Table, TOAST, indexes, maps and auxiliary relations together"),
    Metric("table_bytes", "bytes", "lower", _PAGE, "Main data of the table alone"),
    Metric("toast_bytes", "bytes", "lower", _PAGE, "TOAST table with its index"),
    Metric("index_bytes", "bytes", "lower", _PAGE, "All indexes of the table"),
    Metric("auxiliary_bytes", "bytes", "lower", _PAGE, "Segment tables, block directory and the like of AO tables"),
    Metric("undo_bytes", "bytes", "lower", _PAGE, "Undo log, on engines that keep one"),
    Metric("free_bytes", "bytes", "none", _PAGE, "Free space inside the table's pages"),
    Metric("reusable_bytes", "bytes", "none", _PAGE, "Free space that the free-space map offers to new rows"),
    Metric("dead_bytes", "bytes", "lower", _PAGE, "Space of dead tuples that nothing has pruned yet"),
    Metric("map_bytes", "bytes", "lower", _PAGE, "Of the auxiliary bytes: free-space map and visibility map"),
    Metric("aoseg_bytes", "bytes", "lower", _PAGE, "Of the auxiliary bytes: the table of segment files"),
    Metric("visimap_bytes", "bytes", "lower", _PAGE, "Of the auxiliary bytes: the visibility map of an AO table"),
    Metric("block_directory_bytes", "bytes", "lower", _PAGE, "Of the auxiliary bytes: the block directory"),
    Metric("column_bytes", "bytes", "lower", 1.0, "Mean stored size of one value of a column (pg_column_size)"),
    Metric("value_bytes", "bytes", "none", 1.0, "Mean size of one value of that column as it is (octet_length)"),
    Metric("wal_bytes", "bytes", "lower", _PAGE, "WAL written, by insert position, summed over all nodes"),
    Metric("wal_full_page_images", "pages", "lower", 1.0, "Full-page images in that WAL"),
    Metric("read_bytes", "bytes", "lower", _PAGE, "Bytes that the server's processes read from storage"),
    Metric("write_bytes", "bytes", "lower", _PAGE, "Bytes that the server's processes wrote to storage"),
    Metric("cpu_time", "seconds", "lower", 0.01, "CPU seconds of the server's processes, user and system"),
    Metric("file_bytes", "bytes", "none", 1.0, "Size of the file that a COPY reads"),
    Metric("file_digest", "text", "none", 0.0, "Order-independent digest of the rows in that file"),
    Metric("rows", "rows", "none", 0.0, "Rows of the table"),
    Metric("row_digest", "text", "none", 0.0, "Order-independent digest of the table's rows"),
    Metric("rows_per_page", "rows", "higher", 0.0, "Rows on a page that a load has filled"),
    Metric("result_rows", "rows", "none", 0.0, "Rows of a query's result"),
    Metric("result_digest", "text", "none", 0.0, "Order-independent digest of a query's result"),
    Metric("plan_nodes", "text", "none", 0.0, "Names of the plan's nodes"),
    Metric("optimizer", "text", "none", 0.0, "The optimizer that made the plan"),
    Metric("slice_memory", "bytes", "lower", 1024.0, "Most executor memory of a process in any slice of the plan"),
    Metric("scan_rows", "rows", "none", 0.0, "Rows that the lowest scan of the plan gave on a segment"),
    Metric("scan_time", "seconds", "lower", _TIMER, "Until a segment's part of that scan was done"),
    Metric("pages_accessed", "pages", "lower", 1.0, "Pages of table and index that a query touched"),
    Metric("compression_ratio", "ratio", "higher", 0.01, "Uncompressed over compressed size, as the engine reports it"),
    Metric("skew", "ratio", "lower", 0.01, "Table bytes: largest node over the mean of all nodes, less one"),
    Metric("rows_per_second", "per_second", "higher", 1.0, "Rows loaded per second of load_time"),
    Metric("bytes_per_second", "per_second", "higher", 1.0, "Bytes of input loaded per second of load_time"),
    Metric("tps", "per_second", "higher", 1.0, "Transactions per second"),
    Metric("tps_including_cleanup", "per_second", "higher", 1.0, "Transactions per second, cleanup_time counted too"),
    Metric("latency_mean", "seconds", "lower", 0.0001, "Mean latency of a transaction"),
    Metric("latency_stddev", "seconds", "lower", 0.0001, "Standard deviation of the latency of a transaction"),
    Metric("command_latency", "seconds", "lower", 0.0001, "Mean latency of one command of a pgbench script"),
    Metric("connection_time", "seconds", "lower", _TIMER, "Connecting the clients of pgbench"),
    Metric("tps_including_connections", "per_second", "higher", 1.0, "Transactions per second, connecting counted too"),
    Metric("transactions", "count", "higher", 0.0, "Transactions that pgbench counts as processed"),
    Metric("failed_transactions", "count", "lower", 0.0, "Transactions that ended in an error, retries included"),
    Metric("retried_transactions", "count", "lower", 0.0, "Transactions that pgbench had to try again"),
    Metric("skipped_transactions", "count", "lower", 0.0, "Transactions that pgbench did not begin, being late"),
    Metric("failed_share", "ratio", "lower", 0.0, "Failed transactions among all"),
    Metric("dead_tuples", "rows", "lower", 1.0, "Dead tuples in the table; of pruned ones only a line pointer is left"),
    Metric("counted_dead_tuples", "rows", "lower", 1.0, "Dead tuples as the server has counted them, for autovacuum"),
    Metric("all_visible_pages", "pages", "none", 1.0, "Pages marked all-visible"),
    Metric("pending_pages", "pages", "lower", 1.0, "Pages in the pending lists of GIN indexes"),
    Metric("pending_tuples", "rows", "lower", 1.0, "Rows whose entries are in the pending lists of GIN indexes"),
    Metric("longest_pending_list", "pages", "lower", 1.0, "Pages in the longest of the pending lists"),
    Metric("action", "text", "none", 0.0, "What a round of a series did to the table"),
    Metric("canary_cpu_time", "seconds", "none", 0.01, "Fixed CPU work beside the block; drift is a noisy host"),
    Metric("canary_disk_time", "seconds", "none", 0.01, "Fixed synced writing beside the block; drift is a noisy disk"),
)

METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _DECLARED}
