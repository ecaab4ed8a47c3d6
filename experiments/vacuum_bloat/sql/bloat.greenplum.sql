-- On the segments: the coordinator has no rows of its own.
select m.metric, m.value
from (
    select sum((s).dead_tuple_count) as dead, sum((s).dead_tuple_len) as dead_bytes, sum((s).free_space) as free_bytes
    from (select pgstattuple({{table_name}}::regclass) as s from gp_dist_random('gp_id')) as segment
) as whole,
    lateral (
        values ('dead_tuples', whole.dead), ('dead_bytes', whole.dead_bytes), ('free_bytes', whole.free_bytes)
    ) as m(metric, value)
