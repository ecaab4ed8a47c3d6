-- One row per planned cell: the digest of the rows in its table beside that of the rows in the file.
select
    p.target, p.storage_form,
    max(m.text_value) filter (m.metric = 'row_digest') as table_digest,
    max(m.text_value) filter (m.metric = 'file_digest') as file_digest
from planned_cell as p
left join cell as c using (run_id, cell_id, replicate)
left join measurement as m on m.run_id = p.run_id and m.cell_id = p.cell_id and m.replicate = p.replicate and m.step = 'copy'
where p.role = 'result' and p.status = 'planned' and c.status is distinct from 'unsupported'
group by p.target, p.storage_form, p.cell_id, p.replicate, p.position
order by p.position
