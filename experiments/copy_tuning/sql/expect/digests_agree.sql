-- One row per planned cell and COPY step: the digest of the rows in its table beside that of the rows in the file. What is
-- no server of the PostgreSQL family has one COPY step: it is its own client.
with owed as (
    select p.*, unnest(case when p.dialect = 'duckdb' then ['copy_from_file'] else ['copy_from_file', 'copy_from_stdin'] end) as step
    from planned_cell as p
    left join cell as c using (run_id, cell_id, replicate)
    where p.role = 'result' and p.status = 'planned' and c.status is distinct from 'unsupported'
)
select
    o.target, o.storage_form, o.step,
    max(m.text_value) filter (m.metric = 'row_digest') as table_digest,
    max(m.text_value) filter (m.metric = 'file_digest') as file_digest
from owed as o
left join measurement as m
    on m.run_id = o.run_id and m.cell_id = o.cell_id and m.replicate = o.replicate and m.step = o.step
group by o.target, o.storage_form, o.step, o.cell_id, o.replicate, o.position
order by o.position, o.step
