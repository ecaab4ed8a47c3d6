-- One row: seconds of openGauss at its default and at its best, over those of PostgreSQL at its default.
with rung as (
    select p.dialect, p.levels->>'rung' as rung, s.median as seconds
    from planned_cell as p
    left join summary as s on s.run_id = p.run_id and s.cell_id = p.cell_id and s.step = 'copy_from_file' and s.metric = 'commit_time'
    where p.role = 'result' and p.status = 'planned' and p.replicate = 1
)
select
    min(seconds) filter (dialect = 'opengauss' and rung = 'default') / min(seconds) filter (dialect = 'postgresql' and rung = 'default')
        as default_ratio,
    min(seconds) filter (dialect = 'opengauss') / min(seconds) filter (dialect = 'postgresql' and rung = 'default') as best_ratio,
    case when {{rows}} < 2000000 then 'too few rows: they nearly fit into the default shared_buffers' end as inconclusive
from rung
