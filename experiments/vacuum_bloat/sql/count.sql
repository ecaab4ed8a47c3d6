select count(*) from {{table}}
