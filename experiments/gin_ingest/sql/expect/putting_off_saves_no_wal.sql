-- One row per cell with a list that is not flushed while pgbench runs: its WAL per row, that of the flush included, over the
-- WAL per row of the same inserts straight into the index.
with wal as (
    select target, levels->>'tables' as tables, levels->>'clients' as clients, levels->>'array_length' as array_length,
        levels->>'fastupdate' as fastupdate, levels->>'gin_pending_list_limit' as list_limit,
        (max(median) filter (step = 'ingest' and metric = 'wal_bytes') + max(median) filter (step = 'flush' and metric = 'wal_bytes'))
            / max(median) filter (metric = 'transactions') as bytes_per_row
    from summary
    where node is null and round is null and levels->>'index' = 'gin(arr)'
    group by target, cell_id, levels
)
select l.target, l.tables, l.clients, l.array_length, l.bytes_per_row, o.bytes_per_row as straight_bytes_per_row,
    l.bytes_per_row / o.bytes_per_row as ratio,
    format('{} {} tables: {:.0f} bytes of WAL per row, {:.0f} straight into the index: {:.2f}x',
        l.target, l.tables, l.bytes_per_row, o.bytes_per_row, ratio) as told
from wal as l
join wal as o using (target, tables, clients, array_length)
where l.list_limit = '64MB' and o.fastupdate = 'off'
order by l.target, cast(l.tables as integer)
