-- One row per level of zlib or zstd above the lowest that was run: its main data in ratio to that of the level below.
with form as (
    select
        cell_id, target, storage_form, position, levels->>'shape' as shape, levels->>'orientation' as orientation,
        split_part(levels->>'compression', ':', 1) as codec, cast(split_part(levels->>'compression', ':', 2) as integer) as level
    from planned_cell
    where status = 'planned' and role = 'result' and replicate = 1 and starts_with(levels->>'compression', 'z')
),
size as (
    select cell_id, max(median) as bytes from summary where metric = 'table_bytes' and node is null group by cell_id
),
step as (
    select
        f.*, s.bytes, lag(f.level) over levels as level_below, lag(s.bytes) over levels as bytes_below
    from form as f
    left join size as s using (cell_id)
    window levels as (partition by f.target, f.shape, f.orientation, f.codec order by f.level)
)
select target, storage_form, level_below, bytes, bytes_below, bytes / bytes_below as ratio
from step
where level_below is not null
order by position
