-- One row per form: the mean stored size of a value beside its size; a header of four bytes comes on top.
select
    p.target, p.storage_form,
    max(s.median) filter (s.metric = 'column_bytes') as stored, max(s.median) filter (s.metric = 'value_bytes') as whole
from planned_cell as p
left join summary as s on s.cell_id = p.cell_id and s.target = p.target and s.step = 'size' and s.node is null
where p.status = 'planned' and p.role = 'result' and p.is_base
group by p.target, p.storage_form, p.position
order by p.position
