"""What a context says of the measurements that it keeps."""

from __future__ import annotations

from tests.tasks.test_steps import context


def test_the_wal_of_each_repetition_is_judged_by_its_own_seconds() -> None:
    into = context()
    into.target.idle_wal = 1000.0  # type: ignore[misc]
    for repetition, seconds in ((1, 50.0), (2, 1.0)):
        into.record("load", "wal_bytes", 1_000_000.0, "insert LSN", repetition=repetition)
        into.judge_wal("load", seconds, repetition)
    assert [one.reason for one in into.measurements] == ["of it the idle server would have written 5%", None]
