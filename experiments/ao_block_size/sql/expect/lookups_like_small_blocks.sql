-- One row per indexed form: median of the lookup in blocks of 8 kB beside that in blocks of 2 MB.
with lookup as (
    select cell_id, median as seconds, interval_low as low, interval_high as high
    from summary
    where step = 'lookup' and metric = 'query_time' and node is null
)
select
    s.target, s.storage_form, small.seconds as small_blocks, large.seconds as large_blocks,
    case when small.high >= large.low and large.high >= small.low then 'the intervals overlap' end as inconclusive
from planned_cell as s
join planned_cell as l
    on l.target = s.target and l.status = 'planned' and not l.is_base and l.levels->>'blocksize' = '2MB'
    and levels_key(json_merge_patch(s.levels, '{"blocksize": null}'))
        = levels_key(json_merge_patch(l.levels, '{"blocksize": null}'))
left join lookup as small on small.cell_id = s.cell_id
left join lookup as large on large.cell_id = l.cell_id
where s.status = 'planned' and not s.is_base and s.levels->>'blocksize' = '8kB'
order by s.position
