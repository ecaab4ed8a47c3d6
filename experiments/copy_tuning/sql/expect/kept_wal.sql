-- One row per rung of PostgreSQL's ladder between the default and wal_level = minimal: the WAL of COPY FROM a file over that
-- of the default.
with form as (
    select p.target, p.position, p.levels->>'rung' as rung, s.median as wal_bytes
    from planned_cell as p
    left join cell as c using (run_id, cell_id, replicate)
    left join summary as s
        on s.run_id = p.run_id and s.cell_id = p.cell_id and s.step = 'copy_from_file' and s.metric = 'wal_bytes' and s.node is null
    where p.role = 'result' and p.status = 'planned' and c.status is distinct from 'unsupported' and p.replicate = 1
        and p.levels->>'rung' is not null and p.dialect <> 'opengauss'
)
select
    r.target, r.rung, r.wal_bytes, d.wal_bytes as default_wal_bytes, r.wal_bytes / d.wal_bytes as wal_ratio,
    format('{}, {}: {:.3f} of the WAL', r.target, r.rung, wal_ratio) as told
from form as r
join form as d on d.target = r.target and d.rung = 'default'
where r.rung not in ('default', 'wal_level minimal', 'full_page_writes off', 'fsync off', 'io_method sync')
order by r.position
