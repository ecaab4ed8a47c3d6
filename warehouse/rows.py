"""One run of the ledger as rows of the warehouse's tables; touches no database."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from experiments.factors import levels_for, text
from experiments.metrics import METRICS
from experiments.model import Cell, CellResult, Factor, Level, Levels, Measurement, UserError
from warehouse.ledger import RunLedger
from warehouse.records import Finish, Run

Row = dict[str, Any]
Rows = dict[str, list[Row]]
Unfinished = Literal["running", "interrupted"]

# Levels that say nothing without the name of their factor.
BARE_WORDS = frozenset({"none", "default", "auto", "on", "off", "yes", "no"})


def run_rows(ledger: RunLedger, unfinished: Unfinished) -> Rows:
    """All rows of a run by table; ``unfinished`` is the status of a run without ``finish.json``."""
    # Taken before the files are read: what changes meanwhile is then loaded again.
    fingerprint = ledger.fingerprint()
    run, finish, histories = ledger.run(), ledger.finished(), ledger.histories()
    results = [attempts[-1] for attempts in histories]
    plan = PlanWording(run)
    return {
        "loaded_run": [{"run_id": run.run_id, "fingerprint": fingerprint}],
        "run": [_run(run, finish, unfinished)],
        "run_target": [
            {"run_id": run.run_id, "target": target.name, "launcher": target.launcher, "lineage": list(target.lineage)}
            for target in run.targets
        ],
        "environment": [
            {
                "environment_id": environment.environment_id,
                "run_id": run.run_id,
                "target": environment.target,
                "facts": _json(environment.facts),
            }
            for environment in ledger.environments().values()
        ],
        "planned_cell": [_planned(run, plan, cell, number) for number, cell in enumerate(run.matrix.cells, 1)],
        "cell": [*_cells(run, plan, histories), *_never_run(run, plan, results)],
        "measurement": [row for result in results for row in _measurements(run, result)],
        "plan": [row for result in results for row in _plans(run, result)],
        "verdict": [{"run_id": run.run_id, **vars(verdict)} for verdict in ledger.verdicts()],
        "published": _published(run, plan),
    }


class PlanWording:
    """How the cells of a run are described: their levels in declared order, and in words."""

    def __init__(self, run: Run) -> None:
        self._order = {factor.name: position for position, factor in enumerate(run.factors)}
        self._in_place = [factor for factor in run.factors if factor.in_place]
        self._lineages = {target.name: target.lineage for target in run.targets}

    def ordered(self, levels: Levels) -> dict[str, Level]:
        """The levels in the order in which their factors are declared."""
        names = sorted(levels, key=lambda name: self._order.get(name, len(self._order)))
        return {name: levels[name] for name in names}

    def described(self, cell: Cell) -> Row:
        """The columns that describe a cell."""
        levels = self.ordered(cell.levels)
        changed = {factor.name for factor in self._in_place}
        storage = {name: level for name, level in levels.items() if name not in changed}
        in_place = {name: level for name, level in levels.items() if name in changed}
        return {
            "levels": _json(levels),
            "is_base": all(self._is_base(factor, cell) for factor in self._in_place if factor.name in levels),
            "storage_levels": _json(storage),
            "storage_form": in_words(storage) or "default",
            "in_place": " ".join(map(text, in_place.values())) or None,
        }

    def _is_base(self, factor: Factor, cell: Cell) -> bool:
        return levels_for(factor, self._lineages[cell.target])[:1] == (cell.levels[factor.name],)


def in_words(levels: Levels) -> str:
    """A storage form as one says it: ``ao_row 8kB zlib:5``; a number or a bare word goes with its factor's name."""
    return " ".join(
        level if isinstance(level, str) and level not in BARE_WORDS else f"{name}={text(level)}"
        for name, level in levels.items()
    )


def _run(run: Run, finish: Finish | None, unfinished: Unfinished) -> Row:
    return {
        "run_id": run.run_id,
        "experiment": run.experiment,
        "question": run.question,
        "profile": run.profile,
        "parameters": _json(run.parameters),
        "started_at": _time(run.started_at),
        "finished_at": _time(finish.finished_at) if finish else None,
        "status": finish.status if finish else unfinished,
        "order_seed": run.order_seed,
        "repeats": run.repeats,
        "baseline": _json(run.baseline),
        "timings": _json(finish.timings) if finish else None,
        "spec_hash": run.spec_hash,
        "version": run.version,
    }


def _named(run: Run, plan: PlanWording, cell: Cell) -> Row:
    return {
        "run_id": run.run_id,
        "cell_id": cell.cell_id,
        "content_hash": cell.content_hash,
        "target": cell.target,
        "dialect": cell.dialect,
        "role": cell.role,
        "block_id": cell.block_id,
        "replicate": cell.replicate,
        **plan.described(cell),
    }


def _planned(run: Run, plan: PlanWording, cell: Cell, position: int) -> Row:
    return {**_named(run, plan, cell), "status": cell.status, "reason": cell.reason, "position": position}


def _cells(run: Run, plan: PlanWording, histories: list[list[CellResult]]) -> Iterator[Row]:
    for *former, result in histories:
        yield {
            **_named(run, plan, result.cell),
            "status": result.status,
            "reason": result.reason,
            "sqlstate": result.sqlstate,
            "attempt": result.attempt,
            "earlier": "; ".join(f"{one.status}: {one.reason}" for one in former) or None,
            "reloaded": result.reloaded,
            "environment_id": result.environment_id,
            "started_at": _time(result.started_at),
            "finished_at": _time(result.finished_at),
        }


def _never_run(run: Run, plan: PlanWording, results: list[CellResult]) -> Iterator[Row]:
    """The cells that the target cannot do are an answer, too; one that was planned and never ran is none."""
    seen = {(result.cell.cell_id, result.cell.replicate) for result in results}
    for cell in run.matrix.unsupported:
        if (cell.cell_id, cell.replicate) not in seen:
            answer = {"status": "unsupported", "reason": cell.reason, "attempt": 0, "reloaded": False}
            yield {**_named(run, plan, cell), **answer}


def _measurements(run: Run, result: CellResult) -> Iterator[Row]:
    cell = {"run_id": run.run_id, "cell_id": result.cell.cell_id, "replicate": result.cell.replicate}
    for measurement in result.measurements:
        _check_metric(run, result, measurement)
        yield {**cell, **vars(measurement), "measured_at": _time(measurement.measured_at)}


def _check_metric(run: Run, result: CellResult, measurement: Measurement) -> None:
    known = METRICS.get(measurement.metric)
    if known is not None and known.unit == measurement.unit:
        return
    problem = "is not known" if known is None else f"is in {known.unit}, not in {measurement.unit}"
    raise UserError(
        f"run {run.run_id}, cell {result.cell.cell_id}, step {measurement.step}: "
        f"metric {measurement.metric} {problem}; metrics are declared in experiments/metrics.py"
    )


def _plans(run: Run, result: CellResult) -> Iterator[Row]:
    cell = {"run_id": run.run_id, "cell_id": result.cell.cell_id, "replicate": result.cell.replicate}
    for plan in result.plans:
        yield {**cell, "step": plan.step, "plan": _json(plan.plan), "plan_hash": plan.plan_hash}


def _published(run: Run, plan: PlanWording) -> list[Row]:
    return [
        {
            "experiment": run.experiment,
            "run_id": run.run_id,
            **vars(figure),
            "levels": _json(plan.ordered(figure.levels)),
        }
        for figure in run.published
    ]


def _json(value: Mapping[str, Any] | Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def _time(moment: str) -> datetime:
    """UTC without a zone, as the warehouse keeps it."""
    return datetime.fromisoformat(moment).astimezone(UTC).replace(tzinfo=None)
