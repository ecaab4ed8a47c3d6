-- One row per cell with a list that is not flushed while pgbench runs: WAL per row by the insert and by the flush.
select target, storage_form, levels->>'tables' as tables,
    max(median) filter (step = 'ingest' and metric = 'wal_bytes') / max(median) filter (metric = 'transactions') as insert_bytes,
    max(median) filter (step = 'flush' and metric = 'wal_bytes') / max(median) filter (metric = 'transactions') as flush_bytes,
    flush_bytes / (insert_bytes + flush_bytes) as share_of_flush,
    max(median) filter (metric = 'tps') as tps, max(median) filter (metric = 'tps_including_cleanup') as tps_including_cleanup,
    format('{} {} tables: {:.0f} bytes of WAL per row by the insert, {:.0f} by the flush; {:.0f} tps, {:.0f} with the flush',
        target, tables, insert_bytes, flush_bytes, tps, tps_including_cleanup) as told
from summary
where node is null and round is null and levels->>'fastupdate' = 'on' and levels->>'gin_pending_list_limit' = '64MB'
group by target, storage_form, levels, cell_id
order by target, cast(levels->>'tables' as integer)
