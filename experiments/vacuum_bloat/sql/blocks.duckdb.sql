select 'free_bytes', block_size * free_blocks
from pragma_database_size()
where database_name = trim(split_part({{schema_name}}, '.', 1), '"')
