-- The wide text is made here, as a plain value: a row copied from a compressed source would keep its compression.
-- Of the two halves the planner leaves one. The second loads as the study did, with rows from generate_series; they come
-- in the order of the key, so with row_order = correlated there are none.
insert into {{table}}
select id, repeat(h, 128), c2 from {{source}} where {{making}} = 'source'
union all
select
    id,
    repeat(md5({{data_seed}} || ':' || id), 128),
    ('x' || substr(md5({{data_seed}} || '/' || id), 1, 7))::bit(28)::integer % 10001
from generate_series(1, {{rows}}) as id
where {{making}} = 'generated' and {{row_order}} = 'scattered'
