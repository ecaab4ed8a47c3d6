"""What EXPLAIN ANALYZE says only on a cluster: memory by slice of the plan, rows and time by segment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tasks.dialects.plans import NODE, ReadPlan, SegmentShare, walk

# Greenplum 6 writes the statistics of all segments as {[...], [...]}, which is no JSON; meant are lists of pairs.
ALLSTAT = re.compile(r'"Allstat": \{(?P<segments>(?:\s*\[[^\]]*\],?)*)\s*\}')
SLICE = re.compile(
    r"\(slice\d+\)\s+Executor memory: (?P<kb>\d+)K bytes(?: avg x \d+ workers, (?P<most>\d+)K bytes max)?"
)
# allstat: seg_firststart_total_ntuples/seg0_22 ms_355 ms_5013/seg1_21 ms_366 ms_4987//end
SEGMENT = re.compile(r"/seg(?P<number>\d+)_[\d.]+ ms_(?P<ms>[\d.]+) ms_(?P<rows>\d+)")
# Rows out:  Avg 640000.0 rows x 2 workers.  Max 640128 rows (seg0) with 1190 ms to first row, 1388 ms to end, start ...
SLOWEST = re.compile(
    r"Max (?P<rows>\d+) rows \(seg(?P<number>\d+)\) with (?:[\d.]+ ms to first row, )?(?P<ms>[\d.]+) ms"
)


class Node(NamedTuple):
    """A node of a plan in the text form: how far it is indented, and in which line it stands."""

    depth: int
    line: int
    name: str


def mended(text: str) -> str:
    """The JSON of Greenplum 6 as JSON."""
    return ALLSTAT.sub(lambda found: f'"Allstat": [{found["segments"].replace("[", "{").replace("]", "}")}]', text)


def parsed(document: Any) -> Any:
    """The document that the driver may have parsed; raises ``ValueError`` where no mending makes it JSON."""
    return json.loads(mended(document)) if isinstance(document, str) else document


def with_slices(plan: ReadPlan) -> ReadPlan:
    """The plan with what the cluster adds."""
    if isinstance(plan.plan, Mapping):
        text = str(plan.plan["text"])
        return replace(plan, slice_memory=_most(_memory_in_text(text)), shares=tuple(_shares_in_text(text)))
    statement = plan.plan[0]
    memory = (one.get("Executor Memory", 0) for one in statement.get("Slice statistics", ()))
    return replace(plan, slice_memory=_most(map(_used, memory)), shares=tuple(_shares(statement["Plan"])))


def _used(memory: Any) -> int:
    """Of the coordinator's slice one number, of the others the process that used most."""
    return int(memory["Maximum Memory Used"] if isinstance(memory, Mapping) else memory)


def _most(memory: Iterable[int]) -> int | None:
    return max(memory, default=None)


def _shares(root: Mapping[str, Any]) -> Iterator[SegmentShare]:
    """Those of the lowest scan, the last in the document that reads a table; of a partitioned one all leaves."""
    scans = [[root]] if _is_scan(root) else []
    for _, node in walk(root, "Plans"):
        below = [child for child in node.get("Plans", ()) if _is_scan(child)]
        if below:
            scans.append(below if node["Node Type"] == "Append" else below[-1:])
    segments = [segment for scan in scans[-1] for segment in scan["Allstat"]] if scans else []
    yield from _summed(
        (f"seg{one['Segment index']}", int(one["Tuples"]), float(one["Time To Total Result"])) for one in segments
    )


def _is_scan(node: Mapping[str, Any]) -> bool:
    return "Allstat" in node and "Relation Name" in node


def _summed(shares: Iterable[tuple[str, int, float]]) -> Iterator[SegmentShare]:
    """By segment, from milliseconds: it scans one leaf after the other."""
    found: dict[str, tuple[int, float]] = {}
    for node, rows, milliseconds in shares:
        before = found.get(node, (0, 0.0))
        found[node] = before[0] + rows, before[1] + milliseconds
    for node, (rows, milliseconds) in found.items():
        yield SegmentShare(node, rows, milliseconds / 1000)


def _memory_in_text(text: str) -> Iterator[int]:
    for found in SLICE.finditer(text):
        yield int(found["most"] or found["kb"]) * 1024


def _shares_in_text(text: str) -> Iterator[SegmentShare]:
    """Greenplum 5 names the segment with most rows only; of several leaves the one with most is told."""
    scans = [_numbers(SEGMENT, line) for line in _lowest(text, "allstat:")]
    most = max((_numbers(SLOWEST, line) for line in _lowest(text, "Rows out:")), key=_rows, default=[])
    yield from _summed(share for scan in scans or [most] for share in scan)


def _numbers(pattern: re.Pattern[str], line: str) -> list[tuple[str, int, float]]:
    return [(f"seg{one['number']}", int(one["rows"]), float(one["ms"])) for one in pattern.finditer(line)]


def _rows(shares: list[tuple[str, int, float]]) -> int:
    return sum(rows for _, rows, _ in shares)


def _lowest(text: str, word: str) -> list[str]:
    """The lines with ``word`` of the lowest scan: that of the last node, and of its siblings below an Append."""
    found: list[tuple[Node | None, str]] = []
    above: list[Node] = []
    for number, line in enumerate(text.splitlines()):
        if node := NODE.match(line):
            depth = len(node["indent"])
            above = [*(one for one in above if one.depth < depth), Node(depth, number, node["name"])]
        elif word in line:
            found.append((above[-2] if len(above) > 1 else None, line))
    lowest = found[-1][0] if found else None
    if lowest is not None and lowest.name == "Append":
        return [line for parent, line in found if parent == lowest]
    return [line for _, line in found[-1:]]
