-- One row per target: how long the study's lists can have been. Its 31,201,390 transactions fell on 1025 tables by chance, a
-- row of 64 values each; what such a row takes in a list is measured, in the cell with the most rows per list. The server
-- counts 8,160 usable bytes for a page of 8 kB (GIN_PAGE_FREESIZE), and the study's limit was 65,535 kB.
with list as (
    select s.target, cast(s.levels->>'tables' as integer) as tables,
        max(median) filter (metric = 'pending_pages') as pages, max(median) filter (metric = 'pending_tuples') as tuples
    from summary as s
    where step = 'pending' and levels->>'fastupdate' = 'on' and levels->>'gin_pending_list_limit' = '64MB'
        and levels->>'array_length' = '64'
    group by s.target, s.cell_id, s.levels
),
study as (
    select target, pages * 8160 / tuples as bytes_per_row, 31201390 / 1025 as rows_per_table, 65535 * 1024 as list_limit,
        case when tuples < 100 * tables then 'fewer than 100 rows per list: mostly empty pages' end as inconclusive
    from list
    where tuples > 0
    qualify row_number() over (partition by target order by tuples / tables desc) = 1
)
select target, bytes_per_row, rows_per_table, rows_per_table * bytes_per_row as list_bytes, list_limit,
    list_bytes / list_limit as share_of_limit, inconclusive,
    format('{}: {:.0f} bytes of list per row x {:.0f} rows per table = {:.1f} MB, {:.0f} % of the limit after 300 s',
        target, bytes_per_row, rows_per_table, list_bytes / 1048576, 100 * share_of_limit) as told
from study
order by target
