-- The study's row: a number and 64 characters; these differ from row to row, so that nothing can be left out of a column.
create table {{source}} as
select id, md5({{data_seed}} || ':' || id) || md5({{data_seed}} || '/' || id) as v
from generate_series(1, {{rows}}) as id
