-- The rows of pgbench_accounts, as COPY writes them; a row takes 97 bytes of data in every layout: three integers, and
-- 84 blanks with one byte for their length. Written by DuckDB as a file, once for each scale.
select id as aid, (id - 1) // {{rows}} + 1 as bid, 0 as abalance, repeat(' ', 84) as filler
from range(1, {{rows}} * {{scale}} + 1) as keys(id)
