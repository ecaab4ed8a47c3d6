-- One row per planned cell of another access method than heap (astore on openGauss), beside the heap that has the same
-- fillfactor, scale and settings: what is saved, and what the page layout alone saves. See layout.sql.
with layout(access_method, page_header, slots, tuple_header, alignment) as (
    values ('heap', 24, 0, 23, 8), ('zheap', 24, 64, 5, 1), ('astore', 40, 0, 23, 8), ('ustore', 56, 64, 11, 1)
),
form as (
    select
        p.run_id, p.cell_id, p.target, p.storage_form, p.position,
        p.levels->>'access_method' as access_method, access_method in ('heap', 'astore') as is_heap,
        cast(p.levels->>'fillfactor' as bigint) as fillfactor,
        levels_key(json_merge_patch(p.levels, '{"access_method": null}')) as twin,
        cast(ceil((ceil(l.tuple_header / l.alignment) * l.alignment + 97) / l.alignment) * l.alignment + 4 as bigint) as row_bytes,
        (8192 - l.page_header - l.slots - 8192 * (100 - fillfactor) // 100) // row_bytes as rows_per_page
    from planned_cell as p
    left join layout as l on l.access_method = p.levels->>'access_method'
    left join cell as c using (run_id, cell_id, replicate)
    where p.role = 'result' and p.status = 'planned' and c.status is distinct from 'unsupported' and p.replicate = 1
),
measured as (
    select
        run_id, cell_id,
        max(median) filter (metric = 'table_bytes') as table_bytes,
        max(median) filter (metric = 'wal_bytes') as wal_bytes,
        max(median) filter (metric = 'undo_bytes' and step = 'copy') as undo_bytes
    from summary
    where node is null
    group by run_id, cell_id
)
select
    o.target, o.access_method, o.fillfactor, o.storage_form, heap.table_bytes as heap_bytes, other.table_bytes as other_bytes,
    1 - other.table_bytes / heap.table_bytes as saved,
    1 - h.rows_per_page / o.rows_per_page as saved_by_layout,
    saved - saved_by_layout as unexplained,
    other.wal_bytes / heap.wal_bytes as wal_ratio, other.undo_bytes,
    format('{} at fillfactor {}: {:.1f} % saved, {:.1f} % by layout', o.access_method, o.fillfactor, 100 * saved, 100 * saved_by_layout)
        as told
from form as o
join form as h on h.run_id = o.run_id and h.target = o.target and h.twin = o.twin and h.is_heap
left join measured as other on other.run_id = o.run_id and other.cell_id = o.cell_id
left join measured as heap on heap.run_id = h.run_id and heap.cell_id = h.cell_id
where not o.is_heap
order by o.position
