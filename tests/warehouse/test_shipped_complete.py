"""No expectation that ships is left out: each is tried with wrong data and with missing data."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.spec import find_experiment, list_experiments
from tasks.dialects.registry import lineages
from tests.warehouse import (
    test_shipped_ao,
    test_shipped_copy_grid,
    test_shipped_copy_tuning,
    test_shipped_engine_copy,
    test_shipped_gin_ingest,
    test_shipped_greenplum,
    test_shipped_storage_matrix,
    test_shipped_vacuum_bloat,
)

# By experiment, the tables of what is wrong and of what is missing.
TRIED = {
    "copy_grid": [(test_shipped_copy_grid.WRONG, test_shipped_copy_grid.MISSING)],
    "copy_tuning": [(test_shipped_copy_tuning.WRONG, test_shipped_copy_tuning.MISSING)],
    "engine_copy": [(test_shipped_engine_copy.WRONG, test_shipped_engine_copy.MISSING)],
    "gin_ingest": [(test_shipped_gin_ingest.WRONG, test_shipped_gin_ingest.MISSING)],
    "storage_matrix": [
        (test_shipped_storage_matrix.WRONG, test_shipped_storage_matrix.MISSING),
        (test_shipped_greenplum.WRONG, test_shipped_greenplum.MISSING),
    ],
    "vacuum_bloat": [(test_shipped_vacuum_bloat.WRONG, test_shipped_vacuum_bloat.MISSING)],
    **{name: [(shipped.wrong, shipped.missing)] for name, shipped in test_shipped_ao.EXPERIMENTS.items()},
}


def test_every_experiment_that_ships_is_tried(tmp_path: Path) -> None:
    assert TRIED.keys() == list_experiments(tmp_path).keys()


@pytest.mark.parametrize("name", TRIED)
def test_every_expectation_is_tried_with_wrong_and_with_missing_data(name: str, tmp_path: Path) -> None:
    for wrong, missing in TRIED[name]:
        assert wrong.keys() == missing.keys()
    expectations = find_experiment(name, tmp_path, lineages()).expectations
    assert {tried for wrong, _ in TRIED[name] for tried in wrong} == {one.name for one in expectations}
