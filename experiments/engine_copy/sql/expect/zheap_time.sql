-- One row per scale at which zheap stands beside heap as in the study: the share of the time that COPY takes less. Times
-- within each other's intervals cannot be told apart, and such a row says so.
with form as (
    select
        p.target, p.position, p.levels->>'access_method' as access_method, p.levels->>'scale' as scale,
        s.median as seconds, s.interval_low as low, s.interval_high as high
    from planned_cell as p
    left join summary as s on s.run_id = p.run_id and s.cell_id = p.cell_id and s.step = 'copy' and s.metric = 'commit_time'
    where p.role = 'result' and p.status = 'planned' and p.replicate = 1 and p.levels->>'fillfactor' = '100'
        and p.levels->>'wal_level' = 'replica' and coalesce(p.levels->>'wal_compression', 'off') = 'off'
)
select
    z.target, z.scale, 1 - z.seconds / h.seconds as time_saved,
    format('{}, scale {}: {:.1f} % of the time saved', z.target, z.scale, 100 * time_saved) as told,
    case when z.low <= h.high and h.low <= z.high then 'the times of both lie within each other''s intervals' end as inconclusive
from form as z
join form as h on h.target = z.target and h.scale = z.scale and h.access_method = 'heap'
where z.access_method = 'zheap'
order by z.position
