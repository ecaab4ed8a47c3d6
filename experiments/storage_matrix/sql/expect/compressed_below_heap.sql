-- One row per compressed append-optimized or column form: its size without indexes beside that of an uncompressed heap
-- with the same rows, on the same target where it has a heap, else on another target of the run.
with form as (
    select
        cell_id, target, storage_form, in_place, is_base, position,
        coalesce(levels->>'orientation', case when dialect = 'duckdb' then 'column' else 'heap' end) as orientation,
        coalesce(levels->>'compression', 'none') as compression,
        coalesce(levels->>'toast', 'external') as toast
    from planned_cell
    where role = 'result' and status = 'planned' and replicate = 1
),
size as (
    select
        cell_id, target,
        max(median) filter (metric = 'total_bytes') - max(median) filter (metric = 'index_bytes') as bytes
    from summary
    where node is null
    group by cell_id, target
),
pair as (
    select c.*, h.cell_id as heap_cell, h.target as heap_target
    from form as c
    join form as h on h.is_base = c.is_base and h.orientation = 'heap' and h.toast = 'external'
    where c.orientation <> 'heap' and c.compression not in ('none', 'no')
    qualify row_number() over (partition by c.cell_id order by h.target = c.target desc, h.position) = 1
)
select pair.target, storage_form, in_place, heap_target, heap.bytes as heap_bytes, own.bytes as compressed_bytes
from pair
left join size as heap on heap.cell_id = heap_cell and heap.target = heap_target
left join size as own on own.cell_id = pair.cell_id and own.target = pair.target
order by position
