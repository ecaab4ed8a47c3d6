-- The views that analysts start from. Nothing partial counts: `sample` says which samples do, and all the others build on it.

create macro levels_key(levels) as list_sort(map_entries(cast(levels as map(varchar, varchar))));
comment on macro levels_key is 'Levels in a form that compares equal whatever the order of the factors';

-- The baseline of a figure has the baseline's levels, and the figure's own in every other factor that applies to both.
-- (A lambda's parameter gives way to a table alias of the same name, hence the long ones.)
create macro is_baseline(candidate, levels, baseline) as
    len(list_filter(map_entries(cast(baseline as map(varchar, varchar))),
        lambda wanted_level: cast(candidate as map(varchar, varchar))[wanted_level.key] is distinct from wanted_level.value
    )) = 0
    and len(list_filter(map_entries(cast(candidate as map(varchar, varchar))),
        lambda candidate_level: cast(baseline as map(varchar, varchar))[candidate_level.key] is null
            and cast(levels as map(varchar, varchar))[candidate_level.key] <> candidate_level.value
    )) = 0;
comment on macro is_baseline is 'Whether the levels of a candidate are what a figure at these levels is set in ratio to';

create view sample as
select
    run_id, r.experiment, c.target, c.dialect, cell_id, c.content_hash, replicate, c.block_id, c.levels, c.storage_form,
    c.in_place, c.is_base, m.step, m.metric, m.unit, m.repetition, m.round, m.clock, m.node, m.value, m.method, m.measured_at
from measurement m
join cell c using (run_id, cell_id, replicate)
join run r using (run_id)
where c.role = 'result' and c.status = 'ok' and m.status = 'ok' and not m.is_warmup and m.value is not null;
comment on view sample is 'Every sample that counts as a result: of cells that ended ok, without warm-ups, no-op cells and missing values';
comment on column sample.run_id is 'The run';
comment on column sample.experiment is 'The experiment';
comment on column sample.target is 'Name of the target';
comment on column sample.dialect is 'Dialect of the target';
comment on column sample.cell_id is 'The cell';
comment on column sample.content_hash is 'Digest of all that makes two measurements of a cell alike';
comment on column sample.replicate is 'The replicate of the cell''s block';
comment on column sample.block_id is 'The block';
comment on column sample.levels is 'Level of every factor that applies';
comment on column sample.storage_form is 'The reload levels in words';
comment on column sample.in_place is 'The in-place levels in words';
comment on column sample.is_base is 'Whether every in-place factor is at its base level';
comment on column sample.step is 'The step';
comment on column sample.metric is 'What was measured';
comment on column sample.unit is 'Unit of value';
comment on column sample.repetition is 'Which repetition on the same table';
comment on column sample.round is 'Which round of a series';
comment on column sample.clock is 'Whose clock: client or server';
comment on column sample.node is 'Which node of a cluster; NULL is the whole target';
comment on column sample.value is 'The value';
comment on column sample.method is 'How it was measured';
comment on column sample.measured_at is 'When, UTC';

-- Order statistics give an interval for the median that assumes no distribution. Up to 8 samples it is min to max; the rank
-- below covers at least 95 % from 6 samples on.
create view summary as
with grouped as (
    select
        run_id, experiment, target, dialect, cell_id, content_hash, levels, storage_form, in_place, is_base,
        step, metric, unit, clock, node, round, min(block_id) as block_id, list_sort(list(value)) as sorted,
        cast(greatest(1, floor((count(*) + 1) / 2 - 0.98 * sqrt(count(*)))) as bigint) as rank,
        max(method) as method, max(measured_at) as measured_at
    from sample
    group by all
)
select
    run_id, experiment, target, dialect, cell_id, content_hash, block_id, levels, storage_form, in_place, is_base,
    step, metric, unit, clock, node, round,
    len(sorted) as n, list_median(sorted) as median, sorted[1] as minimum, sorted[-1] as maximum,
    sorted[rank] as interval_low, sorted[-rank] as interval_high,
    case when len(sorted) < 6 then 1 - 2 / pow(2, len(sorted)) else 0.95 end as coverage,
    method, measured_at
from grouped;
comment on view summary is 'Samples that count in one row per run, cell, step, metric, clock, node and round: median with an interval';
comment on column summary.run_id is 'The run';
comment on column summary.experiment is 'The experiment';
comment on column summary.target is 'Name of the target';
comment on column summary.dialect is 'Dialect of the target';
comment on column summary.cell_id is 'The cell';
comment on column summary.content_hash is 'Digest of all that makes two measurements of a cell alike';
comment on column summary.block_id is 'The block; of several replicates one of theirs';
comment on column summary.levels is 'Level of every factor that applies';
comment on column summary.storage_form is 'The reload levels in words';
comment on column summary.in_place is 'The in-place levels in words';
comment on column summary.is_base is 'Whether every in-place factor is at its base level';
comment on column summary.step is 'The step';
comment on column summary.metric is 'What was measured';
comment on column summary.unit is 'Unit of the values';
comment on column summary.clock is 'Whose clock: client or server';
comment on column summary.node is 'Which node of a cluster; NULL is the whole target';
comment on column summary.round is 'Which round of a series';
comment on column summary.n is 'Number of samples, over all replicates';
comment on column summary.median is 'Median of the samples';
comment on column summary.minimum is 'Smallest sample';
comment on column summary.maximum is 'Largest sample';
comment on column summary.interval_low is 'Lower end of the interval for the median, from order statistics; no distribution is assumed';
comment on column summary.interval_high is 'Upper end of that interval';
comment on column summary.coverage is 'How sure the interval is to hold the median: at least 0.95 from 6 samples on, 0 for one sample';
comment on column summary.method is 'How it was measured';
comment on column summary.measured_at is 'When the last sample was taken, UTC';

create view latest as
select s.*, r.profile, r.parameters
from summary s
join run r using (run_id)
qualify row_number() over (
    partition by s.cell_id, s.content_hash, s.step, s.metric, s.clock, s.node, s.round
    order by r.started_at desc, run_id desc) = 1;
comment on view latest is 'The newest summary of each cell with the same content: what we know now';
comment on column latest.run_id is 'The run that it comes from';
comment on column latest.experiment is 'The experiment';
comment on column latest.target is 'Name of the target';
comment on column latest.dialect is 'Dialect of the target';
comment on column latest.cell_id is 'The cell';
comment on column latest.content_hash is 'Digest of all that makes two measurements of a cell alike';
comment on column latest.block_id is 'The block; of several replicates one of theirs';
comment on column latest.levels is 'Level of every factor that applies';
comment on column latest.storage_form is 'The reload levels in words';
comment on column latest.in_place is 'The in-place levels in words';
comment on column latest.is_base is 'Whether every in-place factor is at its base level';
comment on column latest.step is 'The step';
comment on column latest.metric is 'What was measured';
comment on column latest.unit is 'Unit of the values';
comment on column latest.clock is 'Whose clock: client or server';
comment on column latest.node is 'Which node of a cluster; NULL is the whole target';
comment on column latest.round is 'Which round of a series';
comment on column latest.n is 'Number of samples, over all replicates';
comment on column latest.median is 'Median of the samples';
comment on column latest.minimum is 'Smallest sample';
comment on column latest.maximum is 'Largest sample';
comment on column latest.interval_low is 'Lower end of the interval for the median';
comment on column latest.interval_high is 'Upper end of that interval';
comment on column latest.coverage is 'How sure the interval is to hold the median';
comment on column latest.method is 'How it was measured';
comment on column latest.measured_at is 'When the last sample was taken, UTC';
comment on column latest.profile is 'Profile of the run';
comment on column latest.parameters is 'Parameters of the run, rows among them: cells that differ in them lie side by side here';

create view storage_matrix as
with whole as (
    select *, bool_or(metric = 'load_time') over (partition by run_id, cell_id, step) as is_load
    from summary
    where node is null and round is null and (clock is null or clock = 'client')
),
wide as (
    select
        run_id, cell_id,
        median(median) filter (metric = 'load_time') as load_time,
        median(median) filter (metric = 'commit_time') as commit_time,
        median(median) filter (metric = 'wal_bytes' and is_load) as load_wal_bytes,
        median(median) filter (metric = 'cpu_time' and is_load) as load_cpu_time,
        max_by(median, measured_at) filter (metric = 'total_bytes') as total_bytes,
        max_by(median, measured_at) filter (metric = 'table_bytes') as table_bytes,
        max_by(median, measured_at) filter (metric = 'toast_bytes') as toast_bytes,
        max_by(median, measured_at) filter (metric = 'index_bytes') as index_bytes,
        max_by(median, measured_at) filter (metric = 'auxiliary_bytes') as auxiliary_bytes,
        median(median) filter (metric = 'query_time' and step = 'group_by') as group_by,
        median(median) filter (metric = 'query_time' and step = 'lookup') as lookup,
        median(median) filter (metric = 'index_build_time') as index_build
    from whole
    group by run_id, cell_id
),
ran as (
    select
        c.run_id, c.cell_id, any_value(c.target) as target, any_value(c.dialect) as dialect, min(c.block_id) as block_id,
        any_value(c.levels) as levels, any_value(c.storage_levels) as storage_levels, any_value(c.storage_form) as storage_form,
        any_value(c.in_place) as in_place, bool_and(c.is_base) as is_base, min(p.position) as position, count(*) as replicates,
        coalesce(min(c.status) filter (c.status <> 'ok'), 'ok') as status, min(c.reason) as reason
    from cell c
    join planned_cell p using (run_id, cell_id, replicate)
    where c.role = 'result' and c.status <> 'unsupported'
    group by c.run_id, c.cell_id
),
-- A form without a changed cell still has its row; a changed cell finds the base measurements in the cell of the same form.
line as (
    select * from ran where not is_base
    union all
    select b.* from ran b where b.is_base and not exists (
        from ran c where not c.is_base and c.run_id = b.run_id and c.target = b.target and c.storage_levels = b.storage_levels)
),
block_load as (
    select r.run_id, r.block_id, max(w.load_time) as load_time, max(w.commit_time) as commit_time,
        max(w.load_wal_bytes) as load_wal_bytes, max(w.load_cpu_time) as load_cpu_time
    from ran r
    join wide w using (run_id, cell_id)
    group by r.run_id, r.block_id
)
select
    l.run_id, r.experiment, l.target, l.dialect, l.storage_form,
    l.levels->>'orientation' as orientation, l.levels->>'access_method' as access_method, l.levels->>'blocksize' as blocksize,
    l.levels->>'compression' as compression, l.levels->>'toast' as toast, cast(l.levels->>'fillfactor' as integer) as fillfactor,
    load.load_time, load.commit_time, load.load_wal_bytes, load.load_cpu_time,
    own.total_bytes, own.table_bytes, own.toast_bytes, own.index_bytes, own.auxiliary_bytes,
    at_base.group_by, at_base.lookup as lookup_scan,
    case when not l.is_base then l.in_place end as index_level,
    own.index_build, case when not l.is_base then own.lookup end as lookup_index,
    l.status, l.reason, l.levels, l.block_id, l.cell_id, l.replicates, l.position
from line l
join run r using (run_id)
left join ran b on b.is_base and b.run_id = l.run_id and b.target = l.target and b.storage_levels = l.storage_levels
left join block_load load on load.run_id = l.run_id and load.block_id = l.block_id
left join wide own on own.run_id = l.run_id and own.cell_id = l.cell_id
left join wide at_base on at_base.run_id = b.run_id and at_base.cell_id = b.cell_id
order by l.run_id, l.target, l.position;
comment on view storage_matrix is 'The study''s table: one wide row per block and index level; medians, in seconds and bytes';
comment on column storage_matrix.run_id is 'The run';
comment on column storage_matrix.experiment is 'The experiment';
comment on column storage_matrix.target is 'Name of the target';
comment on column storage_matrix.dialect is 'Dialect of the target';
comment on column storage_matrix.storage_form is 'The storage form in words, such as: ao_row 8kB zlib:5';
comment on column storage_matrix.orientation is 'Level of the factor orientation, where it applies';
comment on column storage_matrix.access_method is 'Level of the factor access_method, where it applies';
comment on column storage_matrix.blocksize is 'Level of the factor blocksize, where it applies';
comment on column storage_matrix.compression is 'Level of the factor compression, where it applies';
comment on column storage_matrix.toast is 'Level of the factor toast, where it applies';
comment on column storage_matrix.fillfactor is 'Level of the factor fillfactor, where it applies';
comment on column storage_matrix.load_time is 'Load until durable, seconds';
comment on column storage_matrix.commit_time is 'Load through COMMIT, seconds';
comment on column storage_matrix.load_wal_bytes is 'WAL of the load, bytes';
comment on column storage_matrix.load_cpu_time is 'CPU of the load, seconds';
comment on column storage_matrix.total_bytes is 'Size of everything at this index level, bytes';
comment on column storage_matrix.table_bytes is 'Of it: main data';
comment on column storage_matrix.toast_bytes is 'Of it: TOAST';
comment on column storage_matrix.index_bytes is 'Of it: indexes';
comment on column storage_matrix.auxiliary_bytes is 'Of it: auxiliary relations of append-optimized tables';
comment on column storage_matrix.group_by is 'Grouped count at the base level, seconds by the client';
comment on column storage_matrix.lookup_scan is 'Lookup of one value at the base level, by full scan, seconds by the client';
comment on column storage_matrix.index_level is 'The index of this row; NULL if the form was measured without any';
comment on column storage_matrix.index_build is 'Building that index, seconds';
comment on column storage_matrix.lookup_index is 'The same lookup with that index, seconds by the client';
comment on column storage_matrix.status is 'Status of the cell: ok, failed, timeout or cancelled; only what ended ok has values';
comment on column storage_matrix.reason is 'Why it is not ok';
comment on column storage_matrix.levels is 'Level of every factor that applies';
comment on column storage_matrix.block_id is 'The block';
comment on column storage_matrix.cell_id is 'The cell at this index level';
comment on column storage_matrix.replicates is 'Number of replicates behind the medians';
comment on column storage_matrix.position is 'Place in the declared order of the plan';

create view series_round as
select
    run_id, cell_id, replicate, m.step as series, m.round, m.text_value as action,
    row_number() over (partition by run_id, cell_id, replicate, m.step, m.text_value order by m.round) as turn
from measurement m
join cell c using (run_id, cell_id, replicate)
where m.metric = 'action' and c.role = 'result' and c.status = 'ok';
comment on view series_round is 'What each round of a series did to its table; joined by cell and round it labels what was measured in the round';
comment on column series_round.run_id is 'The run';
comment on column series_round.cell_id is 'The cell';
comment on column series_round.replicate is 'The replicate of the cell''s block';
comment on column series_round.series is 'The series step';
comment on column series_round.round is 'The round, from 0';
comment on column series_round.action is 'The steps that the round did, or: nothing';
comment on column series_round.turn is 'How often the series had done that by then, from 1';

create view cell_noise as
select run_id, cell_id, max(value) as canary, min(min(value)) over (partition by run_id) as quietest,
    max(value) / min(min(value)) over (partition by run_id) as noise
from sample
where metric = 'canary_cpu_time'
group by run_id, cell_id;
comment on view cell_noise is 'How busy the host was beside each cell: the slowest canary of the cell over the quickest of the run';
comment on column cell_noise.run_id is 'The run';
comment on column cell_noise.cell_id is 'The cell';
comment on column cell_noise.canary is 'The slowest CPU canary before and after the cell, seconds';
comment on column cell_noise.quietest is 'The quickest CPU canary of the run, seconds';
comment on column cell_noise.noise is 'The one over the other; 1 is as quiet as it was ever in the run';

create macro quiet_enough(noise, ratio_low, ratio_high) as coalesce(noise, 1) <= 1.5 and ratio_high <= 1.25 * ratio_low;
comment on macro quiet_enough is 'Whether a ratio of times of a cell counts: both times settled, and the canary beside it was at most half slower than at its best';

-- For frames that hold an interval of ours against a band around a published ratio.
create macro middle(ratios, lowest, highest) as struct_pack(
    ratio := list_median(ratios),
    low := case when len(ratios) < 3 then lowest
        else list_sort(ratios)[cast(greatest(1, floor((len(ratios) + 1) / 2 - 0.98 * sqrt(len(ratios)))) as bigint)] end,
    high := case when len(ratios) < 3 then highest
        else list_sort(ratios)[-cast(greatest(1, floor((len(ratios) + 1) / 2 - 0.98 * sqrt(len(ratios)))) as bigint)] end);
comment on macro middle is 'Median of the ratios of several cells with an interval from order statistics; of one or two cells the interval given';
create macro band_verdict(low, high, band_low, band_high) as
    case when low >= band_low and high <= band_high then 'reproduced' when high < band_low or low > band_high then 'not reproduced' end;
comment on macro band_verdict is 'Whether an interval lies within a band (reproduced), outside of it (not reproduced), or neither (NULL)';
create macro band_doubt(low, high, band_low, band_high) as
    case when band_verdict(low, high, band_low, band_high) is null
        then format('our interval, {:.2f} to {:.2f}, crosses the edge of {:.2f} to {:.2f}',
            low::double, high::double, band_low::double, band_high::double) end;
comment on macro band_doubt is 'Why band_verdict says nothing; NULL where it says something';
create macro band_told(target, published, ratio, low, high, band_low, band_high) as
    format('{}: {}, {:.2f}x [{:.2f}, {:.2f}] against {:.2f}x', target, coalesce(band_verdict(low, high, band_low, band_high), 'undecided'),
        ratio::double, low::double, high::double, published::double);
comment on macro band_told is 'The verdict on a band in words, with our ratio and interval';

create view rounds as
with labelled as (select distinct run_id, cell_id, series, round, action, turn from series_round)
select
    s.*, l.series, l.action, l.turn, f.median as first_median, s.median / nullif(f.median, 0) as ratio,
    s.interval_low / nullif(f.interval_high, 0) as ratio_low, s.interval_high / nullif(f.interval_low, 0) as ratio_high
from summary s
join labelled l using (run_id, cell_id, round)
left join summary f on f.round = 0 and f.run_id = s.run_id and f.cell_id = s.cell_id and f.step = s.step and f.metric = s.metric
    and f.clock is not distinct from s.clock and f.node is not distinct from s.node;
comment on view rounds is 'The summary of each round of a series, with what the round did, beside round 0 of the same cell';
comment on column rounds.run_id is 'The run';
comment on column rounds.experiment is 'The experiment';
comment on column rounds.target is 'Name of the target';
comment on column rounds.dialect is 'Dialect of the target';
comment on column rounds.cell_id is 'The cell';
comment on column rounds.content_hash is 'Digest of all that makes two measurements of a cell alike';
comment on column rounds.block_id is 'The block';
comment on column rounds.levels is 'Level of every factor that applies';
comment on column rounds.storage_form is 'The reload levels in words';
comment on column rounds.in_place is 'The in-place levels in words';
comment on column rounds.is_base is 'Whether every in-place factor is at its base level';
comment on column rounds.step is 'The step';
comment on column rounds.metric is 'What was measured';
comment on column rounds.unit is 'Unit of the values';
comment on column rounds.clock is 'Whose clock: client or server';
comment on column rounds.node is 'Which node of a cluster; NULL is the whole target';
comment on column rounds.round is 'The round, from 0';
comment on column rounds.n is 'Number of samples, over all replicates';
comment on column rounds.median is 'Median of the samples';
comment on column rounds.minimum is 'Smallest sample';
comment on column rounds.maximum is 'Largest sample';
comment on column rounds.interval_low is 'Lower end of the interval for the median';
comment on column rounds.interval_high is 'Upper end of that interval';
comment on column rounds.coverage is 'How sure the interval is to hold the median';
comment on column rounds.method is 'How it was measured';
comment on column rounds.measured_at is 'When the last sample was taken, UTC';
comment on column rounds.series is 'The series step';
comment on column rounds.action is 'The steps that the round did, or: nothing';
comment on column rounds.turn is 'How often the series had done that by then, from 1';
comment on column rounds.first_median is 'The median of round 0';
comment on column rounds.ratio is 'Median over that of round 0; NULL where round 0 has none';
comment on column rounds.ratio_low is 'Lower end of an interval for the ratio: the low end of this over the high end of round 0';
comment on column rounds.ratio_high is 'Upper end of that interval';

create view against_baseline as
with form as (
    select distinct run_id, target, cell_id, levels from planned_cell where role = 'result' and status = 'planned'
),
pair as (
    select c.run_id, c.cell_id, b.cell_id as baseline_cell, count(*) over (partition by c.run_id, c.cell_id) as candidates
    from form c
    join run r using (run_id)
    join form b on b.run_id = c.run_id and b.target = c.target and json_contains(b.levels, r.baseline)
    where r.baseline <> '{}' and is_baseline(b.levels, c.levels, r.baseline)
)
select
    s.run_id, s.experiment, s.target, s.cell_id, s.levels, s.storage_form, s.in_place, s.step, s.metric, s.unit, s.clock, s.node,
    s.round, s.median, b.median as baseline_median, s.median / nullif(b.median, 0) as ratio,
    case m.direction
        when 'lower' then b.median / nullif(s.median, 0) when 'higher' then s.median / nullif(b.median, 0)
    end as times_better
from summary s
join pair p on p.run_id = s.run_id and p.cell_id = s.cell_id and p.candidates = 1
join summary b on b.run_id = s.run_id and b.cell_id = p.baseline_cell and b.step = s.step and b.metric = s.metric
    and b.clock is not distinct from s.clock and b.node is not distinct from s.node and b.round is not distinct from s.round
join metric m on m.metric = s.metric;
comment on view against_baseline is 'Each summary beside that of the cell at the experiment''s baseline on the same target: the speed-up of a rung, for one';
comment on column against_baseline.run_id is 'The run';
comment on column against_baseline.experiment is 'The experiment';
comment on column against_baseline.target is 'Name of the target';
comment on column against_baseline.cell_id is 'The cell';
comment on column against_baseline.levels is 'Level of every factor that applies';
comment on column against_baseline.storage_form is 'The reload levels in words';
comment on column against_baseline.in_place is 'The in-place levels in words';
comment on column against_baseline.step is 'The step';
comment on column against_baseline.metric is 'What was measured';
comment on column against_baseline.unit is 'Unit of the values';
comment on column against_baseline.clock is 'Whose clock: client or server';
comment on column against_baseline.node is 'Which node of a cluster; NULL is the whole target';
comment on column against_baseline.round is 'Which round of a series';
comment on column against_baseline.median is 'Median of the samples';
comment on column against_baseline.baseline_median is 'The same of the cell at the baseline';
comment on column against_baseline.ratio is 'The one over the other';
comment on column against_baseline.times_better is 'How many times better than the baseline, by the direction of the metric: of a time the speed-up';

create view against_published as
with measured as (
    select run_id, cell_id, step, metric, round, median as value, method
    from summary
    where node is null
    qualify row_number() over (partition by run_id, cell_id, step, metric, round order by clock) = 1
),
planned as (
    select p.run_id, p.target, p.dialect, p.cell_id, any_value(p.levels) as levels, any_value(p.storage_form) as storage_form,
        min(p.reason) filter (p.status = 'unsupported') as unsupported, min(c.status) filter (c.status <> 'ok') as status, min(c.reason) as reason
    from planned_cell p
    left join cell c using (run_id, cell_id, replicate)
    where p.role = 'result'
    group by p.run_id, p.target, p.dialect, p.cell_id
),
figure as (
    select r.run_id, r.baseline, json_merge_patch(r.baseline, '{"round": null}') as baseline_levels,
        case when p.round is not null then coalesce(cast(r.baseline->>'round' as integer), p.round) end as baseline_round,
        p.* exclude (run_id),
        case when p.metric = 'query_time' and starts_with(p.method, 'EXPLAIN ANALYZE') then 'execution_time' else p.metric end
            as our_metric
    from published p
    join run r using (experiment)
),
their_baseline as (
    select f.run_id, f.source, f.engine, f.profile, f.levels, f.step, f.metric, f.round, count(*) as candidates,
        any_value(b.value) as value
    from figure f
    join published b using (experiment, source, engine, profile, step, metric)
    where is_baseline(b.levels, f.levels, f.baseline_levels) and b.round is not distinct from f.baseline_round
    group by all
),
our_baseline as (
    select f.run_id, p.target, f.levels, f.step, f.our_metric, f.baseline_round, count(*) as candidates, any_value(m.value) as value
    from (select distinct run_id, baseline_levels, baseline_round, levels, step, our_metric from figure) f
    join planned p using (run_id)
    left join measured m on m.run_id = p.run_id and m.cell_id = p.cell_id and m.step = f.step and m.metric = f.our_metric
        and m.round is not distinct from f.baseline_round
    where is_baseline(p.levels, f.levels, f.baseline_levels)
    group by all
),
beside as (
    select f.*, p.target, p.dialect, p.cell_id, p.storage_form, p.unsupported, p.status, p.reason as cell_reason,
        m.value as our_value, m.method as our_method, t.candidates as their_candidates, o.candidates as our_candidates,
        case when t.candidates = 1 then t.value end as published_baseline,
        case when o.candidates = 1 then o.value end as our_baseline,
        -- The last ancestor is everybody's; it tells nothing of a dialect that has nearer ones.
        len(list_filter(rt.lineage[1:greatest(1, len(rt.lineage) - 1)],
            lambda family: contains(lower(f.engine), family))) > 0 as same_engine
    from figure f
    join planned p on p.run_id = f.run_id and levels_key(p.levels) = levels_key(f.levels)
    join run_target rt on rt.run_id = p.run_id and rt.target = p.target
    left join measured m on m.run_id = p.run_id and m.cell_id = p.cell_id and m.step = f.step and m.metric = f.our_metric
        and m.round is not distinct from f.round
    left join their_baseline t on t.run_id = f.run_id and t.source = f.source and t.engine = f.engine and t.profile = f.profile
        and t.levels = f.levels and t.step = f.step and t.metric = f.metric and t.round is not distinct from f.round
    left join our_baseline o on o.run_id = f.run_id and o.target = p.target and o.levels = f.levels and o.step = f.step
        and o.our_metric = f.our_metric and o.baseline_round is not distinct from f.baseline_round
),
explained as (
    select *,
        case when baseline <> '{}' then our_value / nullif(our_baseline, 0) end as our_ratio,
        case when baseline <> '{}' then value / nullif(published_baseline, 0) end as published_ratio,
        case
            when unsupported is not null then 'unsupported: ' || unsupported
            when status is not null then status || ': ' || coalesce(cell_reason, 'no reason was kept')
            when our_value is null then 'the run has no ' || our_metric || ' of this step'
            when baseline = '{}' then 'the experiment names no baseline'
            when their_candidates is null then 'the study has no figure at the baseline'
            when their_candidates > 1 then 'the study has several figures at the baseline'
            when published_baseline = 0 then 'the study''s figure at the baseline is 0'
            when our_candidates is null then 'the run has no cell at the baseline'
            when our_candidates > 1 then 'the run has several cells at the baseline'
            when our_baseline is null then 'the cell at the baseline has no value'
            when our_baseline = 0 then 'our value at the baseline is 0'
        end as missing,
        case
            when not same_engine then 'the study ran on ' || engine
            when metric in ('load_time', 'commit_time') and regexp_matches(method, 'mak(es|ing) the rows')
                and not regexp_matches(our_method, 'mak(es|ing) the rows')
                then 'the study''s load includes making the rows, ours does not'
        end as unlike
    from beside
)
select
    run_id, experiment, target, dialect, source, engine, profile, storage_form, levels, step, metric, round, unit,
    value as published_value, published_baseline, published_ratio, our_metric, our_value, our_baseline, our_ratio,
    our_ratio / nullif(published_ratio, 0) as agreement,
    missing is null and unlike is null as comparable, coalesce(missing, unlike) as reason,
    method as published_method, our_method, precision, cell_id
from explained;
comment on view against_published is 'Each published figure beside ours, as ratios to the baseline: absolute times belong to other machines';
comment on column against_published.run_id is 'The run';
comment on column against_published.experiment is 'The experiment';
comment on column against_published.target is 'Name of the target';
comment on column against_published.dialect is 'Dialect of the target';
comment on column against_published.source is 'The study';
comment on column against_published.engine is 'The engine that the study ran on';
comment on column against_published.profile is 'Our profile that has the study''s own size';
comment on column against_published.storage_form is 'The storage form in words';
comment on column against_published.levels is 'The levels that the figure belongs to';
comment on column against_published.step is 'The step';
comment on column against_published.metric is 'The metric of the study''s figure';
comment on column against_published.round is 'The round of a series that the figure belongs to; NULL outside a series';
comment on column against_published.unit is 'Unit of the values';
comment on column against_published.published_value is 'The study''s figure';
comment on column against_published.published_baseline is 'The study''s figure at the baseline with the same in-place levels';
comment on column against_published.published_ratio is 'The study''s ratio to its baseline; NULL with a reason';
comment on column against_published.our_metric is 'Our metric that was measured the same way: execution_time where the study took EXPLAIN ANALYZE';
comment on column against_published.our_value is 'Our median';
comment on column against_published.our_baseline is 'Our median at the baseline: same run, target, step and in-place levels';
comment on column against_published.our_ratio is 'Our ratio to our baseline; NULL with a reason';
comment on column against_published.agreement is 'Our ratio over the study''s; 1 is agreement';
comment on column against_published.comparable is 'Whether both ratios are there and come from like methods on a like engine';
comment on column against_published.reason is 'Why a ratio is missing, or why the two are not comparable';
comment on column against_published.published_method is 'How the study measured it';
comment on column against_published.our_method is 'How we measured it';
comment on column against_published.precision is 'Precision of the study''s figure as printed';
comment on column against_published.cell_id is 'Our cell';
