select 'dead_tuples', pg_stat_get_dead_tuples({{table_name}}::regclass)
