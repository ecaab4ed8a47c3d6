"""What keeps a PostgreSQL going beside its queries: autovacuum, the lock table, extensions, and many tables to drop."""

from __future__ import annotations

from tasks.dialects.catalog import regclass
from tasks.dialects.contract import Autovacuum
from tasks.dialects.quoting import literal

LOCKS = (
    "select current_setting('max_locks_per_transaction')::int,"
    " current_setting('max_connections')::int + current_setting('max_prepared_transactions')::int"
)
"""https://www.postgresql.org/docs/18/runtime-config-locks.html#GUC-MAX-LOCKS-PER-TRANSACTION"""


def autovacuum(table: str) -> Autovacuum:
    """With the shortest nap, since it is not the waiting that is measured; the thresholds are the server's own."""
    reload = "select pg_reload_conf()"
    return Autovacuum(
        is_on="select current_setting('autovacuum') = 'on'",
        start=("alter system set autovacuum = on", "alter system set autovacuum_naptime = '1s'", reload),
        allow=f"alter table {table} set (autovacuum_enabled=on)",
        visits=f"select pg_stat_get_autovacuum_count({regclass(table)})",
        is_at_work=f"select count(*) > 0 from pg_stat_progress_vacuum where relid = {regclass(table)}",
        dead_tuples=f"select pg_stat_get_dead_tuples({regclass(table)})",
        forbid=f"alter table {table} set (autovacuum_enabled=off)",
        stop=("alter system reset autovacuum", "alter system reset autovacuum_naptime", reload),
    )


def extension_schema(name: str) -> str:
    """The schema of an extension that has been created."""
    return (
        "select nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace"
        f" where extname = {literal(name)}"
    )


def add_to_path(schema: str) -> str:
    """Behind what is on the path, and only once."""
    return (
        "select set_config('search_path', current_setting('search_path') || ', ' || quote_ident(s), false)"
        f" from (select {literal(schema)}::text as s) as wanted where s <> all (current_schemas(true))"
    )


def drop_tables(schema: str) -> str:
    """Drop the tables of a schema one by one, children first, each in a transaction of its own.

    DROP SCHEMA CASCADE locks every object of it at once, and the lock table may be too small for a thousand tables.
    COMMIT in a DO block needs PostgreSQL 11.
    """
    return (
        "do $$ declare one oid; begin for one in"
        f" select unnest(array(select oid from pg_class where relnamespace = to_regnamespace({literal(schema)})"
        " and relkind in ('r', 'p') order by oid desc)) loop"
        " if exists (select from pg_class where oid = one) then"
        " execute format('drop table %s cascade', one::regclass); end if; commit; end loop; end $$"
    )
