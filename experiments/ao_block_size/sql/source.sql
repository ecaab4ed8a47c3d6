create table {{source}} as
select id, md5({{data_seed}} || ':' || id) as h, ('x' || substr(md5({{data_seed}} || '/' || id), 1, 7))::bit(28)::integer % 10001 as c2
from generate_series(1, {{rows}}) as id
