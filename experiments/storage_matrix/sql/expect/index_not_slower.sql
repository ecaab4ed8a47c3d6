-- One row per indexed cell of an engine that counts pages (DuckDB, Greenplum and column tables do not), less those whose plan
-- is known to read 5 % or more of the pages that the full scan reads: that is known of none before it ran, so one row is
-- promised. Slower means that the two intervals lie apart by more than the noise floor of half a millisecond.
with lookup as (
    select
        cell_id,
        max(median) filter (metric = 'query_time') as seconds,
        max(interval_low) filter (metric = 'query_time') as low,
        max(interval_high) filter (metric = 'query_time') as high,
        max(median) filter (metric = 'pages_accessed') as pages
    from summary
    where step = 'lookup' and node is null
    group by cell_id
),
pair as (
    select i.*, b.cell_id as base_cell
    from planned_cell as i
    join planned_cell as b
        on b.target = i.target and b.is_base and b.replicate = 1 and b.role = 'result' and b.status = 'planned'
        and levels_key(b.storage_levels) = levels_key(i.storage_levels)
    join run_target as t on t.target = i.target
    where not i.is_base and i.role = 'result' and i.status = 'planned' and i.replicate = 1 and i.dialect <> 'duckdb'
        and not list_contains(t.lineage, 'greenplum') and coalesce(i.levels->>'orientation', 'heap') <> 'column'
)
select
    pair.target, storage_form, in_place, scan.seconds as scan_seconds, own.seconds as index_seconds,
    scan.pages as scan_pages, own.pages as index_pages,
    case when index_pages is null or scan_pages is null then null when own.low - scan.high <= 0.0005 then 0
        else own.low - scan.high end as slower_by
from pair
left join lookup as scan on scan.cell_id = base_cell
left join lookup as own on own.cell_id = pair.cell_id
where own.pages is null or scan.pages is null or own.pages < 0.05 * scan.pages
order by position
