-- What autovacuum goes by. VACUUM sets it back, VACUUM FULL does not.
select 'counted_dead_tuples', pg_stat_get_dead_tuples({{table_name}}::regclass)
