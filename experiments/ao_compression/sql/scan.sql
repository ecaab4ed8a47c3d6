select count(*), sum(octet_length(words)), sum(few), sum(octet_length(noise)), max(id) from {{table}}
