-- One row per append-optimized form: whether it is less than half of what it is held against, and whether TOAST compressed its
-- rows. TOAST comes before the block and its codec, where a row is longer than a quarter of the block; it never comes to
-- columns. So an uncompressed form is held against the heap, and a compressed one by row against the same by column.
with form as (
    select
        p.cell_id, p.target, p.storage_form, p.position, p.levels->>'orientation' as orientation,
        p.levels->>'blocksize' as blocksize, p.levels->>'compression' as compression
    from planned_cell as p
    join run_target as t using (run_id, target)
    where p.role = 'result' and p.status = 'planned' and p.replicate = 1 and p.is_base and list_contains(t.lineage, 'greenplum')
),
measured as (
    select
        cell_id,
        max(median) filter (metric = 'table_bytes') + max(median) filter (metric = 'toast_bytes') as bytes,
        max(median) filter (metric = 'column_bytes') as stored,
        max(median) filter (metric = 'value_bytes') as whole
    from summary
    where step = 'size' and node is null
    group by cell_id
),
pair as (
    select f.*, o.cell_id as other_cell, 'heap' as other
    from form as f
    join form as o on o.target = f.target and o.orientation = 'heap'
    where f.orientation in ('ao_row', 'ao_column') and f.compression = 'none'
    union all
    select f.*, o.cell_id, 'the same by column'
    from form as f
    join form as o
        on o.target = f.target and o.orientation = 'ao_column' and o.blocksize = f.blocksize and o.compression = f.compression
    where f.orientation = 'ao_row' and f.compression <> 'none'
)
select
    p.target, p.storage_form, p.other, own.bytes, against.bytes as other_bytes, own.stored, own.whole,
    cast(2 * own.bytes < against.bytes as integer) as is_small,
    cast(2 * own.stored < own.whole as integer) as is_toasted,
    case when 2 * own.bytes < against.bytes and 2 * own.stored < own.whole then format(
        '{}: {:.1f} times smaller than {} because TOAST compressed its rows, longer than a quarter of the {} block, before '
            'they came to it: mean stored size {:.0f} of {:.0f} bytes; a scan reads as much less',
        p.storage_form, against.bytes / own.bytes, p.other, p.blocksize, own.stored, own.whole)
    end as told
from pair as p
left join measured as own on own.cell_id = p.cell_id
left join measured as against on against.cell_id = p.other_cell
order by p.position
