-- One row per scale at which zheap stands beside heap as in the study: full pages, the WAL as it is out of the box.
with measured as (
    select
        run_id, cell_id,
        max(median) filter (metric = 'table_bytes') as table_bytes,
        max(median) filter (metric = 'wal_bytes') as wal_bytes
    from summary
    where node is null
    group by run_id, cell_id
),
form as (
    select p.run_id, p.target, p.position, p.levels->>'access_method' as access_method, p.levels->>'scale' as scale, m.*
    from planned_cell as p
    left join measured as m using (run_id, cell_id)
    where p.role = 'result' and p.status = 'planned' and p.replicate = 1 and p.levels->>'fillfactor' = '100'
        and p.levels->>'wal_level' = 'replica' and coalesce(p.levels->>'wal_compression', 'off') = 'off'
)
select
    z.target, z.scale, 1 - z.table_bytes / h.table_bytes as bytes_saved, 1 - z.wal_bytes / h.wal_bytes as wal_saved,
    format('{}, scale {}: {:.1f} % of the table and {:.2f} % of the WAL saved', z.target, z.scale, 100 * bytes_saved, 100 * wal_saved) as told
from form as z
join form as h on h.target = z.target and h.scale = z.scale and h.access_method = 'heap'
where z.access_method = 'zheap'
order by z.position
