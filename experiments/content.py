"""What a cell measures, as a hash: two cells with the same id are compared only where this is the same too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from experiments.datafiles import MAKER
from experiments.identity import digest
from experiments.language import COMMON, STEP_KINDS
from experiments.model import Request, Step
from experiments.sqlfiles import sql_file


def content_hash(request: Request, lineage: tuple[str, ...], facts_hash: str, steps: Iterable[Step]) -> str:
    """Hash SQL, parameters, columns, dialect facts and the ``steps`` that shape a cell.

    Left out is what changes no measured thing: the question, the profile's name, orders, timeouts, repeats.
    """
    experiment = request.experiment
    sql = experiment.sql

    def text(name: str, lineage: tuple[str, ...] = lineage) -> str | None:
        file = sql_file(sql, name, lineage)
        return None if file is None else sql[file]

    return digest(
        facts_hash,
        request.parameters,
        [(column.name, column.type) for column in experiment.columns],
        experiment.key,
        text(experiment.source) if experiment.source else None,
        {name: text(file) for name, file in experiment.values.items()},
        [
            (step.kind, step.name, _options(step), text(step.options["sql"]) if "sql" in step.options else None)
            for step in steps
        ],
        {name: (text(file.sql, MAKER), file.format) for name, file in experiment.files.items()},
    )


# Where a step runs is told by its being here, and its SQL by the text.
ELSEWHERE = ("at", "dialects", "sql")


def _options(step: Step) -> dict[str, Any]:
    options = {**COMMON, **STEP_KINDS[step.kind].options}
    return {key: value for key, value in step.options.items() if key not in ELSEWHERE and options[key].changes_content}
