"""What pgbench really printed, version by version, and the numbers that are read from it."""

from __future__ import annotations

import math

import pytest

from tasks.pgbench_output import Command, Interval, complaints, read_progress, read_summary, was_aborted

# From Greenplum 6.24.3, whose pgbench is that of 9.4.
V9_4 = """transaction type: Custom query
scaling factor: 1
query mode: prepared
number of clients: 2
number of threads: 2
duration: 2 s
number of transactions actually processed: 1380
latency average: 2.879 ms
latency stddev: 1.396 ms
tps = 688.557816 (including connections establishing)
tps = 693.949440 (excluding connections establishing)
statement latencies in milliseconds:
\t0.002854\t\\setrandom a 1 10
\t0.301151\tselect :a;
\t2.574061\tselect pg_sleep(0.001);
"""
# As the study of gin_ingest printed it.
V10 = r"""transaction type: ./test.sql
scaling factor: 1
query mode: prepared
number of clients: 56
number of threads: 56
duration: 300 s
number of transactions actually processed: 31201390
latency average = 0.538 ms
latency stddev = 1.203 ms
tps = 103995.590898 (including connections establishing)
tps = 104005.757541 (excluding connections establishing)
script statistics:
 - statement latencies in milliseconds:
         0.002  \set suffix random(0,1024)
         0.537  select ins_t_arr(:suffix);
"""
V12 = r"""transaction type: /tmp/script.sql
scaling factor: 1
query mode: prepared
number of clients: 2
number of threads: 2
duration: 2 s
number of transactions actually processed: 1384
latency average = 2.835 ms
latency stddev = 2.273 ms
tps = 691.125824 (including connections establishing)
tps = 705.089028 (excluding connections establishing)
statement latencies in milliseconds:
         0.002  \set a random(1,10)
         0.161  select :a;
         2.672  select pg_sleep(0.001);
"""
V15_RETRIES = """pgbench (15.18 (Debian 15.18-0+deb12u1))
transaction type: /tmp/serializable.sql
scaling factor: 1
query mode: simple
number of clients: 4
number of threads: 2
maximum number of tries: 3
duration: 2 s
number of transactions actually processed: 639
number of failed transactions: 391 (37.961%)
number of transactions retried: 672 (65.243%)
total number of retries: 1189
latency average = 4.886 ms
latency stddev = 4.465 ms
initial connection time = 56.629 ms
tps = 326.984177 (without initial connection time)
statement latencies in milliseconds, failures and retries:
         0.273           0           0  begin isolation level serializable;
         0.226         391        1192  update acc set v=v+1 where id=1;
         2.686           0           0  end;
"""
V15_NOTHING = """pgbench (15.18 (Debian 15.18-0+deb12u1))
transaction type: /tmp/broken.sql
scaling factor: 1
query mode: simple
number of clients: 1
number of threads: 1
maximum number of tries: 1
duration: 1 s
number of transactions actually processed: 0
number of failed transactions: 0 (NaN%)
initial connection time = 2.001 ms
tps = 0.000000 (without initial connection time)
"""
V18 = r"""pgbench (18.6)
transaction type: /tmp/script.sql
scaling factor: 1
query mode: prepared
number of clients: 2
number of threads: 2
maximum number of tries: 1
duration: 2 s
number of transactions actually processed: 1630
number of failed transactions: 0 (0.000%)
latency average = 2.390 ms
latency stddev = 0.743 ms
initial connection time = 52.118 ms
tps = 836.035489 (without initial connection time)
statement latencies in milliseconds and failures:
         0.001           0 \set a random(1,10)
         0.091           0 select :a;
         2.299           0 select pg_sleep(0.001);
"""
V18_RATE = """pgbench (18.6)
transaction type: /tmp/script.sql
scaling factor: 1
query mode: simple
number of clients: 1
number of threads: 1
maximum number of tries: 1
duration: 2 s
number of transactions actually processed: 162
number of failed transactions: 0 (0.000%)
number of transactions skipped: 55 (25.346%)
number of transactions above the 0.5 ms latency limit: 162/162 (100.000%)
latency average = 3.164 ms
latency stddev = 1.431 ms
rate limit schedule lag: avg 0.342 (max 3.906) ms
initial connection time = 15.579 ms
tps = 82.391007 (without initial connection time)
"""
V18_TWO_SCRIPTS = r"""pgbench (18.6)
transaction type: multiple scripts
scaling factor: 1
query mode: simple
number of clients: 1
number of threads: 1
maximum number of tries: 1
number of transactions per client: 5
number of transactions actually processed: 5/5
number of failed transactions: 0 (0.000%)
latency average = 1.960 ms
initial connection time = 16.368 ms
tps = 510.204082 (without initial connection time)
SQL script 1: /tmp/script.sql
 - weight: 3 (targets 75.0% of total)
 - 2 transactions (40.0% of total)
 - number of transactions actually processed: 2 (tps = 204.081633)
 - number of failed transactions: 0 (0.000%)
 - latency average = 2.651 ms
 - latency stddev = 0.277 ms
 - statement latencies in milliseconds and failures:
         0.002           0 \set a random(1,10)
         0.237           0 select :a;
SQL script 2: /tmp/serializable.sql
 - weight: 1 (targets 25.0% of total)
 - 3 transactions (60.0% of total)
 - number of transactions actually processed: 3 (tps = 306.122449)
 - number of failed transactions: 0 (0.000%)
 - latency average = 1.488 ms
 - latency stddev = 0.658 ms
 - statement latencies in milliseconds and failures:
         0.049           0 begin isolation level serializable;
"""
INCLUDING_FAILURES = """number of transactions actually processed: 71
number of failed transactions: 329 (82.250%)
latency average = 4.680 ms (including failures)
tps = 35.100000 (without initial connection time)
"""

FIGURES = [
    # transactions, failed, retried, skipped, mean, stddev, connecting, tps, tps with connecting
    (V9_4, (1380, None, None, None, 0.002879, 0.001396, None, 693.949440, 688.557816)),
    (V10, (31201390, None, None, None, 0.000538, 0.001203, None, 104005.757541, 103995.590898)),
    (V12, (1384, None, None, None, 0.002835, 0.002273, None, 705.089028, 691.125824)),
    (V15_RETRIES, (639, 391, 672, None, 0.004886, 0.004465, 0.056629, 326.984177, None)),
    (V15_NOTHING, (0, 0, None, None, None, None, 0.002001, 0.0, None)),
    (V18, (1630, 0, None, None, 0.002390, 0.000743, 0.052118, 836.035489, None)),
    (V18_RATE, (162, 0, None, 55, 0.003164, 0.001431, 0.015579, 82.391007, None)),
    (V18_TWO_SCRIPTS, (5, 0, None, None, 0.001960, None, 0.016368, 510.204082, None)),
    (INCLUDING_FAILURES, (71, 329, None, None, 0.004680, None, None, 35.1, None)),
]


@pytest.mark.parametrize(("output", "figures"), FIGURES)
def test_figures(output: str, figures: tuple[float | None, ...]) -> None:
    summary = read_summary(output)

    assert summary is not None
    assert (
        summary.transactions,
        summary.failed,
        summary.retried,
        summary.skipped,
        pytest.approx(summary.latency_mean),
        pytest.approx(summary.latency_stddev),
        pytest.approx(summary.connection_time),
        summary.tps,
        summary.tps_including_connections,
    ) == figures


COMMANDS = [
    (
        V9_4,
        [
            ("\\setrandom a 1 10", 0.002854e-3, None),
            ("select :a;", 0.301151e-3, None),
            ("select pg_sleep(0.001);", 2.574061e-3, None),
        ],
    ),
    (V10, [("\\set suffix random(0,1024)", 0.002e-3, None), ("select ins_t_arr(:suffix);", 0.537e-3, None)]),
    (
        V12,
        [
            ("\\set a random(1,10)", 0.002e-3, None),
            ("select :a;", 0.161e-3, None),
            ("select pg_sleep(0.001);", 2.672e-3, None),
        ],
    ),
    (
        V15_RETRIES,
        [
            ("begin isolation level serializable;", 0.273e-3, 0),
            ("update acc set v=v+1 where id=1;", 0.226e-3, 391),
            ("end;", 2.686e-3, 0),
        ],
    ),
    (V15_NOTHING, []),
    (
        V18,
        [("\\set a random(1,10)", 0.001e-3, 0), ("select :a;", 0.091e-3, 0), ("select pg_sleep(0.001);", 2.299e-3, 0)],
    ),
    (
        V18_TWO_SCRIPTS,
        [
            ("\\set a random(1,10)", 0.002e-3, 0),
            ("select :a;", 0.237e-3, 0),
            ("begin isolation level serializable;", 0.049e-3, 0),
        ],
    ),
]


@pytest.mark.parametrize(("output", "commands"), COMMANDS)
def test_latency_of_each_command(output: str, commands: list[tuple[str, float, int | None]]) -> None:
    summary = read_summary(output)

    assert summary is not None
    assert summary.commands == tuple(
        Command(text, pytest.approx(latency), failed) for text, latency, failed in commands
    )


@pytest.mark.parametrize(("output", "share"), [(V15_RETRIES, 391 / 1030), (V18, 0.0), (V15_NOTHING, 0.0), (V9_4, 0.0)])
def test_share_of_failed_transactions(output: str, share: float) -> None:
    summary = read_summary(output)

    assert summary is not None
    assert summary.failed_share == pytest.approx(share)


@pytest.mark.parametrize("output", ["", "pgbench (18.6)\n"])
def test_without_figures_there_is_no_summary(output: str) -> None:
    assert read_summary(output) is None


PROGRESS = [
    ("progress: 1.0 s, 724.7 tps, lat 2.714 ms stddev 1.308", Interval(1.0, 724.7, 0.002714, 0.001308, None)),
    (
        "progress: 1.0 s, 89.0 tps, lat 6.667 ms stddev 11.928, lag 2.988 ms",
        Interval(1.0, 89.0, 0.006667, 0.011928, None),
    ),
    (
        "progress: 2.0 s, 452.6 tps, lat 3.386 ms stddev 3.659, 280 failed, 423 retried, 764 retries",
        Interval(2.0, 452.6, 0.003386, 0.003659, 280),
    ),
    (
        "progress: 5.0 s, 77.0 tps, lat 3.358 ms stddev 1.606, 0 failed, lag 0.431 ms, 25 skipped",
        Interval(5.0, 77.0, 0.003358, 0.001606, 0),
    ),
]


@pytest.mark.parametrize(("line", "interval"), PROGRESS)
def test_progress(line: str, interval: Interval) -> None:
    found = read_progress(f"pgbench: warning: something\n{line}\n")

    assert [vars(one) for one in found] == [{name: pytest.approx(value) for name, value in vars(interval).items()}]


def test_progress_without_a_transaction() -> None:
    stalled = read_progress("progress: 3.0 s, 0.0 tps, lat -nan ms stddev NaN, 0 failed\n")

    assert stalled[0].tps == 0
    assert math.isnan(stalled[0].latency_mean)


ABORTS = [
    "Client 1 aborted in state 1: ERROR:  division by zero\n",
    "client 0 script 0 aborted in command 1 query 0: ERROR:  division by zero\n",
    "pgbench: error: client 1 script 0 aborted in command 1 query 0: ERROR:  division by zero\n",
    "pgbench: error: Run was aborted; the above results are incomplete.\n",
]


@pytest.mark.parametrize("errors", ABORTS)
def test_a_client_that_gave_up(errors: str) -> None:
    assert was_aborted(f"progress: 1.0 s, 441.0 tps, lat 2.246 ms stddev 2.159, 908 failed\n{errors}")


def test_progress_is_no_complaint() -> None:
    errors = "progress: 1.0 s, 441.0 tps, lat 2.2 ms stddev 2.1\npgbench: error: could not open file\n"

    assert complaints(errors) == ["could not open file"]
    assert not was_aborted(errors)
