-- One row per planned cell: the rows that its table holds beside those that its scale asks for.
select
    p.target, p.storage_form, s.median as rows, {{rows}} * cast(p.levels->>'scale' as bigint) as rows_asked
from planned_cell as p
left join cell as c using (run_id, cell_id, replicate)
left join summary as s on s.run_id = p.run_id and s.cell_id = p.cell_id and s.step = 'copy' and s.metric = 'rows'
where p.role = 'result' and p.status = 'planned' and c.status is distinct from 'unsupported'
order by p.position
