-- One row per target and COPY step: the largest share by which a rung is slower than the default beyond doubt, the interval
-- of its time lying above that of the default; NULL where a rung lacks. The speed-ups of all rungs are told.
with measured as (
    select
        run_id, cell_id, step,
        max(median) filter (metric = 'commit_time') as seconds,
        max(interval_low) filter (metric = 'commit_time') as low,
        max(interval_high) filter (metric = 'commit_time') as high
    from summary
    where node is null
    group by run_id, cell_id, step
),
form as (
    select p.run_id, p.cell_id, p.target, p.position, p.levels->>'rung' as rung, step.name as step
    from planned_cell as p
    left join cell as c using (run_id, cell_id, replicate)
    cross join (values ('copy_from_file'), ('copy_from_stdin')) as step(name)
    where p.role = 'result' and p.status = 'planned' and c.status is distinct from 'unsupported' and p.replicate = 1
        and p.levels->>'rung' is not null
),
rung as (
    select r.target, r.step, r.rung, r.position, base.seconds / own.seconds as speed_up, own.low / base.high - 1 as slower_by
    from form as r
    join form as d on d.target = r.target and d.step = r.step and d.rung = 'default'
    left join measured as own on own.run_id = r.run_id and own.cell_id = r.cell_id and own.step = r.step
    left join measured as base on base.run_id = d.run_id and base.cell_id = d.cell_id and base.step = d.step
    where r.rung <> 'default'
)
select
    target, step, case when count(slower_by) = count(*) then greatest(max(slower_by), 0) end as slower_by,
    target || ', ' || replace(step, '_', ' ') || ', to its commit: '
        || string_agg(format('{} {:.2f}x', rung, speed_up), ', ' order by position) as told
from rung
group by target, step
order by target, step
