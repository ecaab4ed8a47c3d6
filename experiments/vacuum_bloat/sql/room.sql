select 'reusable_bytes', sum(avail) from pg_freespace({{table_name}}::regclass)
