create table {{table}} ({{columns}}){{storage}};

-- The study's functions. random() is right here: nothing compares the rows of one cell with those of another.
create or replace function {{schema}}.random_array(int, int) returns int[] as $$
    select array_agg((random() * $1)::int) from generate_series(1, $2)
$$ language sql strict;

create or replace function {{schema}}.insert_array(int) returns void as $$
begin
    execute 'insert into ' || rtrim({{table_name}}, '"') || '_' || $1 || '" values (1, '
        || {{schema_name}} || '.random_array(' || {{value_range}} || ', ' || {{array_length}} || '))';
end
$$ language plpgsql strict;
