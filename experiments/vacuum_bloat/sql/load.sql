insert into {{table}} select id, v from {{source}}
