-- One row per form that has a twin with external storage: whether it is less than a tenth of it, and whether TOAST compressed.
with measured as (
    select
        cell_id,
        max(median) filter (metric = 'table_bytes') + max(median) filter (metric = 'toast_bytes') as bytes,
        max(median) filter (metric = 'column_bytes') as stored,
        max(median) filter (metric = 'value_bytes') as whole
    from summary
    where step = 'size' and node is null
    group by cell_id
),
form as (
    select *, levels->>'toast' as toast, levels_key(json_merge_patch(levels, '{"toast": null}')) as twin
    from planned_cell
    where status = 'planned' and role = 'result' and replicate = 1
)
select
    d.target, d.storage_form, own.bytes, other.bytes as external_bytes,
    cast(10 * own.bytes < other.bytes as integer) as is_tenth, cast(2 * own.stored < own.whole as integer) as is_compressed,
    case when 2 * own.stored < own.whole then format(
        '{}: {:.1f} times smaller than with external storage because TOAST compressed the value: mean stored size {:.0f} of '
            '{:.0f} bytes', d.storage_form, other.bytes / own.bytes, own.stored, own.whole)
    end as told
from form as d
join form as e on e.target = d.target and e.twin = d.twin and e.toast = 'external'
left join measured as own on own.cell_id = d.cell_id
left join measured as other on other.cell_id = e.cell_id
where d.toast = 'default'
order by d.position
