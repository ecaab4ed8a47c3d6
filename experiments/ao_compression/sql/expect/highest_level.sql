-- One row per codec with levels, shape and orientation: main data at its highest level in ratio to that at its lowest. In between
-- it goes up at times: zlib 4 looks for matches in another way than zlib 3.
with form as (
    select
        p.target, p.levels->>'shape' as shape, p.levels->>'orientation' as orientation,
        split_part(p.levels->>'compression', ':', 1) as codec,
        cast(split_part(p.levels->>'compression', ':', 2) as integer) as level, s.bytes
    from planned_cell as p
    left join (
        select cell_id, max(median) as bytes from summary where metric = 'table_bytes' and node is null group by cell_id
    ) as s using (cell_id)
    where p.status = 'planned' and p.role = 'result' and p.replicate = 1 and starts_with(p.levels->>'compression', 'z')
)
select
    target, shape, orientation, codec, min(level) as lowest, max(level) as highest,
    max(bytes) filter (level = bounds.low) as lowest_bytes, max(bytes) filter (level = bounds.high) as highest_bytes,
    max(bytes) filter (level = bounds.high) / max(bytes) filter (level = bounds.low) as ratio
from form
join (
    select target, shape, orientation, codec, min(level) as low, max(level) as high from form group by all
) as bounds using (target, shape, orientation, codec)
group by all
having min(level) < max(level)
order by all
