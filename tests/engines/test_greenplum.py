"""Greenplum for real: what experiments may ask of a cluster, what it refuses, what it costs, and what a death does to it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from experiments.model import Cell, CellResult, Column, Levels, Measurement
from flows.asking import Ask, resolve
from flows.engine import Engine
from flows.outcome import exit_code
from tasks.dialects.dialect import Dialect
from tasks.dialects.registry import probe
from tasks.errors import StatementFailed
from tasks.launchers.greenplum import GreenplumCluster
from tasks.launchers.server import Server
from tasks.session import PostgresSession

COLUMNS = (Column("id", "integer"), Column("c1", "text"), Column("c2", "integer"))
TABLE = "storage_matrix.t"
GREENPLUM = ("greenplum",)


class Watcher:
    """A watcher that calls ``measuring`` when a cell begins."""

    def __init__(self, measuring: Callable[[Cell], None] = lambda cell: None) -> None:
        self.measuring = measuring

    def phase(self, text: str) -> None:
        """Nothing."""

    def planned(self, cells: int) -> None:
        """Nothing."""

    def measured(self, result: CellResult) -> None:
        """Nothing."""


@dataclass
class Runs:
    """Runs of experiments on the shared cluster, which outlives them."""

    home: Path
    server: Server

    def __call__(
        self,
        experiment: str,
        *sets: str,
        only: Sequence[str] = (),
        profile: str | None = None,
        repeats: int = 1,
        watcher: Watcher | None = None,
        target: str = "greenplum",
    ) -> list[CellResult]:
        ask = Ask(experiment, (target,), profile, tuple(sets), tuple(only), repeats, 1, 120)
        request, secrets = resolve(ask, self.home, os.environ)
        engine = Engine(request, self.home, secrets, watcher or Watcher())
        try:
            engine.open()
            engine.run(engine.measure_cell)
        finally:
            engine.close()
        self.unsupported = engine.matrix.unsupported
        return [result for result in engine.results if result.cell.role == "result"]


@pytest.fixture(scope="module")
def cluster(server_of: Callable[[str], Server]) -> GreenplumCluster:
    server = server_of("greenplum")
    assert isinstance(server, GreenplumCluster)
    return server


@pytest.fixture
def run(cluster: GreenplumCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    monkeypatch.setattr(cluster, "close", lambda: None)
    monkeypatch.setattr("flows.engine.acquire", lambda target, *rest, **more: cluster)
    return Runs(tmp_path, cluster)


@pytest.fixture
def dialect(greenplum: PostgresSession) -> Iterator[Dialect]:
    """The probed dialect, with our schema made for the test and the session pinned."""
    found = probe(greenplum)
    for statement in (*found.schema_setup(), *found.session_settings()):
        greenplum.execute(statement)
    yield found
    for statement in found.schema_teardown():
        greenplum.execute(statement)


def values(result: CellResult, step: str) -> Mapping[tuple[str, str | None], Measurement]:
    """The measurements of a step by metric and node, the last repetition winning."""
    return {(one.metric, one.node): one for one in result.measurements if one.step == step}


def experiment(home: Path, name: str, toml: str, **sql: str) -> None:
    """A folder of an experiment of one's own: no Python in it."""
    folder = home / "experiments" / name
    (folder / "sql").mkdir(parents=True)
    (folder / "experiment.toml").write_text(toml)
    for file, text in sql.items():
        (folder / "sql" / f"{file}.sql").write_text(text)
