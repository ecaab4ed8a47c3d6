-- One row per table that took batches after one full update: the batch with which it began to grow. What was vacuumed has
-- room for as many rows as the update left dead; what was not, or has been given back, has none. The last page of a table
-- may be half empty, so that a small batch finds room in it and the growth comes one batch late.
with size as (
    select target, storage_form, levels, cell_id, turn, median,
        lag(median) over (partition by cell_id order by round) as before
    from (
        select *, row_number() over (partition by cell_id order by round desc) as place
        from rounds
        where step = 'size' and metric = 'table_bytes' and levels->>'fillfactor' = '100'
            and coalesce(levels->>'access_method', 'heap') = 'heap' and levels->>'updates' = '1' and action in ('vacuum', 'batch')
    )
),
growth as (
    select target, storage_form, levels, cell_id, min(turn) filter (median > before) as grew, max(turn) as batches
    from size
    where before is not null
    group by all
)
select target, storage_form, coalesce(grew, batches + 1) as first_growth,
    least(case when levels->>'vacuum' in ('VACUUM', 'autovacuum') then {{rows}} // {{batch_rows}} else 0 end, batches) + 1 as expected,
    first_growth - expected as late_by,
    format('{} {}: grows with batch {}', target, levels->>'vacuum', coalesce(cast(grew as varchar), 'none')) as told
from growth
order by target, storage_form
