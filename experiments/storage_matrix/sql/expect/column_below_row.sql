-- One row per column-oriented form with blocks of 2 MB that compress: its size beside that of its row-oriented twin, indexes
-- left out.
with form as (
    select
        cell_id, target, storage_form, in_place, position, levels->>'orientation' as orientation,
        levels_key(json_merge_patch(levels, '{"orientation": null}')) as twin
    from planned_cell
    where role = 'result' and status = 'planned' and replicate = 1 and levels->>'blocksize' = '2MB'
        and levels->>'compression' <> 'none' and levels->>'orientation' in ('ao_row', 'ao_column')
),
size as (
    select cell_id, max(median) filter (metric = 'total_bytes') - max(median) filter (metric = 'index_bytes') as bytes
    from summary
    where node is null
    group by cell_id
)
select c.target, c.storage_form, c.in_place, by_row.bytes as row_bytes, own.bytes as column_bytes
from form as c
join form as r on r.target = c.target and r.twin = c.twin and r.orientation = 'ao_row'
left join size as by_row on by_row.cell_id = r.cell_id
left join size as own on own.cell_id = c.cell_id
where c.orientation = 'ao_column'
order by c.position
