-- One row per form of repeated text under zlib or zstd: its main data in ratio to the same without compression.
with size as (
    select cell_id, max(median) as bytes from summary where metric = 'table_bytes' and node is null group by cell_id
)
select c.target, c.storage_form, own.bytes, plain.bytes as uncompressed_bytes, own.bytes / plain.bytes as ratio
from planned_cell as c
join planned_cell as n
    on n.target = c.target and n.status = 'planned' and n.levels->>'compression' = 'none'
    and n.levels->>'shape' = c.levels->>'shape' and n.levels->>'orientation' = c.levels->>'orientation'
left join size as own on own.cell_id = c.cell_id
left join size as plain on plain.cell_id = n.cell_id
where c.status = 'planned' and c.levels->>'shape' = 'repeated' and starts_with(c.levels->>'compression', 'z')
order by c.position
