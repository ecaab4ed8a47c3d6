-- Of a dead tuple that a scan has pruned only its line pointer is left, which this does not count.
select m.metric, m.value
from pgstattuple({{table_name}}::regclass) as s,
    lateral (
        values ('dead_tuples', s.dead_tuple_count), ('dead_bytes', s.dead_tuple_len), ('free_bytes', s.free_space)
    ) as m(metric, value)
