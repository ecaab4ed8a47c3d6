-- One row per rung above the default that the study climbed too: how many times faster than the default COPY is, there
-- and here. A table that the default's 64 MB of shared buffers nearly hold cannot show what the study saw.
select
    target, levels->>'rung' as rung, 1 / published_ratio as published_speed_up, 1 / our_ratio as speed_up,
    speed_up / published_speed_up as agreement,
    case when {{rows}} < 2000000 then 'too few rows: the study''s 10,000,000 are ten times what its largest shared_buffers hold'
    end as inconclusive
from against_published
where dialect = 'opengauss' and step = 'copy_from_file' and metric = 'commit_time' and rung <> 'default'
    and contains(lower(engine), 'opengauss')
order by published_speed_up
