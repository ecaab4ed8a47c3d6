-- One row per row-oriented form with external storage: table and TOAST in ratio to those of the heap with external storage.
with size as (
    select
        cell_id,
        max(median) filter (metric = 'table_bytes') + max(median) filter (metric = 'toast_bytes') as bytes
    from summary
    where step = 'size' and node is null
    group by cell_id
),
form as (
    select *, levels->>'orientation' as orientation
    from planned_cell
    where status = 'planned' and role = 'result' and replicate = 1 and levels->>'toast' = 'external'
)
select
    f.target, f.storage_form, own.bytes, heap.bytes as heap_bytes, own.bytes / heap.bytes as to_heap,
    format('{}: {:.2f} of heap', f.storage_form, own.bytes / heap.bytes) as told
from form as f
join form as h on h.target = f.target and h.orientation = 'heap'
left join size as own on own.cell_id = f.cell_id
left join size as heap on heap.cell_id = h.cell_id
where f.orientation = 'ao_row'
order by f.position
