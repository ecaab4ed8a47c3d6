-- One row per planned cell of a server: the time of COPY FROM STDIN over that of COPY FROM a file, and how much of it is
-- beyond doubt, as their intervals have it.
with measured as (
    select
        run_id, cell_id,
        max(median) filter (step = 'copy_from_file') as file,
        max(median) filter (step = 'copy_from_stdin') as client,
        max(interval_high) filter (step = 'copy_from_file') as file_high,
        max(interval_low) filter (step = 'copy_from_stdin') as client_low
    from summary
    where metric = 'commit_time'
    group by run_id, cell_id
)
select
    p.target, p.levels->>'rung' as rung, client / file as ratio, client_low / file_high as ratio_beyond_doubt
from planned_cell as p
left join cell as c using (run_id, cell_id, replicate)
left join measured as m using (run_id, cell_id)
where p.role = 'result' and p.status = 'planned' and c.status is distinct from 'unsupported' and p.replicate = 1
    and p.dialect <> 'duckdb'
order by p.position
