-- One row per table that took batches with VACUUM before each: by how much it grew from the first of them to the last.
select target, storage_form, max(median) - min_by(median, round) as grown_bytes
from rounds
where step = 'size' and metric = 'table_bytes' and action = 'vacuum_between, batch' and levels->>'fillfactor' is not null
group by target, storage_form, cell_id
order by target, storage_form
