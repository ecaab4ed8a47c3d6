-- One row per table that took batches after one full update: the batch with which it began to grow. What was vacuumed has
-- room for as many rows as the update left dead; what was not, or has been given back, has none. The last page of a table
-- may be half empty, so that a small batch finds room in it and the growth comes one batch late.
with size as (
    select p.target, p.storage_form, p.levels, p.cell_id, s.action, s.turn, r.median,
        lag(r.median) over (partition by p.cell_id order by s.round) as before
    from planned_cell as p
    join series_round as s using (run_id, cell_id, replicate)
    left join rounds as r on r.run_id = s.run_id and r.cell_id = s.cell_id and r.round = s.round
        and r.step = 'size' and r.metric = 'table_bytes'
    where p.status = 'planned' and p.role = 'result' and p.replicate = 1 and p.levels->>'fillfactor' = '100'
        and coalesce(p.levels->>'access_method', 'heap') = 'heap' and p.levels->>'updates' = '1' and s.action in ('vacuum', 'batch')
),
growth as (
    select target, storage_form, levels, cell_id, min(turn) filter (median > before) as grew, max(turn) as batches,
        bool_and(median is not null and before is not null) as is_whole
    from size
    where action = 'batch'
    group by all
)
select target, storage_form, coalesce(grew, batches + 1) as first_growth,
    least(case when levels->>'vacuum' in ('VACUUM', 'autovacuum') then {{rows}} // {{batch_rows}} else 0 end, batches) + 1 as expected,
    case when is_whole then first_growth - expected end as late_by,
    format('{} {}: grows with batch {}', target, levels->>'vacuum', coalesce(cast(grew as varchar), 'none')) as told
from growth
order by target, storage_form
