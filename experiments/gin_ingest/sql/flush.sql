select sum(gin_clean_pending_list(i.indexrelid::regclass))
from pg_inherits as h
join pg_index as i on i.indrelid = h.inhrelid
join pg_class as c on c.oid = i.indexrelid
join pg_am as a on a.oid = c.relam
where h.inhparent = {{table_name}}::regclass and a.amname = 'gin'
