-- On the segments: the coordinator has no rows of its own.
select 'reusable_bytes', sum((f).avail)
from (select pg_freespace({{table_name}}::regclass) as f from gp_dist_random('gp_id')) as segment
