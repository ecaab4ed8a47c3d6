-- One row per form of the study: table and index together in ratio to the heap, beside the same ratio of the study.
select
    target, storage_form, round(our_ratio, 4) as our_ratio, round(published_ratio, 4) as published_ratio, agreement
from against_published
where step = 'size' and metric = 'total_bytes' and published_ratio <> 1 and comparable is distinct from false
order by target, published_ratio
