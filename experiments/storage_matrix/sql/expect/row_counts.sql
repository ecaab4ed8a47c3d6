-- One row per planned block: the rows that its table holds after the load beside the rows that were asked for.
select
    p.target, min(p.storage_form) as storage_form, max(s.median) as rows,
    max(cast(r.parameters->>'rows' as double)) as rows_asked
from planned_cell as p
join run as r using (run_id)
left join summary as s on s.cell_id = p.cell_id and s.target = p.target and s.step = 'load' and s.metric = 'rows'
where p.role = 'result' and p.status = 'planned'
group by p.target, p.block_id
order by min(p.position)
