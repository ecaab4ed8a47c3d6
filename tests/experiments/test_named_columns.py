"""Steps that name a column, and a factor by which the rows differ: what is known, and what a mistake is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.model import Experiment, UserError
from experiments.spec import load_experiment

DIALECTS = {"greenplum": ("greenplum", "postgresql"), "postgresql": ("postgresql",)}
SPEC = """
question = "Which shape packs?"
[parameters]
rows = 10
making = {{ default = "source", choices = ["source", "generated"] }}
warm = 1
[table]
key = "id"
row_bytes = 8
{rows_by}
[table.columns]
id = "integer"
c1 = "text"
[factors]
shape = {{ greenplum = ["sorted", "random"] }}
[in_place]
index = {{ greenplum = ["none", "unique btree(id)", "{index}"] }}
[[steps]]
load = "load"
rows_from = "{rows_from}"
[[steps]]
analyze = "analyze"
target = {target}
[[steps]]
index = "build"
[[steps]]
query = "query"
warmups = "{warmups}"
[[steps]]
size = "size"
column = "{column}"
"""
GOOD = {
    "rows_by": 'rows_by = "shape"',
    "index": "btree(c1)",
    "rows_from": "making",
    "target": 10,
    "warmups": "warm",
    "column": "c1",
}


def load(folder: Path, **changes: object) -> Experiment:
    (folder / "named" / "sql").mkdir(parents=True)
    (folder / "named" / "experiment.toml").write_text(SPEC.format(**{**GOOD, **changes}))
    for name in ("load", "query"):
        (folder / "named" / "sql" / f"{name}.sql").write_text("select 1")
    return load_experiment(folder / "named", DIALECTS, "named")


def test_what_steps_and_table_name(tmp_path: Path) -> None:
    experiment = load(tmp_path)
    assert experiment.rows_by == "shape"
    options = {step.name: step.options for step in experiment.steps}
    assert options["size"]["column"] == "c1"
    assert options["analyze"]["target"] == 10
    assert (options["load"]["rows_from"], options["query"]["warmups"]) == ("making", "warm")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"column": "c2"}, 'steps[4].column: unknown column "c2"; known columns: id, c1'),
        ({"rows_by": 'rows_by = "shap"'}, 'table.rows_by: unknown reload factor "shap"; known reload factors: shape'),
        ({"rows_by": 'rows_by = "index"'}, 'table.rows_by: unknown reload factor "index"; known reload factors: shape'),
        ({"target": 0}, "steps[1].target: must be at least 1, got 0"),
        ({"rows_from": "rows"}, "steps[0].rows_from = rows = 10: must be"),
        ({"warmups": "making"}, "steps[3].warmups = making = source: must be an integer"),
        (
            {"index": "unique btree(c9)"},
            'in_place.index.greenplum[2]: unknown column "c9"; known columns: id, c1',
        ),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, change: dict[str, object], message: str) -> None:
    with pytest.raises(UserError) as raised:
        load(tmp_path, **change)
    assert str(raised.value).startswith(f"named/experiment.toml: {message}"), str(raised.value)
