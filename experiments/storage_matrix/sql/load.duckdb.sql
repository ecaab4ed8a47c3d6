-- The same as load.sql: DuckDB reads hexadecimal digits by a cast of '0x...'.
insert into {{table}}
select id, repeat(h, 128), c2 from {{source}} where {{making}} = 'source'
union all
select
    id::integer,
    repeat(md5({{data_seed}} || ':' || id), 128),
    ('0x' || substr(md5({{data_seed}} || '/' || id), 1, 7))::integer % 10001
from range(1, {{rows}} + 1) as keys(id)
where {{making}} = 'generated' and {{row_order}} = 'scattered'
