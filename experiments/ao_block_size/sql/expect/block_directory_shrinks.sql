-- One row per indexed form: its block directory for blocks of 8 kB beside that for blocks of 2 MB.
with size as (
    select cell_id, max(median) as bytes from summary where metric = 'block_directory_bytes' and node is null group by cell_id
)
select s.target, s.storage_form, small.bytes as small_blocks, large.bytes as large_blocks
from planned_cell as s
join planned_cell as l
    on l.target = s.target and l.status = 'planned' and not l.is_base and l.levels->>'blocksize' = '2MB'
    and levels_key(json_merge_patch(s.levels, '{"blocksize": null}'))
        = levels_key(json_merge_patch(l.levels, '{"blocksize": null}'))
left join size as small on small.cell_id = s.cell_id
left join size as large on large.cell_id = l.cell_id
where s.status = 'planned' and not s.is_base and s.levels->>'blocksize' = '8kB'
order by s.position
