"""The reason why a server would not start, or a program ended badly, from the lines that it wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

FATAL = ("FATAL", "PANIC", "ERROR")
PLAIN = re.compile(r"\b(LOG|FATAL|PANIC|ERROR|DETAIL|HINT):\s+(.*)")
CSV = re.compile(r',"(LOG|FATAL|PANIC|ERROR)","\w{5}","((?:[^"]|"")*)",(?:"((?:[^"]|"")*)")?,(?:"((?:[^"]|"")*)")?,')
"""Greenplum before it has read which format is wanted: severity, state, message, detail, hint."""


def reason(lines: Sequence[str]) -> str:
    """The first fatal message with its detail and hint, in one line; without any, the last lines as they are."""
    told = _messages(lines)
    fatal = next((index for index, (severity, _) in enumerate(told) if severity in FATAL), None)
    if fatal is None:
        return last_lines(lines) or "nothing in its log"
    if fatal > 0 and "contains errors" in told[fatal][1]:
        return "; ".join(text for _, text in told[:fatal])
    after = takewhile(lambda pair: pair[0] in ("DETAIL", "HINT"), told[fatal + 1 :])
    return "; ".join(text for _, text in [told[fatal], *after])


def is_told(lines: Sequence[str]) -> bool:
    """Whether there is a reason among them; a server that was killed has none."""
    return any(severity in FATAL for severity, _ in _messages(lines))


def last_lines(lines: Sequence[str]) -> str:
    """The last of them in one line, for want of one that is marked as the reason."""
    return " / ".join(line.strip() for line in lines[-3:])


def ignored(lines: Sequence[str]) -> dict[str, str]:
    """Settings that the server started without, and how it said so: Greenplum warns where PostgreSQL refuses."""
    found = (re.search(r'"+(\w+)"+: ((?:setting is|can not be set)[^"]*ignored[^"]*)', line) for line in lines)
    return {match[1]: match[2].strip() for match in found if match}


def _messages(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Severities and texts. openGauss begins each start with complaints about an alarm system that nobody installed."""
    return [pair for line in lines if "[Alarm Module]" not in line for pair in _told(line)]


def _told(line: str) -> Iterator[tuple[str, str]]:
    if match := CSV.search(line):
        severity, *texts = match.groups()
        for kind, text in zip((severity, "DETAIL", "HINT"), texts, strict=True):
            if text:
                yield kind, text.replace('""', '"')
    elif match := PLAIN.search(line):
        yield match[1], match[2]
