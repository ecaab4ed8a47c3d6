"""A small, good experiment in a working directory of its own; tests spoil one thing of it and read the message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.model import Experiment
from experiments.spec import load_experiment

TOML = """
question = "Which form is smaller?"
source = "rows"

[values]
wanted = "wanted"

[parameters]
rows = 100
share = 0.5
order = { default = "scattered", choices = ["scattered", "sorted"] }

[profiles]
quick = {}
big = { rows = 1_000, share = 1 }

[table]
key = "id"
row_bytes = 40
[table.columns]
id = "integer"
c1 = "numeric(8, 2)"

[factors]
form = ["heap", "ao_row", "ao_column"]
level = { greenplum = [0, 5], postgresql = [] }

[in_place]
index = { greenplum = ["none", "btree(c1)"], duckdb = ["none", "art(id, c1)"] }

[[steps]]
create = "create"
[[steps]]
load = "fill"
sql = "load"
[[steps]]
query = "count"
at = "base"
[[steps]]
index = "build"
[[steps]]
size = "size"
dialects = ["greenplum", "duckdb"]

[baseline]
form = "heap"

[[expect]]
name = "smaller"
claim = "AO is smaller"
severity = "critical"
promises = "select 1"
frame = "smaller"
check = { type = "expect_column_values_to_not_be_null", column = "bytes" }
"""

SQL = {
    "rows.sql": "create table {{source}} as select * from generate_series(1, {{rows}}) as id",
    "wanted.sql": "select max(id) from {{source}}",
    "create.sql": "create table {{table}} ({{columns}}) {{storage}}",
    "create.greenplum.sql": "create table {{table}} ({{columns}}) {{storage}} distributed by (id)",
    "load.sql": "insert into {{table}} select * from {{source}}",
    "count.sql": "select count(*) from {{table}} where id <= {{wanted}}",
    "expect/smaller.sql": "select bytes from measured where rows = {{rows}}",
}

PUBLISHED = """
[[figures]]
source = "A study"
engine = "Greenplum 5"
profile = "big"
binary_units = true
factors = ["form", "level"]
columns = [
    { step = "fill", metric = "load_time" },
    { step = "size", metric = "total_bytes", levels = { index = "btree(c1)" } },
]
rows = [
    ["heap",   "-", "1.5 s",  "44 GB"],
    ["ao_row", 5,   "168 ms", "-"],
]
methods = { load_time = "psql's timing", total_bytes = "pg_total_relation_size" }
"""

DIALECTS = {
    "postgresql": ("postgresql",),
    "greenplum6": ("greenplum6", "greenplum", "postgresql"),
    "duckdb": ("duckdb",),
}


@pytest.fixture
def dialects() -> dict[str, tuple[str, ...]]:
    """Three dialects with their ancestors; the family greenplum is no dialect of its own."""
    return DIALECTS


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small experiment, at the relative path that messages show."""
    monkeypatch.chdir(tmp_path)
    folder = Path("experiments/small")
    (folder / "sql" / "expect").mkdir(parents=True)
    (folder / "experiment.toml").write_text(TOML)
    (folder / "published.toml").write_text(PUBLISHED)
    for name, text in SQL.items():
        (folder / "sql" / name).write_text(text)
    return folder


@pytest.fixture
def load(folder: Path) -> Callable[[], Experiment]:
    """Read the small experiment."""
    return lambda: load_experiment(folder, DIALECTS)


@pytest.fixture
def spoil(folder: Path) -> Callable[[str, str, str], None]:
    """Replace a text that stands once in a file of the small experiment."""

    def replace(file: str, old: str, new: str) -> None:
        text = (folder / file).read_text()
        assert text.count(old) == 1
        (folder / file).write_text(text.replace(old, new))

    return replace
