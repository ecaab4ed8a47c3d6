"""The truth about a run: immutable files in HOME/ledger/<run_id>/, from which all else can be made again."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from experiments.model import CellResult, Expectation, Matrix, Measurement, Request, UserError, Verdict
from experiments.sqlfiles import FRAMES
from experiments.template import render
from warehouse.decoding import plain
from warehouse.jsonfiles import read_json, write_json
from warehouse.records import Environment, Finish, Judgement, Owner, Run, RunStatus, RunTarget

__all__ = ["RunLedger", "RunStatus", "find_ledger", "ledgers", "new_run_id"]

CELL_FILE = re.compile(r"cell-([0-9a-z]+)-(\d+)-(\d+)\.json")
VERDICT_FILE = re.compile(r"verdict-(\d+)\.json")
LISTED_RUNS = 10


class RunLedger:
    """The folder of one run. Every file is written once, but ``finish.json`` again when a run is resumed."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @classmethod
    def create(
        cls,
        home: Path,
        request: Request,
        matrix: Matrix,
        lineages: Mapping[str, tuple[str, ...]],
        started: datetime | None = None,
    ) -> RunLedger:
        """A new run's folder with its ``run.json``; ``lineages`` has the dialects of each target, nearest first."""
        started = started or datetime.now(UTC)
        ledger = cls(_new_directory(home, request.experiment.name, started))
        write_json(ledger.directory / "run.json", _run(ledger.run_id, request, matrix, lineages, started))
        return ledger

    @property
    def run_id(self) -> str:
        """Start, experiment and a few random digits; sorts by start."""
        return self.directory.name

    def write_environment(self, target: str, facts: Mapping[str, Any]) -> str:
        """Keep the circumstances on a target; the id is their digest."""
        known = plain({"target": target, "facts": facts})
        environment_id = hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()[:12]
        path = self.directory / f"environment-{environment_id}.json"
        if not path.exists():
            write_json(path, {"environment_id": environment_id, **known})
        return environment_id

    def write_cell(self, result: CellResult) -> None:
        """Keep one attempt at a cell."""
        cell = result.cell
        path = self.directory / f"cell-{cell.cell_id}-{cell.replicate}-{result.attempt}.json"
        if path.exists():
            raise FileExistsError(f"{path} is there: an attempt is written once")
        write_json(path, replace(result, measurements=tuple(map(_explained, result.measurements))))

    def write_verdicts(self, verdicts: Sequence[Verdict]) -> None:
        """Keep what the expectations said now; earlier judgements stay, the last one counts."""
        number = max(self._judgements(), default=0) + 1
        write_json(self.directory / f"verdict-{number}.json", Judgement(tuple(verdicts)))

    def finish(self, status: RunStatus, timings: Mapping[str, float]) -> None:
        """Say that the run is over; ``timings`` are seconds by part."""
        write_json(self.directory / "finish.json", Finish(status, datetime.now(UTC).isoformat(), timings))

    def run(self) -> Run:
        """What the run set out to do."""
        return read_json(self.directory / "run.json", Run)

    def attempts(self) -> list[CellResult]:
        """Every attempt at every cell, by cell and replicate, the last one last."""
        return [read_json(path, CellResult) for _, path in sorted(self._attempts())]

    def histories(self) -> list[list[CellResult]]:
        """The attempts at each cell and replicate, by cell, the last one last."""
        found: dict[tuple[str, int], list[CellResult]] = {}
        for attempt in self.attempts():
            found.setdefault((attempt.cell.cell_id, attempt.cell.replicate), []).append(attempt)
        return list(found.values())

    def cells(self) -> list[CellResult]:
        """The last attempt at each cell and replicate, by cell."""
        return [attempts[-1] for attempts in self.histories()]

    def _attempts(self) -> Iterator[tuple[tuple[str, int, int], Path]]:
        for path in self.directory.glob("cell-*.json"):
            if named := CELL_FILE.fullmatch(path.name):
                yield (named[1], int(named[2]), int(named[3])), path

    def environments(self) -> dict[str, Environment]:
        """The circumstances by id."""
        paths = sorted(self.directory.glob("environment-*.json"))
        known = (read_json(path, Environment) for path in paths)
        return {environment.environment_id: environment for environment in known}

    def verdicts(self) -> tuple[Verdict, ...]:
        """The last judgement; none before the first."""
        judgements = self._judgements()
        return read_json(judgements[max(judgements)], Judgement).verdicts if judgements else ()

    def finished(self) -> Finish | None:
        """How the run ended; None if it has not, or was killed."""
        path = self.directory / "finish.json"
        return read_json(path, Finish) if path.exists() else None

    def is_owned(self) -> bool:
        """Whether the process that made the run still runs."""
        return self.run().owner.is_alive()

    def fingerprint(self) -> str:
        """Digest of names, sizes and times of the files: a later judgement or a restored file shows in it."""
        found = sorted(
            (entry.name, entry.stat()) for entry in os.scandir(self.directory) if entry.name.endswith(".json")
        )
        listed = [(name, status.st_size, status.st_mtime_ns) for name, status in found]
        return hashlib.sha256(repr(listed).encode()).hexdigest()[:16]

    def _judgements(self) -> dict[int, Path]:
        paths = self.directory.glob("verdict-*.json")
        return {int(named[1]): path for path in paths if (named := VERDICT_FILE.fullmatch(path.name))}


def ledgers(home: Path) -> list[RunLedger]:
    """Every run that has begun, oldest first."""
    return [RunLedger(path.parent) for path in sorted((home / "ledger").glob("*/run.json"))]


def find_ledger(home: Path, run: str = "latest") -> RunLedger:
    """The run of that id, or the newest; raises ``UserError`` with the known ones."""
    known = ledgers(home)
    if not known:
        raise UserError(f'no run in {home / "ledger"} yet: "storage-matrix run storage_matrix" makes one')
    if run == "latest":
        return known[-1]
    for ledger in known:
        if ledger.run_id == run:
            return ledger
    newest = ", ".join(ledger.run_id for ledger in known[: -LISTED_RUNS - 1 : -1])
    raise UserError(f'unknown run "{run}"; the newest runs: {newest}')


def new_run_id(experiment: str, started: datetime) -> str:
    """An id that sorts by start, can be read, and differs for two runs of the same second."""
    name = re.sub(r"[^A-Za-z0-9_]+", "_", experiment)
    return f"{started.astimezone(UTC):%Y%m%dT%H%M%S}-{name}-{secrets.token_hex(2)}"


def _new_directory(home: Path, experiment: str, started: datetime) -> Path:
    while True:
        directory = home / "ledger" / new_run_id(experiment, started)
        try:
            directory.parent.mkdir(parents=True, exist_ok=True)
            directory.mkdir()
        except FileExistsError:
            if not directory.is_dir():
                raise UserError(f"cannot write {directory}: a file is in the way; choose another --home") from None
        except OSError as error:
            raise UserError(f"cannot write {directory}: {error.strerror}; choose another --home") from error
        else:
            return directory


def _run(
    run_id: str, request: Request, matrix: Matrix, lineages: Mapping[str, tuple[str, ...]], started: datetime
) -> Run:
    experiment = request.experiment
    return Run(
        run_id=run_id,
        experiment=experiment.name,
        question=experiment.question,
        spec_hash=experiment.spec_hash,
        baseline=experiment.baseline,
        factors=experiment.factors,
        expectations=_expectations(request),
        frames=_frames(request),
        published=experiment.published,
        profile=request.profile,
        parameters=request.parameters,
        only=request.only,
        order_seed=request.seed,
        repeats=request.repeats,
        timeout=request.timeout,
        targets=tuple(RunTarget(target.name, target.launcher, lineages[target.name]) for target in request.targets),
        matrix=matrix,
        owner=Owner.this(),
        version=version("storage-matrix"),
        started_at=started.astimezone(UTC).isoformat(),
    )


def _explained(measurement: Measurement) -> Measurement:
    """JSON has no infinity: what is kept instead is that there was one."""
    if measurement.value is None or math.isfinite(measurement.value):
        return measurement
    return replace(measurement, value=None, reason=measurement.reason or f"the value was {measurement.value}")


def _frames(request: Request) -> dict[str, str]:
    """The SQL of the frames that expectations judge, by the frame's name, with the run's parameters in it."""
    return {
        file.removeprefix(FRAMES).removesuffix(".sql"): render(sql, request.parameters, f"sql/{file}")
        for file, sql in request.experiment.sql.items()
        if file.startswith(FRAMES)
    }


def _expectations(request: Request) -> tuple[Expectation, ...]:
    return tuple(
        replace(one, promises=render(one.promises, request.parameters, f"promises of {one.name}"))
        for one in request.experiment.expectations
    )
