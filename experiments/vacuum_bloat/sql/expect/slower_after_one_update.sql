-- One row per target: count(*) after one full update over count(*) of the fresh table, over all tables that got that far.
-- The study's +25 % is reproduced where our interval lies within half of it on either side.
with cell_ratio as (
    select target, ratio, ratio_low, ratio_high
    from rounds
    where step = 'count' and metric = 'query_time' and series = 'updates' and action = 'update' and turn = 1
        and levels->>'fillfactor' = '100' and coalesce(levels->>'access_method', 'heap') = 'heap'
)
select target, ratio, low, high, 1.25 as published,
    band_verdict(low, high, 1.125, 1.375) as verdict, band_doubt(low, high, 1.125, 1.375) as inconclusive,
    band_told(target, 1.25, ratio, low, high, 1.125, 1.375) as told
from (select target, unnest(middle(list(ratio), min(ratio_low), max(ratio_high))) from cell_ratio group by target)
order by target
