"""One line out of a server's log, in the forms that the family writes."""

from __future__ import annotations

import pytest

from tasks.launchers.complaint import ignored, reason

PORT = """\
2026-01-01 10:00:00.000 UTC [7] LOG:  starting PostgreSQL 18.6
2026-01-01 10:00:00.001 UTC [7] FATAL:  WAL streaming ("max_wal_senders" > 0) requires "wal_level" to be "replica"
2026-01-01 10:00:00.002 UTC [7] LOG:  database system is shut down
pg_ctl: could not start server
"""
LEVEL = """\
2026-01-01 10:00:00.000 UTC [7] LOG:  invalid value for parameter "wal_level": "foo"
2026-01-01 10:00:00.000 UTC [7] HINT:  Available values: minimal, replica, logical.
2026-01-01 10:00:00.001 UTC [7] FATAL:  configuration file "/x/data.conf" contains errors
"""
MEMORY = """\
2026-01-01 10:00:00.000 UTC [7] FATAL:  could not map anonymous shared memory: Cannot allocate memory
2026-01-01 10:00:00.000 UTC [7] HINT:  This error usually means that the request exceeded available memory.
"""
CSV = (
    '2026-11-30 16:06:09.913803 GMT,,,p29108,th-959,,,,0,,,seg-10000,,,,,"LOG","58P01",'
    '"unrecognized configuration parameter ""nonsense"" in file ""/x"" line 21",,,,,,,,"F","guc-file.l",552,\n'
    '2026-11-30 16:06:09.913911 GMT,,,p29108,th-959,,,,0,,,seg-10000,,,,,"FATAL","F0000",'
    '"configuration file ""/x"" contains errors",,,,,,,,"ProcessConfigFile","guc-file.l",456,\n'
)
CSV_HINT = '2026,,,p1,,,,,0,,,seg-1,,,,,"FATAL","22023","invalid value","the detail","the hint",,,,,,"F","guc.c",1,\n'
OPENGAUSS = """.0 LOG:  [Alarm Module]can not read GAUSS_WARNING_TYPE env.

0 WARNING:  failed to parse feature control file: gaussdb.version.
2026-11-30 16:18:25.496 [unknown] localhost 1396 0[0:0#0]  0 [BACKEND] LOG:  1 is outside the valid range
2026-11-30 16:18:25.496 [unknown] localhost 1396 0[0:0#0]  0 [BACKEND] FATAL:  configuration file "/x" contains errors
"""


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (PORT, 'WAL streaming ("max_wal_senders" > 0) requires "wal_level" to be "replica"'),
        (LEVEL, 'invalid value for parameter "wal_level": "foo"; Available values: minimal, replica, logical.'),
        (
            MEMORY,
            "could not map anonymous shared memory: Cannot allocate memory; "
            "This error usually means that the request exceeded available memory.",
        ),
        (CSV, 'unrecognized configuration parameter "nonsense" in file "/x" line 21'),
        (OPENGAUSS, "1 is outside the valid range"),
        (CSV_HINT, "invalid value; the detail; the hint"),
        (
            "a\nb\npostgres: error while loading shared libraries: libz.so.1\n",
            "a / b / postgres: error while loading shared libraries: libz.so.1",
        ),
        ("", "nothing in its log"),
    ],
)
def test_the_reason_is_the_fatal_message_with_its_hint(log: str, expected: str) -> None:
    assert reason(log.splitlines()) == expected


def test_settings_that_greenplum_starts_without_are_noticed() -> None:
    lines = [
        '..."WARNING","01000","""checkpoint_timeout"": can not be set by the user and will be ignored.",,,',
        '2026-11-30 16:02 UTC|||1|postmaster||:-WARNING:  "autovacuum": setting is ignored because it is defunct',
        'LOG:  "something": else',
    ]
    assert ignored(lines) == {
        "checkpoint_timeout": "can not be set by the user and will be ignored.",
        "autovacuum": "setting is ignored because it is defunct",
    }
