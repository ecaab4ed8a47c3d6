-- One row per target: count(*) after two full updates and VACUUM over count(*) of the fresh table.
-- The study's +40 % is reproduced where our interval lies within half of it on either side.
with cell_ratio as (
    select target, ratio, ratio_low, ratio_high
    from rounds
    where step = 'count' and metric = 'query_time' and series = 'updates' and action = 'vacuum' and levels->>'updates' = '2' and levels->>'vacuum' = 'VACUUM'
        and levels->>'fillfactor' = '100' and coalesce(levels->>'access_method', 'heap') = 'heap'
)
select target, ratio, low, high, 1.4 as published,
    band_verdict(low, high, 1.2, 1.6) as verdict, band_doubt(low, high, 1.2, 1.6) as inconclusive,
    band_told(target, 1.4, ratio, low, high, 1.2, 1.6) as told
from (select target, unnest(middle(list(ratio), min(ratio_low), max(ratio_high))) from cell_ratio group by target)
order by target
