-- One row per indexed cell on a Greenplum: whether the plan of its lookup has a node that reads an index. Its name depends on
-- the version, the optimizer and the kind of table: append-optimized tables are read by bitmap up to Greenplum 6.
with known(dialect, node) as (
    values
        ('greenplum', 'Index Scan'), ('greenplum', 'Bitmap Heap Scan'), ('greenplum', 'Bitmap Index Scan'),
        ('greenplum5', 'Bitmap Append-Only Row-Oriented Scan'), ('greenplum5', 'Bitmap Append-Only Column-Oriented Scan'),
        ('greenplum5', 'Bitmap Table Scan'), ('greenplum5', 'Dynamic Index Scan'),
        ('greenplum6', 'Index Only Scan'), ('greenplum6', 'Dynamic Index Scan'), ('greenplum6', 'Dynamic Bitmap Heap Scan'),
        ('greenplum6', 'Dynamic Bitmap Index Scan'),
        ('greenplum7', 'Index Only Scan'), ('greenplum7', 'Dynamic Index Scan'), ('greenplum7', 'Dynamic Index Only Scan'),
        ('greenplum7', 'Dynamic Bitmap Heap Scan'), ('greenplum7', 'Dynamic Bitmap Index Scan')
),
plan_of as (
    select cell_id, string_split(max(text_value), ', ') as nodes
    from measurement
    where step = 'lookup' and metric = 'plan_nodes'
    group by cell_id
)
select
    p.target, p.storage_form, p.in_place, array_to_string(l.nodes, ', ') as nodes,
    cast(list_has_any(l.nodes, (select list(k.node) from known as k where list_contains(t.lineage, k.dialect))) as integer)
        as uses_index
from planned_cell as p
join run_target as t using (run_id, target)
left join plan_of as l using (cell_id)
where p.role = 'result' and p.status = 'planned' and p.replicate = 1 and not p.is_base and list_contains(t.lineage, 'greenplum')
order by p.position
