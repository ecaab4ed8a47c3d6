-- Two rows per planned cell: a digest of its rows, taken after the load and after every kind of change, and one of what its
-- count(*) returned; a deviating one if there is any. Each beside the digest that the run saw first.
with digest as (
    select c.target, c.cell_id, m.metric, m.text_value, m.measured_at
    from measurement as m
    join cell as c using (run_id, cell_id, replicate)
    where m.metric in ('row_digest', 'result_digest') and c.status = 'ok' and c.role = 'result'
),
first as (
    select metric, min_by(text_value, measured_at) as reference from digest group by metric
)
select p.target, p.storage_form, f.metric,
    coalesce(min(d.text_value) filter (d.text_value <> f.reference), min(d.text_value)) as digest, f.reference
from planned_cell as p
cross join first as f
left join digest as d on d.cell_id = p.cell_id and d.target = p.target and d.metric = f.metric
where p.role = 'result' and p.status = 'planned'
group by p.target, p.storage_form, p.position, f.metric, f.reference
order by p.position, f.metric
