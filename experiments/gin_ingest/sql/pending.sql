-- The metapage of each index has these counts.
with family as (
    select i.indexrelid
    from pg_inherits as h
    join pg_index as i on i.indrelid = h.inhrelid
    join pg_class as c on c.oid = i.indexrelid
    join pg_am as a on a.oid = c.relam
    where h.inhparent = {{table_name}}::regclass and a.amname = 'gin'
),
list as (
    select sum(g.pending_pages) as pages, sum(g.pending_tuples) as tuples, max(g.pending_pages) as longest
    from family as f, lateral pgstatginindex(f.indexrelid::regclass) as g
)
select m.metric, m.value
from list, lateral (
    values ('pending_pages', list.pages), ('pending_tuples', list.tuples), ('longest_pending_list', list.longest)
) as m(metric, value)
