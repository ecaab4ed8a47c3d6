-- The tables of the warehouse. Timestamps are UTC. Values are finite or NULL. Status, unit and direction are words.

create table warehouse_format (
    format varchar primary key
);
comment on table warehouse_format is 'One row that marks this file as a storage-matrix warehouse';
comment on column warehouse_format.format is 'Digest of the tables, views and metrics that made it; another digest means that it is made anew from the ledger';

create table loaded_run (
    run_id varchar primary key,
    fingerprint varchar not null
);
comment on table loaded_run is 'Which runs of the ledger are in here, and in which state of their files';
comment on column loaded_run.run_id is 'The run';
comment on column loaded_run.fingerprint is 'Digest of names, sizes and times of the run''s ledger files; another one means that the run is loaded again';

create table run (
    run_id varchar primary key,
    experiment varchar not null,
    question varchar not null,
    profile varchar not null,
    parameters json not null,
    started_at timestamp not null,
    finished_at timestamp,
    status varchar not null check (status in ('running', 'ok', 'failed', 'interrupted')),
    order_seed bigint not null,
    repeats integer check (repeats > 0),
    baseline json not null,
    timings json,
    spec_hash varchar not null,
    version varchar not null
);
comment on table run is 'One row per run: one execution of one experiment on one or more targets';
comment on column run.run_id is 'Start, experiment and a few random digits; sorts by start';
comment on column run.experiment is 'Name of the experiment';
comment on column run.question is 'The question that the experiment asks';
comment on column run.profile is 'Profile that gave the parameters, such as quick or published';
comment on column run.parameters is 'Parameters as they were used, such as rows and data_seed';
comment on column run.started_at is 'When the run started, UTC';
comment on column run.finished_at is 'When the run finished, UTC; NULL if it has not, or was interrupted';
comment on column run.status is 'running, ok, failed (some cells failed or timed out) or interrupted';
comment on column run.order_seed is 'Seed that shuffled the order of the blocks';
comment on column run.repeats is 'Repetitions asked for with --repeats; NULL when each step''s own number holds';
comment on column run.baseline is 'Levels that published figures are set in ratio to';
comment on column run.timings is 'Seconds of wall time by part: set_up, prefect_start, cells, load, expectations, report';
comment on column run.spec_hash is 'Digest of the experiment''s folder';
comment on column run.version is 'Version of storage-matrix';

create table run_target (
    run_id varchar not null,
    target varchar not null,
    launcher varchar not null,
    lineage varchar[] not null,
    primary key (run_id, target)
);
comment on table run_target is 'The targets of a run';
comment on column run_target.run_id is 'The run';
comment on column run_target.target is 'Name of the target';
comment on column run_target.launcher is 'How its server comes to be there: local, file, dsn, greenplum, opengauss';
comment on column run_target.lineage is 'Its dialect, then the dialect''s ancestors, nearest first';

create table environment (
    environment_id varchar not null,
    run_id varchar not null,
    target varchar not null,
    facts json not null,
    primary key (run_id, environment_id)
);
comment on table environment is 'The environment that cells were measured in; unlike environments are not compared unasked';
comment on column environment.environment_id is 'Digest of target and facts: the same environment has the same id in every run';
comment on column environment.run_id is 'The run';
comment on column environment.target is 'Name of the target';
comment on column environment.facts is 'Engine, version, settings, CPU, memory, disk, kernel, limits, package versions and so on';

create table planned_cell (
    run_id varchar not null,
    cell_id varchar not null,
    content_hash varchar not null,
    target varchar not null,
    dialect varchar not null,
    role varchar not null check (role in ('result', 'noop')),
    status varchar not null check (status in ('planned', 'unsupported')),
    reason varchar,
    levels json not null,
    block_id varchar not null,
    replicate integer not null check (replicate > 0),
    position integer not null,
    is_base boolean not null,
    storage_levels json not null,
    storage_form varchar not null,
    in_place varchar,
    primary key (run_id, cell_id, replicate)
);
comment on table planned_cell is 'Every cell that a run planned, whether it ran or not';
comment on column planned_cell.run_id is 'The run';
comment on column planned_cell.cell_id is 'Digest of experiment, target and levels: the same cell has the same id in every run';
comment on column planned_cell.content_hash is 'Digest of all that makes two measurements of a cell alike: SQL, parameters, steps, dialect facts';
comment on column planned_cell.target is 'Name of the target';
comment on column planned_cell.dialect is 'Dialect of the target';
comment on column planned_cell.role is 'result, or noop: the cell that measures our own overhead';
comment on column planned_cell.status is 'planned, or unsupported: the target cannot do it';
comment on column planned_cell.reason is 'Why it is unsupported';
comment on column planned_cell.levels is 'Level of every factor that applies, as declared';
comment on column planned_cell.block_id is 'The block: cells that share one loaded table';
comment on column planned_cell.replicate is 'Which repetition of the whole block, from 1';
comment on column planned_cell.position is 'Place in the declared order of the plan, from 1';
comment on column planned_cell.is_base is 'Whether every in-place factor is at its base level';
comment on column planned_cell.storage_levels is 'The levels that need a fresh table: levels without the in-place factors';
comment on column planned_cell.storage_form is 'storage_levels in words, such as: ao_row 8kB zlib:5';
comment on column planned_cell.in_place is 'The in-place levels in words, such as: btree(c2); NULL without such factors';

create table cell (
    run_id varchar not null,
    cell_id varchar not null,
    content_hash varchar not null,
    target varchar not null,
    dialect varchar not null,
    role varchar not null check (role in ('result', 'noop')),
    status varchar not null check (status in ('ok', 'unsupported', 'failed', 'timeout', 'cancelled')),
    reason varchar,
    sqlstate varchar,
    levels json not null,
    block_id varchar not null,
    replicate integer not null check (replicate > 0),
    attempt integer not null check (attempt >= 0),
    earlier varchar,
    reloaded boolean not null,
    environment_id varchar,
    started_at timestamp,
    finished_at timestamp,
    is_base boolean not null,
    storage_levels json not null,
    storage_form varchar not null,
    in_place varchar,
    primary key (run_id, cell_id, replicate)
);
comment on table cell is 'What came of each cell: its last attempt, and the cells that the target cannot do. A planned cell that never ran has no row';
comment on column cell.run_id is 'The run';
comment on column cell.cell_id is 'Digest of experiment, target and levels: the same cell has the same id in every run';
comment on column cell.content_hash is 'Digest of all that makes two measurements of a cell alike: SQL, parameters, steps, dialect facts';
comment on column cell.target is 'Name of the target';
comment on column cell.dialect is 'Dialect of the target';
comment on column cell.role is 'result, or noop: the cell that measures our own overhead';
comment on column cell.status is 'ok, unsupported (the target cannot), failed (the server refused or died), timeout or cancelled';
comment on column cell.reason is 'Why it is not ok, with the server''s message';
comment on column cell.sqlstate is 'SQLSTATE of the failure, where the server gave one';
comment on column cell.levels is 'Level of every factor that applies, as declared';
comment on column cell.block_id is 'The block: cells that share one loaded table';
comment on column cell.replicate is 'Which repetition of the whole block, from 1';
comment on column cell.attempt is 'Which attempt at the cell this was, from 1; earlier ones stay in the ledger; 0 for a cell that was only planned';
comment on column cell.earlier is 'How the attempts before this one ended, and why; NULL for a first one';
comment on column cell.reloaded is 'Whether the table was loaded again, unrecorded, to resume the block midway';
comment on column cell.environment_id is 'The environment that it was measured in';
comment on column cell.started_at is 'When the attempt started, UTC';
comment on column cell.finished_at is 'When the attempt finished, UTC';
comment on column cell.is_base is 'Whether every in-place factor is at its base level';
comment on column cell.storage_levels is 'The levels that need a fresh table: levels without the in-place factors';
comment on column cell.storage_form is 'storage_levels in words, such as: ao_row 8kB zlib:5';
comment on column cell.in_place is 'The in-place levels in words, such as: btree(c2); NULL without such factors';

create table metric (
    metric varchar primary key,
    unit varchar not null check (unit in ('seconds', 'bytes', 'rows', 'per_second', 'ratio', 'pages', 'count', 'text')),
    direction varchar not null check (direction in ('lower', 'higher', 'none')),
    floor double not null check (isfinite(floor) and floor >= 0),
    description varchar not null
);
comment on table metric is 'The metrics that steps record';
comment on column metric.metric is 'Name of the metric';
comment on column metric.unit is 'seconds, bytes, rows, per_second, ratio, pages, count or text';
comment on column metric.direction is 'Which direction is better: lower, higher or none';
comment on column metric.floor is 'Noise floor in the metric''s unit: a smaller difference is none';
comment on column metric.description is 'What it measures';

create table measurement (
    run_id varchar not null,
    cell_id varchar not null,
    replicate integer not null,
    step varchar not null,
    metric varchar not null,
    unit varchar not null check (unit in ('seconds', 'bytes', 'rows', 'per_second', 'ratio', 'pages', 'count', 'text')),
    repetition integer not null check (repetition > 0),
    round integer,
    is_warmup boolean not null,
    clock varchar check (clock in ('client', 'server')),
    node varchar,
    value double check (isfinite(value)),
    text_value varchar,
    status varchar not null check (status in ('ok', 'unsupported', 'failed', 'timeout', 'cancelled')),
    reason varchar,
    method varchar not null,
    measured_at timestamp not null
);
comment on table measurement is 'Every sample of every cell, warm-ups and those of failed cells included; the view sample has those that count';
comment on column measurement.run_id is 'The run';
comment on column measurement.cell_id is 'The cell';
comment on column measurement.replicate is 'The replicate of the cell''s block';
comment on column measurement.step is 'The step that recorded it';
comment on column measurement.metric is 'What was measured; see the table metric';
comment on column measurement.unit is 'Unit of value';
comment on column measurement.repetition is 'Which repetition on the same table, from 1';
comment on column measurement.round is 'Which round of a series; NULL outside a series';
comment on column measurement.is_warmup is 'Whether it was a warm-up, which no summary counts';
comment on column measurement.clock is 'Whose clock: client or server; NULL where no time was taken';
comment on column measurement.node is 'Which node of a cluster; NULL is the whole target';
comment on column measurement.value is 'The value, finite, or NULL with a reason';
comment on column measurement.text_value is 'The value of a metric that is a text, such as a digest';
comment on column measurement.status is 'ok, or why there is no value: unsupported, failed, timeout or cancelled';
comment on column measurement.reason is 'Why there is no value, or what is odd about it';
comment on column measurement.method is 'How it was measured: the function, view or clock that gave it';
comment on column measurement.measured_at is 'When, UTC';

create table plan (
    run_id varchar not null,
    cell_id varchar not null,
    replicate integer not null,
    step varchar not null,
    plan json not null,
    plan_hash varchar not null
);
comment on table plan is 'The plans that query steps used, taken in a pass of its own';
comment on column plan.run_id is 'The run';
comment on column plan.cell_id is 'The cell';
comment on column plan.replicate is 'The replicate of the cell''s block';
comment on column plan.step is 'The query step';
comment on column plan.plan is 'The server''s JSON, or its text under the key text';
comment on column plan.plan_hash is 'Digest of the plan''s shape';

create table verdict (
    run_id varchar not null,
    expectation varchar not null,
    claim varchar not null,
    severity varchar not null check (severity in ('critical', 'warning', 'info')),
    outcome varchar not null check (outcome in ('pass', 'fail', 'inconclusive', 'not_applicable', 'error')),
    observed varchar not null,
    detail varchar not null,
    primary key (run_id, expectation)
);
comment on table verdict is 'What each expectation said about a run, when it was judged last';
comment on column verdict.run_id is 'The run';
comment on column verdict.expectation is 'Name of the expectation';
comment on column verdict.claim is 'What it claims, in words';
comment on column verdict.severity is 'critical (a fail fails the run), warning or info';
comment on column verdict.outcome is 'pass, fail, inconclusive (too few rows), not_applicable (no planned cell can feed it) or error (the check broke)';
comment on column verdict.observed is 'What was seen, in a few words';
comment on column verdict.detail is 'What was seen, in full';

create table published (
    experiment varchar not null,
    source varchar not null,
    engine varchar not null,
    profile varchar not null,
    levels json not null,
    step varchar not null,
    metric varchar not null,
    unit varchar not null check (unit in ('seconds', 'bytes', 'rows', 'per_second', 'ratio', 'pages', 'count', 'text')),
    value double not null check (isfinite(value)),
    method varchar not null,
    precision double check (isfinite(precision)),
    round integer,
    run_id varchar not null
);
comment on table published is 'The figures of published studies, as the newest run of each experiment knew them';
comment on column published.experiment is 'The experiment that reproduces the study';
comment on column published.source is 'The study';
comment on column published.engine is 'The engine that the study ran on';
comment on column published.profile is 'Our profile that has the study''s own size';
comment on column published.levels is 'The levels that the figure belongs to';
comment on column published.step is 'The step that measures the same here';
comment on column published.metric is 'The metric that measures the same here';
comment on column published.unit is 'Unit of value';
comment on column published.value is 'The figure, in base units';
comment on column published.method is 'How the study measured it';
comment on column published.precision is 'Precision of the figure as printed, in its unit; NULL if unknown';
comment on column published.round is 'The round of a series that the figure belongs to; NULL outside a series';
comment on column published.run_id is 'The newest run of the experiment, whose spec had it';
