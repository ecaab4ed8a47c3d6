-- The same rows as source.sql: DuckDB reads hexadecimal digits by a cast of '0x...'.
create table {{source}} as
select id, h, c2
from (
    select
        id::integer as id,
        md5({{data_seed}} || ':' || id) as h,
        ('0x' || substr(md5({{data_seed}} || '/' || id), 1, 7))::integer % 10001 as c2
    from range(1, {{rows}} + 1) as keys(id)
) as made
order by case when {{row_order}} = 'correlated' then c2 end, id
