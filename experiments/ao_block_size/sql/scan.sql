select count(*), sum(octet_length(c1)) from {{table}} where c2 < 5000
