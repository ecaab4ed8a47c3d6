-- Three rows per target: the size of the table after six full updates, then after VACUUM, then after VACUUM FULL, each over
-- its size as loaded. The study has 675 MB, 675 MB and 96 MB of a table of 96 MB. Pages do not depend on the machine, so 2 %
-- is all that may lie between.
with state as (
    select target, any_value(ratio) as ratio, case when action = 'update' then 'after six updates' else 'after ' || (levels->>'vacuum') end as state,
        case when action = 'update' or levels->>'vacuum' = 'VACUUM' then 675.0 / 96 else 1 end as published
    from rounds
    where step = 'size' and metric = 'table_bytes' and series = 'updates' and levels->>'updates' = '6'
        and levels->>'fillfactor' = '100' and coalesce(levels->>'access_method', 'heap') = 'heap'
        and ((action = 'update' and turn = 6 and levels->>'vacuum' = 'VACUUM')
            or (action = 'vacuum' and levels->>'vacuum' in ('VACUUM', 'VACUUM FULL')))
    group by all
)
select target, state, ratio, published, band_verdict(ratio, ratio, published * 0.98, published * 1.02) as verdict,
    format('{} {}: {}, {:.2f}x against {:.2f}x', target, state, verdict, ratio, published) as told
from state
order by target, published desc, state
