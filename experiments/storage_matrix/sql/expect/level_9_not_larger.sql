-- One row per form with zlib level 9: its main data in ratio to that of the same form with level 5.
with form as (
    select
        cell_id, target, storage_form, in_place, position, levels->>'compression' as compression,
        levels_key(json_merge_patch(levels, '{"compression": null}')) as twin
    from planned_cell
    where role = 'result' and status = 'planned' and replicate = 1 and levels->>'compression' in ('zlib:5', 'zlib:9')
),
size as (
    select cell_id, max(median) as bytes from summary where metric = 'table_bytes' and node is null group by cell_id
)
select n.target, n.storage_form, n.in_place, five.bytes as level_5_bytes, nine.bytes as level_9_bytes, nine.bytes / five.bytes as ratio
from form as n
join form as f on f.target = n.target and f.twin = n.twin and f.compression = 'zlib:5'
left join size as five on five.cell_id = f.cell_id
left join size as nine on nine.cell_id = n.cell_id
where n.compression = 'zlib:9'
order by n.position
