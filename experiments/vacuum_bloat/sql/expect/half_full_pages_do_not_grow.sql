-- One row per table at fillfactor 50: its largest size in any round over its size as loaded. A new version finds room on the
-- page of the old one (HOT), and once that is dead a scan prunes it: no VACUUM is needed for that.
select target, storage_form, max(ratio) as largest
from rounds
where step = 'size' and metric = 'table_bytes' and levels->>'fillfactor' = '50' and coalesce(levels->>'access_method', 'heap') = 'heap'
group by target, storage_form, cell_id
order by target, storage_form
