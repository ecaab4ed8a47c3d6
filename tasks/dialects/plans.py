"""Reading what EXPLAIN ANALYZE says: PostgreSQL's JSON, DuckDB's JSON, and the text form of old Greenplum."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

# What makes two plans the same plan. Names of tables and indexes, conditions, costs and times are left out.
STRUCTURE = ("Node Type", "Strategy", "Partial Mode", "Join Type", "Scan Direction", "Parallel Aware")
BUFFERS = ("Shared Hit Blocks", "Shared Read Blocks", "Local Hit Blocks", "Local Read Blocks")
# What DuckDB adds on top of a query in order to analyze it.
WRAPPERS = ("RESULT_COLLECTOR", "EXPLAIN_ANALYZE")

NODE = re.compile(
    r"(?P<indent> *)(?:->  )?(?P<name>[A-Z][A-Za-z0-9 -]*?)(?: \d+:\d+)?(?: (?:on|using) .*?)?  \((?:slice|cost=)"
)
TOTAL = re.compile(r"(?:Total runtime|Execution [tT]ime): (?P<ms>[\d.]+) ms")
OPTIMIZER = re.compile(r"Optimizer(?: status)?: (?P<name>.*\S)")


@dataclass(frozen=True)
class SegmentShare:
    """What one segment of a cluster did in the lowest scan of a plan."""

    node: str
    rows: int
    seconds: float


@dataclass(frozen=True)
class ReadPlan:
    """One analyzed plan. ``pages`` counts buffer accesses of the whole query, None where the engine does not count
    them. On a cluster ``slice_memory`` is the most that a process of any slice used, in bytes, and ``shares`` is who
    scanned what.
    """

    plan: Any
    plan_hash: str
    execution_seconds: float | None
    node_names: tuple[str, ...]
    pages: int | None = None
    optimizer: str | None = None
    slice_memory: int | None = None
    shares: tuple[SegmentShare, ...] = ()


def read_json_plan(rows: list[tuple[Any, ...]], *, has_pages: bool) -> ReadPlan:
    """PostgreSQL's and Greenplum's FORMAT JSON, as text or already parsed by the driver."""
    document = rows[0][0]
    if isinstance(document, str):
        document = json.loads(document)
    statement = document[0]
    root = statement["Plan"]
    nodes = list(walk(root, "Plans"))
    return ReadPlan(
        document,
        _hash([depth, *(node.get(key) for key in STRUCTURE)] for depth, node in nodes),
        _seconds(statement.get("Execution Time", statement.get("Total Runtime"))),
        tuple(node["Node Type"] for _, node in nodes),
        pages=sum(root.get(key, 0) for key in BUFFERS) if has_pages else None,
        optimizer=statement.get("Settings", {}).get("Optimizer", statement.get("Optimizer")),
    )


def read_duckdb_plan(rows: list[tuple[Any, ...]]) -> ReadPlan:
    """DuckDB's ``explain (analyze, format json)``; a scan is named by its type, Index Scan or Sequential Scan."""
    document = json.loads(rows[0][1])
    if "operator" not in document:
        # A count(*) that the table's statistics answer has no operators, and 2.0 says "result": "error" instead.
        return ReadPlan(document, _hash([]), None, ())
    nodes = [
        pair for root in document["operator"] for pair in walk(root, "children") if pair[1]["name"] not in WRAPPERS
    ]
    names = tuple(node["extra_info"].get("Type", node["name"]) for _, node in nodes)
    planning = sum(document[part]["total_time"] for part in ("planner", "optimizer", "physical_planner"))
    return ReadPlan(
        document,
        _hash([depth, name] for (depth, _), name in zip(nodes, names, strict=True)),
        document["query"]["total_time"] - planning,
        names,
    )


def read_text_plan(rows: list[tuple[Any, ...]]) -> ReadPlan:
    """The text form, one line a row: all that Greenplum 5 has."""
    lines = [str(row[0]) for row in rows]
    text = "\n".join(lines)
    nodes = [match for line in lines if (match := NODE.match(line))]
    optimizer = OPTIMIZER.search(text)
    return ReadPlan(
        {"text": text},
        _hash([len(node["indent"]), node["name"]] for node in nodes),
        _milliseconds(TOTAL.search(text)),
        tuple(node["name"] for node in nodes),
        optimizer=optimizer["name"] if optimizer else None,
    )


def walk(node: Mapping[str, Any], children: str, depth: int = 0) -> Iterable[tuple[int, Mapping[str, Any]]]:
    """Every node of a plan with its depth, from the root down."""
    yield depth, node
    for child in node.get(children, ()):
        yield from walk(child, children, depth + 1)


def _hash(structure: Iterable[list[Any]]) -> str:
    return hashlib.sha256(json.dumps(list(structure)).encode()).hexdigest()[:12]


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _milliseconds(match: re.Match[str] | None) -> float | None:
    return _seconds(float(match["ms"])) if match else None
