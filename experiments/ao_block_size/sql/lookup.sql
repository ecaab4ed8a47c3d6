select * from {{table}} where c2 = {{lookup_value}}
