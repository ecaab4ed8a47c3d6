-- One row per block: the digest of its rows beside the one that the run saw first for the same shape, and as many rows as asked.
with digest as (
    select c.target, c.block_id, c.levels->>'shape' as shape, max(m.text_value) as digest, min(m.measured_at) as measured_at
    from measurement as m
    join cell as c using (run_id, cell_id, replicate)
    where m.metric = 'row_digest' and c.status = 'ok'
    group by all
),
first as (
    select shape, min_by(digest, measured_at) as reference from digest group by shape
)
select
    p.target, p.storage_form, d.digest, {{rows}} || substr(f.reference, strpos(f.reference, ':')) as reference
from planned_cell as p
left join digest as d on d.target = p.target and d.block_id = p.block_id
left join first as f on f.shape = p.levels->>'shape'
where p.status = 'planned' and p.role = 'result'
order by p.position
