-- One row per planned cell.
select p.target, p.storage_form,
    max(s.median) filter (s.step = 'sizes' and s.metric = 'rows') as rows,
    max(s.median) filter (s.step = 'ingest' and s.metric = 'transactions') as transactions
from planned_cell as p
left join summary as s on s.run_id = p.run_id and s.cell_id = p.cell_id and s.target = p.target
where p.role = 'result' and p.status = 'planned'
group by p.target, p.storage_form, p.position
order by p.position
