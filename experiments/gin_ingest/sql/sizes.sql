-- Of all children together.
with family as (select inhrelid as child from pg_inherits where inhparent = {{table_name}}::regclass)
select 'rows', count(*) from {{table}}
union all select 'table_bytes', sum(pg_relation_size(child)) from family
union all select 'index_bytes', sum(pg_indexes_size(child)) from family
union all select 'total_bytes', sum(pg_total_relation_size(child)) from family
