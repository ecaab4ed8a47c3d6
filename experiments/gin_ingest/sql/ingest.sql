\set child random(0, {{tables}} - 1)
select {{schema}}.insert_array(:child);
