-- One row per planned cell with wal_compression: its WAL over that of the same form without.
with form as (
    select
        p.target, p.storage_form, p.position, p.levels->>'access_method' as access_method, p.levels->>'wal_level' as wal_level,
        coalesce(p.levels->>'wal_compression', 'off') as wal_compression,
        levels_key(json_merge_patch(p.levels, '{"wal_level": null, "wal_compression": null}')) as twin, s.median as wal_bytes
    from planned_cell as p
    left join cell as c using (run_id, cell_id, replicate)
    left join summary as s
        on s.run_id = p.run_id and s.cell_id = p.cell_id and s.step = 'copy' and s.metric = 'wal_bytes' and s.node is null
    where p.role = 'result' and p.status = 'planned' and c.status is distinct from 'unsupported' and p.replicate = 1
)
select
    o.target, o.storage_form, o.wal_bytes, b.wal_bytes as base_wal_bytes, o.wal_bytes / b.wal_bytes as wal_ratio,
    format('{}, {}: {:.3f} of the WAL', o.target, o.storage_form, wal_ratio) as told
from form as o
join form as b on b.target = o.target and b.twin = o.twin and b.wal_level <> 'minimal' and b.wal_compression = 'off'
where o.wal_compression <> 'off'
order by o.position
