-- One row per planned cell of an access method whose pages we know: what a page and the table hold as measured, beside
-- what the layout predicts. A row has 97 bytes of data: three integers, 84 blanks and one byte for their length.
with layout(access_method, page_header, slots, tuple_header, alignment, meta_pages) as (
    values
        ('heap', 24, 0, 23, 8, 0),       -- PostgreSQL: bufpage.h, htup_details.h
        ('zheap', 24, 4 * 16, 5, 1, 1),  -- zheap: four transaction slots a page; no alignment (zhtup.h, zheap.h)
        ('astore', 40, 0, 23, 8, 0),     -- openGauss: a page header with 64-bit bases of transaction ids (bufpage.h)
        ('ustore', 56, 4 * 16, 11, 1, 0) -- openGauss: knl_upage.h, knl_utuple.h
),
form as (
    select
        p.run_id, p.cell_id, p.target, p.storage_form, p.position, l.access_method, l.meta_pages,
        cast(p.levels->>'fillfactor' as bigint) as fillfactor,
        {{rows}} * cast(p.levels->>'scale' as bigint) as rows,
        -- The header alone is aligned, then header and data together; four bytes point to the row.
        cast(ceil((ceil(l.tuple_header / l.alignment) * l.alignment + 97) / l.alignment) * l.alignment + 4 as bigint) as row_bytes,
        8192 - l.page_header - l.slots - 8192 * (100 - fillfactor) // 100 as room
    from planned_cell as p
    join layout as l on l.access_method = p.levels->>'access_method'
    left join cell as c using (run_id, cell_id, replicate)
    where p.role = 'result' and p.status = 'planned' and c.status is distinct from 'unsupported' and p.replicate = 1
),
measured as (
    select
        run_id, cell_id,
        max(median) filter (metric = 'rows_per_page') as rows_per_page,
        max(median) filter (metric = 'table_bytes') as table_bytes
    from summary
    where node is null
    group by run_id, cell_id
)
select
    target, storage_form, access_method, fillfactor, row_bytes,
    rows_per_page, room // row_bytes as predicted_rows_per_page,
    table_bytes, 8192 * (ceil(rows / predicted_rows_per_page) + meta_pages) as predicted_bytes,
    table_bytes / rows as bytes_per_row, predicted_bytes / rows as predicted_bytes_per_row,
    table_bytes / predicted_bytes - 1 as deviation,
    format('{} at {}: {} rows of {} bytes on a page, {:.1f} bytes of table a row (predicted {} and {:.1f})',
        access_method, fillfactor, cast(rows_per_page as bigint), row_bytes, bytes_per_row, predicted_rows_per_page,
        predicted_bytes_per_row) as told
from form
left join measured using (run_id, cell_id)
order by position
