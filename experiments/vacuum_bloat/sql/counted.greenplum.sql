-- On the segments: the coordinator has no rows of its own.
select 'counted_dead_tuples', sum(pg_stat_get_dead_tuples({{table_name}}::regclass)) from gp_dist_random('gp_id')
