-- One row per form on a Greenplum: how much more than its due share the fullest segment holds. The key is what rows are
-- distributed by, by hashing.
select p.target, p.storage_form, s.median as skew
from planned_cell as p
join run_target as t using (run_id, target)
left join summary as s on s.cell_id = p.cell_id and s.target = p.target and s.metric = 'skew' and s.node is null
where p.role = 'result' and p.status = 'planned' and p.replicate = 1 and p.is_base and list_contains(t.lineage, 'greenplum')
order by p.position
