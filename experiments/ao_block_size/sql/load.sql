-- A text of 256 characters in which each half repeats the other: codecs have something to find, within a row and beyond.
insert into {{table}} select id, repeat(h || md5(h) || md5(h || c2) || h, 2), c2 from {{source}}
