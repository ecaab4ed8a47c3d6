-- Append-optimized tables without checksums, as the study's: it is what their storage clause leaves open.
set gp_default_storage_options = 'checksum=false';
create table {{table}} ({{columns}}){{storage}}
