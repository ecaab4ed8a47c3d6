-- One row per form under the default strategy: whether its rows are longer than a quarter of the block, and whether the values
-- are stored in less than half of their size. A heap page has 32 kB; columns are never toasted.
with measured as (
    select
        cell_id,
        max(median) filter (metric = 'column_bytes') as stored,
        max(median) filter (metric = 'value_bytes') as whole
    from summary
    where step = 'size' and node is null
    group by cell_id
),
form as (
    select
        *, levels->>'orientation' as orientation,
        case coalesce(levels->>'blocksize', '32kB') when '8kB' then 8192 when '32kB' then 32768 when '2MB' then 2097152 end / 4
            as quarter
    from planned_cell
    where status = 'planned' and role = 'result' and replicate = 1 and coalesce(levels->>'toast', 'default') = 'default'
)
select
    f.target, f.storage_form, f.quarter, m.stored, m.whole,
    cast(f.orientation <> 'ao_column' and m.whole > f.quarter as integer) as is_longer,
    cast(2 * m.stored < m.whole as integer) as is_compressed,
    format('{}: {:.0f} of {:.0f} bytes', f.storage_form, m.stored, m.whole) as told
from form as f
left join measured as m using (cell_id)
order by is_compressed desc, f.position
