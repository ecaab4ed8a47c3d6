select 'all_visible_pages', all_visible from pg_visibility_map_summary({{table_name}}::regclass)
