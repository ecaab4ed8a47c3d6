-- One row per indexed cell: the pages and rows that are still pending after the cleanup.
select target, storage_form, sum(median) as pending_left
from summary
where step = 'pending_left'
group by target, storage_form, cell_id
order by target, storage_form
