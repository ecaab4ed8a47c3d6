-- One row per openGauss target: the share of all that its ladder saves which shared_buffers = 1GB saves by itself.
-- All that it saves is known where every rung has been measured that the server takes.
with rung as (
    select p.target, p.levels->>'rung' as rung, s.median as seconds
    from planned_cell as p
    left join summary as s on s.run_id = p.run_id and s.cell_id = p.cell_id and s.step = 'copy_from_file' and s.metric = 'commit_time'
    left join cell as c on c.run_id = p.run_id and c.cell_id = p.cell_id and c.replicate = p.replicate
    where p.dialect = 'opengauss' and p.role = 'result' and p.status = 'planned' and p.replicate = 1
        and c.status is distinct from 'unsupported'
)
select
    target,
    (max(seconds) filter (rung = 'default') - max(seconds) filter (rung = 'shared_buffers 1GB'))
        / (max(seconds) filter (rung = 'default') - case when count(*) = count(seconds) then min(seconds) end) as share,
    case when {{rows}} < 2000000 then 'too few rows: they nearly fit into the default shared_buffers' end as inconclusive
from rung
group by target
