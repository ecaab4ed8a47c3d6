-- The second page that has rows: the first of a zheap is its meta page.
select 'rows_per_page', count(*) from {{table}} where ctid >= '(2,0)' and ctid < '(3,0)'
