-- One row per planned cell with wal_level = minimal: its WAL over that of the cell that differs in nothing else.
with form as (
    select
        p.target, p.storage_form, p.position, p.levels->>'wal_level' as wal_level,
        levels_key(json_merge_patch(p.levels, '{"wal_level": null}')) as twin, s.median as wal_bytes
    from planned_cell as p
    left join cell as c using (run_id, cell_id, replicate)
    left join summary as s
        on s.run_id = p.run_id and s.cell_id = p.cell_id and s.step = 'copy' and s.metric = 'wal_bytes' and s.node is null
    where p.role = 'result' and p.status = 'planned' and c.status is distinct from 'unsupported' and p.replicate = 1
)
select o.target, o.storage_form, o.wal_bytes, b.wal_bytes as replica_wal_bytes, o.wal_bytes / b.wal_bytes as wal_ratio
from form as o
join form as b on b.target = o.target and b.twin = o.twin and b.wal_level = 'replica'
where o.wal_level = 'minimal'
order by o.position
