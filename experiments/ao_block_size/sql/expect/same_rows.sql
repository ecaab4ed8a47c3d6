-- One row per block: the digest of its rows beside the one that the run saw first, and the rows that were asked for.
with digest as (
    select c.target, c.block_id, max(m.text_value) as digest, min(m.measured_at) as measured_at
    from measurement as m
    join cell as c using (run_id, cell_id, replicate)
    where m.metric = 'row_digest' and c.status = 'ok'
    group by c.target, c.block_id
)
select
    p.target, min(p.storage_form) as storage_form, max(d.digest) as digest,
    {{rows}} || substr((select min_by(digest, measured_at) from digest), strpos((select min_by(digest, measured_at) from digest), ':'))
        as reference
from planned_cell as p
left join digest as d on d.target = p.target and d.block_id = p.block_id
where p.status = 'planned' and p.role = 'result'
group by p.target, p.block_id
order by min(p.position)
