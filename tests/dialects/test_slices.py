"""What a cluster's EXPLAIN ANALYZE says of slices and segments, as Greenplum 5 and 6 wrote it."""

from __future__ import annotations

import json

import pytest

from tasks.dialects.plans import ReadPlan, SegmentShare
from tasks.dialects.registry import dialect_named
from tasks.dialects.slices import mended

# With gp_enable_explain_allstat the server writes lists of pairs in braces, and objects in brackets: no JSON.
GREENPLUM6 = """[
  {
    "Plan": {
      "Node Type": "Gather Motion",
      "Plans": [
        {
          "Node Type": "Bitmap Heap Scan",
          "Relation Name": "t",
          "Actual Rows": 6,
          "Filter": "(c1 = '[a] {b}'::text)",
          "Allstat": {
            [
              "Segment index": 0,
              "Time To First Result": "0.150",
              "Time To Total Result": "120",
              "Tuples": 6.0
            ],
            [
              "Segment index": 1,
              "Time To First Result": "2.974",
              "Time To Total Result": "81.5",
              "Tuples": 4.0
            ]
          },
          "Plans": [
            {
              "Node Type": "Bitmap Index Scan",
              "Index Name": "ti",
              "Allstat": {
                [
                  "Segment index": 0,
                  "Time To First Result": "0.010",
                  "Time To Total Result": "0.020",
                  "Tuples": 1.0
                ]
              }
            }
          ]
        }
      ]
    },
    "Planning Time": 0.137,
    "Slice statistics": [
      { "Slice": 0, "Executor Memory": 76800 },
      { "Slice": 1, "Executor Memory": { "Average": 8473864, "Workers": 2, "Maximum Memory Used": 8482056 } }
    ],
    "Settings": { "Optimizer": "Postgres query optimizer" },
    "Execution Time": 121.214
  }
]"""

GREENPLUM6_TEXT = """\
Gather Motion 2:1  (slice1; segments: 2)  (cost=0.00..683.75 rows=47 width=40) (actual time=18.2..79.9 rows=10 loops=1)
  ->  Seq Scan on t  (cost=0.00..683.75 rows=24 width=40) (actual time=18.055..72.583 rows=6 loops=1)
        Filter: (c2 = 9002)
        allstat: seg_firststart_total_ntuples/seg0_1.753 ms_73 ms_6/seg1_8.233 ms_75 ms_4//end
Planning time: 1.765 ms
  (slice0)    Executor memory: 75K bytes.
  (slice1)    Executor memory: 8276K bytes avg x 2 workers, 8284K bytes max (seg0).
Memory used:  128000kB
Optimizer: Postgres query optimizer
Execution time: 88.218 ms"""

# From the first study, 48 segments.
GREENPLUM5 = """\
 Gather Motion 48:1  (slice1; segments: 48)  (cost=0.00..1553595.98 rows=980 width=40)
   Rows out:  1001 rows at destination with 1489 ms to end, start offset by 1.419 ms.
   ->  Seq Scan on t_heap  (cost=0.00..1553595.98 rows=21 width=40)
         Filter: c2 = 1
         Rows out:  Avg 20.9 rows x 48 workers.  Max 35 rows (seg6) with 21 ms to first row, 613 ms to end, start offset by 853 ms.
 Slice statistics:
   (slice0)    Executor memory: 295K bytes.
   (slice1)    Executor memory: 230K bytes avg x 48 workers, 230K bytes max (seg0).
 Statement statistics:
   Memory used: 128000K bytes
 Settings:  optimizer=off
 Optimizer status: legacy query optimizer
 Total runtime: 1490.889 ms"""


def read(dialect: str, text: str) -> ReadPlan:
    rows = [(text,)] if text.startswith("[") else [(line,) for line in text.splitlines()]
    return dialect_named(dialect).read_plan(rows)


def test_statistics_of_segments_become_json() -> None:
    with pytest.raises(ValueError, match="Expecting property name"):
        json.loads(GREENPLUM6)
    scan = json.loads(mended(GREENPLUM6))[0]["Plan"]["Plans"][0]
    assert [segment["Tuples"] for segment in scan["Allstat"]] == [6.0, 4.0]
    assert scan["Filter"] == "(c1 = '[a] {b}'::text)"


@pytest.mark.parametrize("text", ["[]", '[{"Plan": {"Filter": "a = \'{[1]}\'"}}]'])
def test_what_is_json_stays_as_it_is(text: str) -> None:
    assert mended(text) == text


def test_rows_and_time_are_those_of_the_scan_that_reads_the_table() -> None:
    plan = read("greenplum6", GREENPLUM6)
    assert plan.shares == (SegmentShare("seg0", 6, 0.12), SegmentShare("seg1", 4, 0.0815))
    assert plan.slice_memory == 8482056
    assert plan.optimizer == "Postgres query optimizer"
    assert plan.execution_seconds == pytest.approx(0.121214)
    assert plan.node_names == ("Gather Motion", "Bitmap Heap Scan", "Bitmap Index Scan")


def test_the_text_form_says_the_same() -> None:
    plan = read("greenplum6", GREENPLUM6_TEXT)
    assert plan.shares == (SegmentShare("seg0", 6, 0.073), SegmentShare("seg1", 4, 0.075))
    assert plan.slice_memory == 8284 * 1024
    assert plan.optimizer == "Postgres query optimizer"
    assert plan.node_names == ("Gather Motion", "Seq Scan")


PARTITIONED = """[
  {
    "Plan": {
      "Node Type": "Gather Motion",
      "Plans": [
        {
          "Node Type": "Append",
          "Allstat": { [ "Segment index": 0, "Time To Total Result": "9", "Tuples": 9.0 ] },
          "Plans": [
            {
              "Node Type": "Seq Scan",
              "Relation Name": "t_1_prt_1",
              "Allstat": {
                [ "Segment index": 0, "Time To Total Result": "2.5", "Tuples": 6.0 ],
                [ "Segment index": 1, "Time To Total Result": "3", "Tuples": 4.0 ]
              }
            },
            {
              "Node Type": "Seq Scan",
              "Relation Name": "t_1_prt_2",
              "Allstat": {
                [ "Segment index": 0, "Time To Total Result": "1", "Tuples": 1.0 ],
                [ "Segment index": 1, "Time To Total Result": "0", "Tuples": 0.0 ]
              }
            }
          ]
        }
      ]
    },
    "Execution Time": 5.0
  }
]"""
PARTITIONED_TEXT = """\
Gather Motion 2:1  (slice1; segments: 2)  (cost=0.00..683.75 rows=47 width=40)
  ->  Append  (cost=0.00..683.75 rows=24 width=40)
        allstat: seg_firststart_total_ntuples/seg0_1 ms_9 ms_9//end
        ->  Seq Scan on t_1_prt_1  (cost=0.00..683.75 rows=24 width=40)
              allstat: seg_firststart_total_ntuples/seg0_1 ms_2.5 ms_6/seg1_8 ms_3 ms_4//end
        ->  Seq Scan on t_1_prt_2  (cost=0.00..683.75 rows=24 width=40)
              allstat: seg_firststart_total_ntuples/seg0_1 ms_1 ms_1/seg1_8 ms_0 ms_0//end
Execution time: 5.0 ms"""
JOINED_TEXT = PARTITIONED_TEXT.replace("Append", "Merge Join")


@pytest.mark.parametrize("text", [PARTITIONED, PARTITIONED_TEXT])
def test_the_leaves_of_a_partitioned_table_are_one_scan(text: str) -> None:
    assert read("greenplum6", text).shares == (SegmentShare("seg0", 7, 0.0035), SegmentShare("seg1", 4, 0.003))


def test_of_two_joined_tables_it_is_the_last() -> None:
    expected = (SegmentShare("seg0", 1, 0.001), SegmentShare("seg1", 0, 0.0))
    assert read("greenplum6", JOINED_TEXT).shares == expected
    assert read("greenplum6", PARTITIONED.replace("Append", "Merge Join")).shares == expected


def test_of_leaves_greenplum_5_names_the_one_with_most_rows() -> None:
    leaf = "         Rows out:  Avg 2.9 rows x 48 workers.  Max {} rows (seg{}) with 21 ms to first row, 613 ms to end."
    scan = "   ->  Append  (cost=0.00..15 rows=21 width=40)\n" + "".join(
        f"         ->  Seq Scan on t_{rows}  (cost=0.00..15 rows=21 width=40)\n      {leaf.format(rows, segment)}\n"
        for rows, segment in ((3, 1), (35, 6), (0, 2))
    )
    assert read("greenplum5", scan).shares == (SegmentShare("seg6", 35, 0.613),)


def test_greenplum_5_names_the_segment_with_most_rows() -> None:
    plan = read("greenplum5", GREENPLUM5)
    assert plan.shares == (SegmentShare("seg6", 35, 0.613),)
    assert plan.slice_memory == 295 * 1024
    assert plan.optimizer == "legacy query optimizer"
    assert plan.execution_seconds == pytest.approx(1.490889)


def test_a_plan_of_one_server_has_no_slices() -> None:
    plan = read("postgresql", '[{"Plan": {"Node Type": "Seq Scan", "Relation Name": "t"}, "Execution Time": 1.0}]')
    assert (plan.shares, plan.slice_memory) == ((), None)
