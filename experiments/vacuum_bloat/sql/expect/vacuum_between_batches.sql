-- One row per table that took batches with VACUUM before each: by how much it grew from the first of them to the last.
select p.target, p.storage_form,
    case when count(*) = count(r.median) then max(r.median) - min_by(r.median, s.round) end as grown_bytes
from planned_cell as p
join series_round as s using (run_id, cell_id, replicate)
left join rounds as r on r.run_id = s.run_id and r.cell_id = s.cell_id and r.round = s.round
    and r.step = 'size' and r.metric = 'table_bytes'
where p.status = 'planned' and p.role = 'result' and p.replicate = 1
    and s.action = 'vacuum_between, batch' and p.levels->>'fillfactor' is not null
group by p.target, p.storage_form, p.cell_id
order by p.target, p.storage_form
