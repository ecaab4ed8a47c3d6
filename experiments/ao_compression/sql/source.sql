-- The rows of every shape in one narrow table; each load takes its own. Every value derives from the key and the data seed.
create table {{source}} as
select
    'repeated'::text as shape, id,
    (array['append', 'optimized', 'storage', 'column', 'orientation', 'compression', 'block', 'segment'])
        [1 + ('x' || substr(md5({{data_seed}} || ':' || id), 1, 7))::bit(28)::integer % 8] as word,
    null::integer as few
from generate_series(1, {{rows}}) as id
union all
select 'sorted', id, null, (id - 1) * 16 / {{rows}} from generate_series(1, {{rows}}) as id
union all
select 'random', id, null, null from generate_series(1, {{rows}}) as id
