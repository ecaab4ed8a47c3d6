-- One row per planned block for the rows that it loaded, and one per planned cell for what its lookup returned, each
-- beside the digest that the run saw first for the same step.
with owed as (
    select target, block_id, min(storage_form) as storage_form, 'load' as step, min(position) as position, null as cell_id
    from planned_cell
    where role = 'result' and status = 'planned'
    group by target, block_id
    union all
    select target, block_id, storage_form, 'lookup', position, cell_id
    from planned_cell
    where role = 'result' and status = 'planned'
),
digest as (
    select c.target, c.block_id, c.cell_id, m.step, m.text_value, m.measured_at
    from measurement as m
    join cell as c using (run_id, cell_id, replicate)
    where m.metric in ('row_digest', 'result_digest') and c.status = 'ok'
),
first as (
    select step, min_by(text_value, measured_at) as reference from digest group by step
)
select o.target, o.storage_form, o.step, d.text_value as digest, f.reference
from owed as o
left join digest as d
    on d.target = o.target and d.step = o.step and d.block_id = o.block_id
    and (o.cell_id is null or d.cell_id = o.cell_id)
left join first as f on f.step = o.step
order by o.step, o.position
