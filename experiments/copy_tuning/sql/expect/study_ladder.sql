-- One row per rung above the default that the study climbed too: how many times faster than the default COPY is, there
-- and here. Reproduced is what lies within a quarter of the study's figure; our interval must not cross the edge. A table
-- that the default's 64 MB of shared buffers nearly hold cannot show what the study saw.
with measured as (
    select run_id, cell_id, median, interval_low as low, interval_high as high
    from summary
    where step = 'copy_from_file' and metric = 'commit_time'
),
form as (
    select p.run_id, p.cell_id, p.target, p.levels->>'rung' as rung, m.*
    from planned_cell as p
    left join measured as m using (run_id, cell_id)
    where p.dialect = 'opengauss' and p.role = 'result' and p.status = 'planned' and p.replicate = 1
),
published_rung as (
    select levels->>'rung' as rung, max(value) as seconds from published where contains(engine, 'openGauss') group by rung
),
beside as (
    select
        own.target, own.rung, first.seconds / study.seconds as published, d.median / own.median as speed_up,
        d.low / own.high as low, d.high / own.low as high, speed_up / published as agreement
    from form as own
    join form as d on d.target = own.target and d.rung = 'default'
    join published_rung as study on study.rung = own.rung
    join published_rung as first on first.rung = 'default'
    where own.rung <> 'default'
)
select
    target, rung, published, speed_up, low, high, agreement,
    case when {{rows}} < 2000000 then 'too few rows: the study''s 10,000,000 do not fit into 64 MB of shared buffers'
        else band_doubt(low, high, 0.75 * published, 1.25 * published) end as inconclusive,
    band_told(target || ', ' || rung, published, speed_up, low, high, 0.75 * published, 1.25 * published) as told
from beside
order by published
