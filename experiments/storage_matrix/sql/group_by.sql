select c2, count(*) from {{table}} group by c2
