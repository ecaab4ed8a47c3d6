-- In the order of the key, so that sorted values stay sorted on every segment.
insert into {{table}}
select
    id,
    repeat(word || ' ', 100 / (length(word) + 1)),
    few,
    case when shape = 'random' then
        decode(md5({{data_seed}} || 'a' || id) || md5({{data_seed}} || 'b' || id) || md5({{data_seed}} || 'c' || id)
            || md5({{data_seed}} || 'd' || id) || md5({{data_seed}} || 'e' || id) || md5({{data_seed}} || 'f' || id), 'hex')
    end
from {{source}}
where shape = {{shape}}
order by id
