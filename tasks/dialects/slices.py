"""What EXPLAIN ANALYZE says only on a cluster: memory by slice of the plan, rows and time by segment."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tasks.dialects.plans import ReadPlan, SegmentShare, walk

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
    """Those of the lowest scan, the last in the document that reads rows of a table."""
    scans = [node["Allstat"] for _, node in walk(root, "Plans") if "Allstat" in node and "Relation Name" in node]
    for segment in scans[-1] if scans else ():
        rows, milliseconds = segment["Tuples"], float(segment["Time To Total Result"])
        yield SegmentShare(f"seg{segment['Segment index']}", int(rows), milliseconds / 1000)


def _memory_in_text(text: str) -> Iterator[int]:
    for found in SLICE.finditer(text):
        yield int(found["most"] or found["kb"]) * 1024


def _shares_in_text(text: str) -> Iterator[SegmentShare]:
    """Greenplum 5 names the segment with most rows only."""
    lines = [line for line in text.splitlines() if "allstat:" in line or "Rows out:" in line]
    pattern = SEGMENT if lines and "allstat:" in lines[-1] else SLOWEST
    for found in pattern.finditer(lines[-1] if lines else ""):
        yield SegmentShare(f"seg{found['number']}", int(found["rows"]), float(found["ms"]) / 1000)
