-- One row per cell with a list that is not flushed while pgbench runs: its tps with the cleanup counted, over the tps of the
-- same inserts straight into the index. Each is one run of pgbench, so that 15 % on either side decide nothing.
with rate as (
    select target, levels->>'tables' as tables, levels->>'clients' as clients, levels->>'array_length' as array_length,
        levels->>'fastupdate' as fastupdate, levels->>'gin_pending_list_limit' as list_limit,
        max(median) filter (metric = 'tps') as tps, max(median) filter (metric = 'tps_including_cleanup') as tps_including_cleanup
    from summary
    where step = 'ingest' and round is null and levels->>'index' = 'gin(arr)'
    group by target, cell_id, levels
)
select l.target, l.tables, l.clients, l.array_length, l.tps, l.tps_including_cleanup, o.tps as tps_straight,
    l.tps_including_cleanup / o.tps as gain,
    case when gain between 0.85 and 1.15 then format('{:.2f}x in one run each is within the noise', gain) end as inconclusive,
    format('{} {} tables: {:.0f} tps, {:.0f} with the cleanup, {:.0f} straight into the index',
        l.target, l.tables, l.tps, l.tps_including_cleanup, o.tps) as told
from rate as l
join rate as o using (target, tables, clients, array_length)
where l.list_limit = '64MB' and o.fastupdate = 'off'
order by l.target, cast(l.tables as integer)
