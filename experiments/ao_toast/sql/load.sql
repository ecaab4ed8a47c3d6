-- The wide text is made here, as a plain value: a row copied from a compressed source would keep its compression.
insert into {{table}} select id, repeat(h, {{copies}}), c2 from {{source}}
