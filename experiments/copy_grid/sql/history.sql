-- The study's rows, nine values each, but from the key and the data seed instead of random(): one md5 has 32 digits to
-- cut the numbers from. Written by DuckDB as a file, once.
select
    id as hist_id,
    ('0x' || h[1:4])::integer % 1001 as h_c_id,
    ('0x' || h[5:8])::integer % 1001 as h_c_d_id,
    ('0x' || h[9:12])::integer % 1001 as h_c_w_id,
    ('0x' || h[13:16])::integer % 1001 as h_d_id,
    ('0x' || h[17:20])::integer % 1001 as h_w_id,
    timestamp '2022-12-07 16:00:00' + to_seconds(id // 50000) as h_date,
    (('0x' || h[21:25])::integer % 999901 / 100.0)::decimal(6, 2) as h_amount,
    h[13:32] as h_data
from (select id, md5({{data_seed}} || '/' || id) as h from range(1, {{rows}} + 1) as keys(id)) as hashed
