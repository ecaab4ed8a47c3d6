"""What the catalogs of a Greenplum cluster say about a table: its partitions, distribution, encodings and sizes."""

from __future__ import annotations

from collections.abc import Mapping

from tasks.dialects.catalog import option_mismatches, regclass
from tasks.dialects.contract import Session, SizeQuery

PARTITIONS = (
    "select parchildrelid from pg_partition_rule r join pg_partition p on p.oid = r.paroid"
    " where not p.paristemplate and p.parrelid = {oid}"
)
"""The partitions of a table on all levels, up to Greenplum 6."""
PARTITION_TREE = "select relid from pg_partition_tree({oid}) where relid <> {oid}"
"""The same since Greenplum 7."""

AUXILIARY = {
    "aoseg_bytes": ("segrelid", "pg_total_relation_size of the segment file table (pg_aoseg)"),
    "visimap_bytes": ("visimaprelid", "pg_total_relation_size of the visibility map (pg_aovisimap)"),
    "block_directory_bytes": ("blkdirrelid", "pg_total_relation_size of the block directory (pg_aoblkdir)"),
}
"""The auxiliary relations of an append-optimized table: their columns of pg_appendonly."""
NO_RATIO = "the server says -1: it knows no ratio of an empty or partitioned table"


def partitions(session: Session, table: str, sql: str) -> list[str]:
    """The leaves and inner nodes below a table, by name."""
    found = session.rows(f"select p.oid::regclass::text from ({sql.format(oid=regclass(table))}) as p(oid) order by 1")
    return [str(row[0]) for row in found]


def distribution_of(session: Session, table: str) -> str:
    """The distribution clause of a table, as we spell it."""
    return str(session.value(f"select pg_get_table_distributedby({regclass(table)})")).lower().replace('"', "")


def appendonly_options(session: Session, table: str) -> dict[str, str]:
    """The storage parameters that count, given or not, up to Greenplum 6."""
    names = ("blocksize", "compresstype", "compresslevel", "checksum")
    rows = session.rows(f"select {', '.join(names)} from pg_appendonly where relid = {regclass(table)}")
    return {name: str(value).lower() for row in rows for name, value in zip(names, row, strict=True)}


def default_options(session: Session) -> dict[str, str]:
    """What the session gives to append-optimized tables whose clause leaves it open."""
    told = str(session.value("select current_setting('gp_default_storage_options')"))
    options = dict(option.split("=", 1) for option in told.split(",") if "=" in option)
    return {name: value for name, value in options.items() if name in ("blocksize", "checksum")}


def encoding_mismatches(session: Session, table: str, asked: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Where the encoding of a column is not the one ``asked`` for by its name."""
    rows = session.rows(
        "select attname, unnest(e.attoptions) from pg_attribute_encoding e"
        " join pg_attribute a on a.attrelid = e.attrelid and a.attnum = e.attnum"
        f" where e.attrelid = {regclass(table)}"
    )
    found: dict[str, dict[str, str]] = {}
    for column, option in rows:
        name, _, value = str(option).partition("=")
        found.setdefault(column, {})[name] = value
    return [
        f"column {column}: {mismatch}"
        for column, options in asked.items()
        for mismatch in option_mismatches(found.get(column, {}), options)
    ]


def sizes(table: str, partitions: str) -> list[SizeQuery]:
    """The table and its partitions together. Asked on the coordinator, the functions sum over it and the primaries.

    The last queries are parts of ``auxiliary_bytes`` and what only append-optimized tables have: for a heap no row.
    """
    oid = regclass(table)
    members = f"any (array(select {oid}::oid union all {partitions.format(oid=oid)}))"

    def whole(metric: str, expression: str, method: str) -> SizeQuery:
        summed = f"select null::text, sum({expression}) from pg_class c where c.oid = {members}"
        return SizeQuery(metric, summed, method)

    def auxiliary(metric: str, column: str, method: str) -> SizeQuery:
        size = f"case when p.{column} = 0 then 0 else pg_total_relation_size(p.{column}) end"
        summed = f"select null::text, sum({size}) from pg_appendonly p where p.relid = {members} having count(*) > 0"
        return SizeQuery(metric, summed, method)

    total = "pg_total_relation_size(c.oid)"
    toast = "case when c.reltoastrelid = 0 then 0 else pg_total_relation_size(c.reltoastrelid) end"
    rest = f"pg_table_size(c.oid) - pg_relation_size(c.oid) - {toast}"
    maps = "pg_relation_size(c.oid, 'fsm') + pg_relation_size(c.oid, 'vm')"

    def by_segment(expression: str) -> str:
        return (
            f"select 'seg' || c.gp_segment_id, sum({expression}) from gp_dist_random('pg_class') c"
            f" where c.oid = {members} group by 1 order by 1"
        )

    ratio = f"select null::text, nullif(get_ao_compression_ratio(relid), -1) from pg_appendonly where relid = {oid}"
    return [
        whole("total_bytes", total, "pg_total_relation_size"),
        SizeQuery("total_bytes", by_segment(total), "pg_total_relation_size, asked on each segment"),
        whole("table_bytes", "pg_relation_size(c.oid)", "pg_relation_size, main fork or segment files"),
        SizeQuery("table_bytes", by_segment("pg_relation_size(c.oid)"), "pg_relation_size, asked on each segment"),
        whole("toast_bytes", toast, "pg_total_relation_size of the TOAST table: with its index"),
        whole("index_bytes", "pg_indexes_size(c.oid)", "pg_indexes_size"),
        whole("auxiliary_bytes", rest, "pg_table_size less main fork and TOAST: maps, auxiliary relations"),
        whole("map_bytes", maps, "pg_relation_size, forks fsm and vm"),
        *(auxiliary(metric, column, method) for metric, (column, method) in AUXILIARY.items()),
        SizeQuery("compression_ratio", ratio, "get_ao_compression_ratio", absent=NO_RATIO),
    ]
