-- One row per target and setting that has several levels: the geometric mean of COPY's time at a further level over that at
-- the first, over all pairs that are alike in every other setting; NULL where a pair lacks a time.
with form as (
    select p.run_id, p.cell_id, p.target, p.levels, p.position, s.median as seconds, unnest(json_keys(p.levels)) as setting
    from planned_cell as p
    left join cell as c using (run_id, cell_id, replicate)
    left join summary as s on s.run_id = p.run_id and s.cell_id = p.cell_id and s.step = 'copy' and s.metric = 'commit_time'
    where p.role = 'result' and p.status = 'planned' and c.status is distinct from 'unsupported' and p.replicate = 1
),
axis as (
    select
        *, levels->>setting as level, levels_key(json_merge_patch(levels, json_object(setting, null))) as twin,
        row_number() over (partition by target, setting, twin order by position) = 1 as is_first
    from form
),
pair as (
    select o.target, o.setting, o.level, b.level as first_level, o.position, o.seconds / b.seconds as ratio
    from axis as o
    join axis as b on b.target = o.target and b.setting = o.setting and b.twin = o.twin and b.is_first
    where not o.is_first
)
select
    target, setting, level, first_level, count(*) as pairs,
    case when count(ratio) = count(*) then exp(avg(ln(ratio))) end as time_ratio,
    format('{}, {} {} after {}: {:.2f} of the time', target, setting, level, first_level, time_ratio) as told
from pair
group by target, setting, level, first_level
order by time_ratio, min(position) desc
