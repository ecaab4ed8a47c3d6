-- One row per planned cell: the rows that its table holds after the last COPY beside those that were asked for.
select p.target, p.storage_form, min(s.median) as rows, {{rows}} as rows_asked
from planned_cell as p
left join cell as c using (run_id, cell_id, replicate)
left join summary as s on s.run_id = p.run_id and s.cell_id = p.cell_id and s.metric = 'rows'
where p.role = 'result' and p.status = 'planned' and c.status is distinct from 'unsupported'
group by p.target, p.storage_form, p.cell_id, p.replicate, p.position
order by p.position
