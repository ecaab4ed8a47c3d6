-- One row per planned cell with what became of it; NULL where nothing did. A server that refuses a setting is no failure.
select p.target, p.storage_form, c.status
from planned_cell as p
left join cell as c using (run_id, cell_id, replicate)
where p.status = 'planned'
order by p.position
