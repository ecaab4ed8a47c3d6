-- One row: seconds of openGauss at its default and at its best, over those of PostgreSQL at its default. Which rung is the best
-- is known where all have been measured that the server takes.
with rung as (
    select p.dialect, p.levels->>'rung' as rung, s.median as seconds
    from planned_cell as p
    left join summary as s on s.run_id = p.run_id and s.cell_id = p.cell_id and s.step = 'copy_from_file' and s.metric = 'commit_time'
    left join cell as c on c.run_id = p.run_id and c.cell_id = p.cell_id and c.replicate = p.replicate
    where p.role = 'result' and p.status = 'planned' and p.replicate = 1 and c.status is distinct from 'unsupported'
)
select
    min(seconds) filter (dialect = 'opengauss' and rung = 'default') / min(seconds) filter (dialect = 'postgresql' and rung = 'default')
        as default_ratio,
    case when count(*) filter (dialect = 'opengauss') = count(seconds) filter (dialect = 'opengauss')
        then min(seconds) filter (dialect = 'opengauss') end / min(seconds) filter (dialect = 'postgresql' and rung = 'default') as best_ratio,
    case when {{rows}} < 2000000 then 'too few rows: they nearly fit into the default shared_buffers' end as inconclusive
from rung
