-- One row per table at fillfactor 50: its largest size in any round over its size as loaded. A new version finds room on the
-- page of the old one (HOT), and once that is dead a scan prunes it: no VACUUM is needed for that.
select p.target, p.storage_form, case when count(*) = count(r.ratio) then max(r.ratio) end as largest
from planned_cell as p
join series_round as s using (run_id, cell_id, replicate)
left join rounds as r on r.run_id = s.run_id and r.cell_id = s.cell_id and r.round = s.round
    and r.step = 'size' and r.metric = 'table_bytes'
where p.status = 'planned' and p.role = 'result' and p.replicate = 1
    and p.levels->>'fillfactor' = '50' and coalesce(p.levels->>'access_method', 'heap') = 'heap'
group by p.target, p.storage_form, p.cell_id
order by p.target, p.storage_form
