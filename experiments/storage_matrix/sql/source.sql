-- One narrow row per key; the load makes the wide one of it. Every value derives from the key and the data seed.
create table {{source}} as
select id, h, c2
from (
    select
        id,
        md5({{data_seed}} || ':' || id) as h,
        ('x' || substr(md5({{data_seed}} || '/' || id), 1, 7))::bit(28)::integer % 10001 as c2
    from generate_series(1, {{rows}}) as id
) as made
order by case when {{row_order}} = 'correlated' then c2 end, id
