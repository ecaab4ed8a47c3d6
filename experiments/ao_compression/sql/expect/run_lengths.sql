-- One row per codec other than rle_type on sorted integers in columns: its main data beside that of rle_type at its highest level.
with size as (
    select cell_id, max(median) as bytes from summary where metric = 'table_bytes' and node is null group by cell_id
)
select c.target, c.storage_form, other.bytes as other_bytes, own.bytes as rle_bytes
from planned_cell as c
join planned_cell as r
    on r.target = c.target and r.status = 'planned' and r.levels->>'compression' = 'rle_type:4'
    and r.levels->>'shape' = c.levels->>'shape' and r.levels->>'orientation' = c.levels->>'orientation'
left join size as other on other.cell_id = c.cell_id
left join size as own on own.cell_id = r.cell_id
where c.status = 'planned' and c.levels->>'shape' = 'sorted' and not starts_with(c.levels->>'compression', 'rle_type')
order by c.position
