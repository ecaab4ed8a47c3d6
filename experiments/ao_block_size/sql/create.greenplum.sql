create table {{table}} ({{columns}}){{storage}}
