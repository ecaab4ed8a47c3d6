-- One row per rung above the default and COPY step: how many times faster than the default it is, and by which share it is
-- slower beyond doubt, the interval of its time lying above that of the default.
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
)
select
    r.target, r.rung, r.step, base.seconds / own.seconds as speed_up,
    greatest(own.low / base.high - 1, 0) as slower_by
from form as r
join form as d on d.target = r.target and d.step = r.step and d.rung = 'default'
left join measured as own on own.run_id = r.run_id and own.cell_id = r.cell_id and own.step = r.step
left join measured as base on base.run_id = d.run_id and base.cell_id = d.cell_id and base.step = d.step
where r.rung <> 'default'
order by r.position, r.step
