"""Plans as servers told them, cut to what matters: PostgreSQL 18, Greenplum 6 and 5, openGauss, DuckDB 2.0."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tasks.dialects.registry import dialect_named

POSTGRESQL = [
    {
        "Plan": {
            "Node Type": "Bitmap Heap Scan",
            "Parallel Aware": False,
            "Relation Name": "t",
            "Alias": "t",
            "Total Cost": 92.8,
            "Actual Total Time": 0.192,
            "Recheck Cond": "(c2 = 5)",
            "Shared Hit Blocks": 100,
            "Shared Read Blocks": 2,
            "Shared Dirtied Blocks": 7,
            "Local Hit Blocks": 0,
            "Local Read Blocks": 0,
            "Plans": [
                {
                    "Node Type": "Bitmap Index Scan",
                    "Parent Relationship": "Outer",
                    "Parallel Aware": False,
                    "Index Name": "ti",
                    "Total Cost": 4.66,
                    "Shared Hit Blocks": 0,
                    "Shared Read Blocks": 2,
                }
            ],
        },
        "Settings": {},
        "Planning Time": 0.094,
        "Triggers": [],
        "Execution Time": 0.21,
    }
]

GREENPLUM6 = [
    {
        "Plan": {
            "Node Type": "Gather Motion",
            "Senders": 2,
            "Receivers": 1,
            "Slice": 2,
            "Plans": [
                {
                    "Node Type": "Aggregate",
                    "Strategy": "Hashed",
                    "Group Key": ["h.c2"],
                    "Plans": [
                        {
                            "Node Type": "Redistribute Motion",
                            "Hash Key": "h.c2",
                            "Plans": [
                                {
                                    "Node Type": "Aggregate",
                                    "Strategy": "Hashed",
                                    "Plans": [{"Node Type": "Seq Scan", "Relation Name": "h"}],
                                }
                            ],
                        }
                    ],
                }
            ],
        },
        "Planning Time": 0.384,
        "Slice statistics": [{"Slice": 0, "Executor Memory": 89088}],
        "Statement statistics": {"Memory used": 128000},
        "Settings": {"Optimizer": "Postgres query optimizer"},
        "Execution Time": 140.168,
    }
]

OPENGAUSS = [{"Plan": {"Node Type": "Row Adapter", "Plans": [{"Node Type": "CStore Scan"}]}, "Total Runtime": 0.268}]

GREENPLUM5 = """\
 Gather Motion 48:1  (slice1; segments: 48)  (cost=107.99..95579.14 rows=980 width=40)
   Rows out:  1001 rows at destination with 34 ms to end, start offset by 1.331 ms.
   ->  Bitmap Heap Scan on t_heap  (cost=107.99..95579.14 rows=21 width=40)
         Recheck Cond: c2 = 1
         Rows out:  Avg 20.9 rows x 48 workers.  Max 35 rows (seg6) with 0.236 ms to first row, 0.959 ms to end.
         ->  Bitmap Index Scan on idx_t_heap  (cost=0.00..107.74 rows=21 width=0)
               Index Cond: c2 = 1
               Bitmaps out:  Avg 1.0 x 48 workers.  Max 1 (seg0) with 0.169 ms to end, start offset by 19 ms.
 Slice statistics:
   (slice0)    Executor memory: 303K bytes.
 Statement statistics:
   Memory used: 128000K bytes
 Settings:  optimizer=off
 Optimizer status: legacy query optimizer
 Total runtime: 35.093 ms"""

GREENPLUM6_TEXT = """\
Gather Motion 3:1  (slice1; segments: 3)  (cost=0.00..431.00 rows=1 width=8) (actual time=28.1..28.1 rows=10 loops=1)
  ->  Index Scan using ti on t  (cost=0.00..431.00 rows=1 width=8) (actual time=0.1..0.2 rows=33462 loops=1)
        Index Cond: (c2 = 5)
Planning time: 0.791 ms
  (slice1)    Executor memory: 60K bytes avg x 3 workers, 60K bytes max (seg0).
Memory used:  128000kB
Optimizer: Pivotal Optimizer (GPORCA)
Execution time: 29.929 ms"""

DUCKDB: dict[str, Any] = {
    "operator": [
        {
            "name": "RESULT_COLLECTOR",
            "extra_info": {},
            "children": [
                {
                    "name": "EXPLAIN_ANALYZE",
                    "extra_info": {},
                    "children": [
                        {
                            "name": "PROJECTION",
                            "extra_info": {"Projections": ["id"]},
                            "children": [
                                {
                                    "name": "SEQ_SCAN",
                                    "extra_info": {"Table": "a.main.t", "Type": "Index Scan", "Filters": "(c2 = 5)"},
                                    "rows_scanned": 4,
                                    "timing": 0.008,
                                }
                            ],
                        }
                    ],
                }
            ],
        }
    ],
    "planner": {"total_time": 0.000363},
    "optimizer": {"total_time": 0.004763},
    "physical_planner": {"total_time": 0.000059},
    "query": {"total_time": 0.014012},
}


def duckdb_rows(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [("analyzed_plan", json.dumps(document))]


def lines(text: str) -> list[tuple[Any, ...]]:
    return [(line,) for line in text.splitlines()]


@pytest.mark.parametrize("document", [POSTGRESQL, json.dumps(POSTGRESQL)], ids=["parsed", "text"])
def test_postgresql(document: Any) -> None:
    plan = dialect_named("postgresql").read_plan([(document,)])
    assert plan.node_names == ("Bitmap Heap Scan", "Bitmap Index Scan")
    assert plan.pages == 102
    assert plan.execution_seconds == pytest.approx(0.00021)
    assert plan.plan == POSTGRESQL


def test_greenplum6() -> None:
    plan = dialect_named("greenplum6").read_plan([(GREENPLUM6,)])
    assert plan.node_names == ("Gather Motion", "Aggregate", "Redistribute Motion", "Aggregate", "Seq Scan")
    assert plan.pages is None
    assert plan.execution_seconds == pytest.approx(0.140168)
    assert plan.optimizer == "Postgres query optimizer"


def test_greenplum5_text() -> None:
    plan = dialect_named("greenplum5").read_plan(lines(GREENPLUM5))
    assert plan.node_names == ("Gather Motion", "Bitmap Heap Scan", "Bitmap Index Scan")
    assert plan.execution_seconds == pytest.approx(0.035093)
    assert plan.optimizer == "legacy query optimizer"
    assert plan.plan == {"text": GREENPLUM5}


def test_text_of_later_versions() -> None:
    plan = dialect_named("greenplum5").read_plan(lines(GREENPLUM6_TEXT))
    assert plan.node_names == ("Gather Motion", "Index Scan")
    assert plan.execution_seconds == pytest.approx(0.029929)
    assert plan.optimizer == "Pivotal Optimizer (GPORCA)"
    capital = GREENPLUM6_TEXT.replace("Execution time", "Execution Time")
    assert dialect_named("greenplum5").read_plan(lines(capital)).execution_seconds == pytest.approx(0.029929)


def test_opengauss_counts_no_pages_of_column_tables() -> None:
    plan = dialect_named("opengauss").read_plan([(OPENGAUSS,)])
    assert plan.node_names == ("Row Adapter", "CStore Scan")
    assert plan.pages is None
    assert plan.execution_seconds == pytest.approx(0.000268)


def test_duckdb() -> None:
    plan = dialect_named("duckdb").read_plan(duckdb_rows(DUCKDB))
    assert plan.node_names == ("PROJECTION", "Index Scan")
    assert plan.pages is None
    assert plan.execution_seconds == pytest.approx(0.008827)


def test_the_hash_ignores_names_and_numbers() -> None:
    other = json.loads(
        json.dumps(POSTGRESQL)
        .replace('"ti"', '"another_index"')
        .replace('"t"', '"t_b12"')
        .replace("0.21", "7.5")
        .replace("92.8", "1e6")
        .replace("(c2 = 5)", "(c2 = 9)")
    )
    postgresql = dialect_named("postgresql")
    assert postgresql.read_plan([(other,)]).plan_hash == postgresql.read_plan([(POSTGRESQL,)]).plan_hash
    greenplum5 = dialect_named("greenplum5")
    renamed = GREENPLUM5.replace("t_heap", "t_ao_row_8k").replace("107.99", "0.00").replace("48", "2")
    assert greenplum5.read_plan(lines(renamed)).plan_hash == greenplum5.read_plan(lines(GREENPLUM5)).plan_hash


def test_the_hash_changes_with_the_nodes() -> None:
    postgresql, duckdb = dialect_named("postgresql"), dialect_named("duckdb")
    scan = json.loads(json.dumps(POSTGRESQL).replace("Bitmap Heap Scan", "Seq Scan"))
    assert postgresql.read_plan([(scan,)]).plan_hash != postgresql.read_plan([(POSTGRESQL,)]).plan_hash
    whole = json.loads(json.dumps(DUCKDB).replace("Index Scan", "Sequential Scan"))
    assert duckdb.read_plan(duckdb_rows(whole)).plan_hash != duckdb.read_plan(duckdb_rows(DUCKDB)).plan_hash
