-- One row per target: count(*) after one full update over count(*) of the fresh table, over all tables that got that far.
-- The study's +25 % is reproduced where our interval lies within half of it on either side.
-- Only cells count in which both times settled, and beside which the canary of the host was no more than half slower than
-- at its best.
with cell_ratio as (
    select target, ratio, ratio_low, ratio_high,
        coalesce(noise, 1) <= 1.5 and ratio_high <= 1.25 * ratio_low as is_quiet
    from rounds
    left join cell_noise using (run_id, cell_id)
    where step = 'count' and metric = 'query_time' and series = 'updates' and action = 'update' and turn = 1
        and levels->>'fillfactor' = '100' and coalesce(levels->>'access_method', 'heap') = 'heap'
),
pooled as (
    select target, count(*) as cells, count(*) filter (is_quiet) as quiet, unnest(middle(
        list(ratio) filter (is_quiet), min(ratio_low) filter (is_quiet), max(ratio_high) filter (is_quiet)))
    from cell_ratio
    group by target
)
select target, quiet, ratio, low, high, 1.25 as published, band_verdict(low, high, 1.125, 1.375) as verdict,
    case when quiet = 0 then format('of {} cells none was quiet: the host was busy, or count(*) did not settle', cells)
        else band_doubt(low, high, 1.125, 1.375) end as inconclusive,
    band_told(format('{}, {:,} rows', target, {{rows}}), 1.25, ratio, low, high, 1.125, 1.375) as told
from pooled
order by target
