-- One row per cell with pending lists: the longest of them over their limit, in the server's own count of usable bytes.
select target, storage_form,
    max(median) * 8160
        / case levels->>'gin_pending_list_limit' when '64kB' then 65536 when '4MB' then 4194304 when '64MB' then 67108864 end
        as share_of_limit
from summary
where step = 'pending' and metric = 'longest_pending_list' and levels->>'fastupdate' = 'on'
group by target, storage_form, levels, cell_id
order by target, storage_form
