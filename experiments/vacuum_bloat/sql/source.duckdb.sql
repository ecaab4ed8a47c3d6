create table {{source}} as
select id::integer as id, md5({{data_seed}} || ':' || id) || md5({{data_seed}} || '/' || id) as v
from range(1, {{rows}} + 1) as keys(id)
