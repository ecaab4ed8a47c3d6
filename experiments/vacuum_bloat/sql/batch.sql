-- The study's `update ... limit n` is an extension; here each turn takes the next range of keys, and after the last range
-- the first again.
update {{table}}
set v = v, id = id
where id > ({{turn}} - 1) * {{batch_rows}} % {{rows}}
    and id <= ({{turn}} - 1) * {{batch_rows}} % {{rows}} + {{batch_rows}}
