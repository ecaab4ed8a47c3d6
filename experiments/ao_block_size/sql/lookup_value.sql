select c2 from {{source}} where id = {{rows}}
