"""What pgbench 9.4 to 18 prints, read into numbers: seconds, counts and rates; runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MILLISECONDS = 1e-3
NUMBER = r"(-?[\d.]+|-?nan|-?inf)"
TPS = re.compile(rf"^tps = {NUMBER} \((.*)\)$", re.MULTILINE | re.IGNORECASE)
# 9.x writes "latency average: 9.188 ms".
LATENCY = r"^latency {}(?: =|:) " + NUMBER + " ms"
HEADER = re.compile(r"^(?: - )?statement latencies in milliseconds(?P<counts>.*):$")
COMMANDS = {
    "": re.compile(r"^\s+(?P<latency>[\d.]+)\s+(?P<text>\S.*)$"),
    " and failures": re.compile(r"^\s+(?P<latency>[\d.]+)\s+(?P<failures>\d+)\s+(?P<text>\S.*)$"),
    ", failures and retries": re.compile(
        r"^\s+(?P<latency>[\d.]+)\s+(?P<failures>\d+)\s+(?P<retries>\d+)\s+(?P<text>\S.*)$"
    ),
}
PROGRESS = re.compile(
    rf"^progress: (?P<at>[\d.]+) s, (?P<tps>{NUMBER}) tps, lat (?P<latency>{NUMBER}) ms stddev (?P<stddev>{NUMBER})",
    re.IGNORECASE,
)
FAILED = re.compile(r", (\d+) failed")
ABORTED = re.compile(r"client \d+ (script \d+ )?aborted|Run was aborted", re.IGNORECASE)


@dataclass(frozen=True)
class Command:
    """One command of the script: its mean latency, and how often it failed where pgbench counts that (15 on)."""

    text: str
    latency: float
    failures: int | None = None


@dataclass(frozen=True)
class Interval:
    """What happened up to ``at`` seconds since the progress line before."""

    at: float
    tps: float
    latency_mean: float
    latency_stddev: float
    failed: int | None


@dataclass(frozen=True)
class Summary:
    """The figures at the end; None for what this version does not tell."""

    transactions: int
    failed: int | None
    retried: int | None
    skipped: int | None
    latency_mean: float | None
    latency_stddev: float | None
    connection_time: float | None
    tps: float | None
    tps_including_connections: float | None
    commands: tuple[Command, ...]

    @property
    def failed_share(self) -> float:
        """Failed transactions among all that were begun."""
        failed = self.failed or 0
        return failed / (self.transactions + failed) if failed else 0.0


def read_summary(output: str) -> Summary | None:
    """The figures on standard output; None where it ended before it had any."""
    transactions = _count(output, "actually processed")
    if transactions is None:
        return None
    rates = {words: float(rate) for rate, words in TPS.findall(output)}
    return Summary(
        transactions=transactions,
        failed=_count(output, r"failed transactions", before=r"number of "),
        retried=_count(output, "retried"),
        skipped=_count(output, "skipped"),
        latency_mean=_milliseconds(output, LATENCY.format("average")),
        latency_stddev=_milliseconds(output, LATENCY.format("stddev")),
        connection_time=_milliseconds(output, rf"^initial connection time = {NUMBER} ms"),
        tps=next((rate for words, rate in rates.items() if not words.startswith("including")), None),
        tps_including_connections=next((rate for words, rate in rates.items() if words.startswith("including")), None),
        commands=tuple(_commands(output)),
    )


def _count(output: str, words: str, before: str = r"number of transactions ") -> int | None:
    found = re.search(rf"^{before}{words}: (\d+)", output, re.MULTILINE)
    return int(found[1]) if found else None


def _milliseconds(output: str, pattern: str) -> float | None:
    found = re.search(pattern, output, re.MULTILINE | re.IGNORECASE)
    return float(found[1]) * MILLISECONDS if found else None


def _commands(output: str) -> Iterator[Command]:
    """The lines below a heading that says which counts stand between latency and text."""
    line_form: re.Pattern[str] | None = None
    for line in output.splitlines():
        header = HEADER.match(line)
        if header:
            line_form = COMMANDS.get(header["counts"])
            continue
        found = line_form.match(line) if line_form else None
        if found is None:
            line_form = None
            continue
        counted = found.groupdict().get("failures")
        yield Command(found["text"].rstrip(), float(found["latency"]) * MILLISECONDS, int(counted) if counted else None)


def read_progress(errors: str) -> list[Interval]:
    """The progress lines on standard error."""
    return [interval for line in errors.splitlines() if (interval := _interval(line)) is not None]


def _interval(line: str) -> Interval | None:
    found = PROGRESS.match(line)
    if found is None:
        return None
    failed = FAILED.search(line)
    return Interval(
        float(found["at"]),
        float(found["tps"]),
        float(found["latency"]) * MILLISECONDS,
        float(found["stddev"]) * MILLISECONDS,
        int(failed[1]) if failed else None,
    )


def complaints(errors: str) -> list[str]:
    """What standard error says besides progress."""
    return [line.removeprefix("pgbench: error: ") for line in errors.splitlines() if line and not PROGRESS.match(line)]


def was_aborted(errors: str) -> bool:
    """Whether a client gave up; up to version 10 pgbench ends with 0 all the same."""
    return any(ABORTED.search(line) for line in complaints(errors))
