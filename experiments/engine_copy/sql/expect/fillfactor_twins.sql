-- One row per scale: rows on a page of a zheap at fillfactor 80 beside those of a heap at fillfactor 100.
with form as (
    select
        p.target, p.position, p.levels->>'access_method' as access_method, p.levels->>'fillfactor' as fillfactor,
        p.levels->>'scale' as scale, s.median as rows_per_page
    from planned_cell as p
    left join summary as s on s.run_id = p.run_id and s.cell_id = p.cell_id and s.metric = 'rows_per_page'
    where p.role = 'result' and p.status = 'planned' and p.replicate = 1
        and p.levels->>'wal_level' = 'replica' and coalesce(p.levels->>'wal_compression', 'off') = 'off'
)
select z.target, z.scale, z.rows_per_page as zheap_at_80, h.rows_per_page as heap_at_100,
    format('{}, scale {}: {} and {} rows on a page', z.target, z.scale, cast(zheap_at_80 as bigint), cast(heap_at_100 as bigint)) as told
from form as z
join form as h on h.target = z.target and h.scale = z.scale and h.access_method = 'heap' and h.fillfactor = '100'
where z.access_method = 'zheap' and z.fillfactor = '80'
order by z.position
