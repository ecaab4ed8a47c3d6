-- One row per target: count(*) after one full update over count(*) of the fresh table, over all tables that
-- are to get that far: without the time of one there is no verdict.
-- The study's +25 % is reproduced where our interval lies within half of it on either side.
-- Only quiet cells count.
with cell_ratio as (
    select p.target, ratio, ratio_low, ratio_high,
        quiet_enough(noise, ratio_low, ratio_high) as is_quiet
    from planned_cell as p
    left join cell as c using (run_id, cell_id, replicate)
    left join rounds as r on r.run_id = p.run_id and r.cell_id = p.cell_id and r.step = 'count' and r.metric = 'query_time'
        and r.series = 'updates' and r.action = 'update' and r.turn = 1
    left join cell_noise as n on n.run_id = p.run_id and n.cell_id = p.cell_id
    where p.status = 'planned' and p.role = 'result' and p.replicate = 1 and c.status is distinct from 'unsupported'
        and cast(p.levels->>'updates' as integer) >= 1
        and p.levels->>'fillfactor' = '100' and coalesce(p.levels->>'access_method', 'heap') = 'heap'
),
pooled as (
    select target, count(*) as cells, count(ratio) as timed, count(*) filter (is_quiet) as quiet, unnest(middle(
        list(ratio) filter (is_quiet), min(ratio_low) filter (is_quiet), max(ratio_high) filter (is_quiet)))
    from cell_ratio
    group by target
)
select target, quiet, ratio, low, high, 1.25 as published, band_verdict(low, high, 1.125, 1.375) as verdict,
    case when timed < cells then format('{} of {} cells gave no time', cells - timed, cells)
        when quiet = 0 then format('of {} cells none was quiet: the host was busy, or count(*) did not settle', cells)
        else band_doubt(low, high, 1.125, 1.375) end as inconclusive,
    band_told(format('{}, {:,} rows', target, {{rows}}), 1.25, ratio, low, high, 1.125, 1.375) as told
from pooled
order by target
