-- One row per compressed form that has an uncompressed twin on its target: all levels alike but those of compression.
-- PostgreSQL's heap compresses by TOAST, so there the twin is toast=external. DuckDB's auto is no codec: it may choose none.
with form as (
    select
        cell_id, target, storage_form, in_place, position,
        levels_key(json_merge_patch(levels, '{"compression": null, "toast": null}')) as twin,
        case
            when levels->>'toast' = 'external' or levels->>'compression' in ('none', 'no') then false
            when levels->>'compression' <> 'auto' then true
        end as is_compressed
    from planned_cell
    where role = 'result' and status = 'planned' and replicate = 1
),
size as (
    select cell_id, max(median) as bytes from summary where metric = 'total_bytes' and node is null group by cell_id
)
select c.target, c.storage_form, c.in_place, plain.bytes as uncompressed_bytes, own.bytes as compressed_bytes
from form as c
join form as u on u.target = c.target and u.twin = c.twin and not u.is_compressed
left join size as plain on plain.cell_id = u.cell_id
left join size as own on own.cell_id = c.cell_id
where c.is_compressed
order by c.position
