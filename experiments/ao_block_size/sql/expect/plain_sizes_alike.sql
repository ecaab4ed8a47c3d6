-- One row per uncompressed form: its main data in ratio to the same in the largest blocks.
with size as (
    select cell_id, max(median) as bytes from summary where metric = 'table_bytes' and node is null group by cell_id
)
select s.target, s.storage_form, own.bytes, largest.bytes as largest_bytes, own.bytes / largest.bytes as to_largest
from planned_cell as s
join planned_cell as l
    on l.target = s.target and l.status = 'planned' and l.is_base and l.levels->>'blocksize' = '2MB'
    and l.levels->>'compression' = 'none' and l.levels->>'orientation' = s.levels->>'orientation'
left join size as own on own.cell_id = s.cell_id
left join size as largest on largest.cell_id = l.cell_id
where s.status = 'planned' and s.is_base and s.levels->>'compression' = 'none'
order by s.position
