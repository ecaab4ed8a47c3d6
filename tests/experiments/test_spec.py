"""A good experiment arrives whole."""

from __future__ import annotations

from importlib.resources import files

import pytest

from experiments.model import Column, Factor, Limit, Step
from experiments.spec import find_experiment, list_experiments, load_experiment


def test_question_table_and_parameters(load):
    experiment = load()
    assert experiment.name == "small"
    assert experiment.question == "Which form is smaller?"
    assert experiment.columns == (Column("id", "integer"), Column("c1", "numeric(8, 2)"))
    assert (experiment.key, experiment.row_bytes, experiment.source) == ("id", 40, "rows")
    assert experiment.values == {"wanted": "wanted"}
    assert experiment.parameters == {"rows": 100, "share": 0.5, "order": "scattered"}
    assert experiment.limits == {
        "rows": Limit(minimum=1),
        "share": Limit(),
        "order": Limit(choices=("scattered", "sorted")),
    }
    assert experiment.baseline == {"form": "heap"}


def test_profile_values_take_the_type_of_the_parameter(load):
    experiment = load()
    assert list(experiment.profiles) == ["quick", "big"]
    assert experiment.profiles["big"] == {"rows": 1000, "share": 1.0}
    assert isinstance(experiment.profiles["big"]["share"], float)


def test_an_experiment_without_profiles_has_one(load, spoil):
    spoil("experiment.toml", "quick = {}\nbig = { rows = 1_000, share = 1 }", "")
    spoil("published.toml", 'profile = "big"', 'profile = "default"')
    assert load().profiles == {"default": {}}


def test_factors_by_dialect(load):
    assert load().factors == (
        Factor("form", {"*": ("heap", "ao_row", "ao_column")}),
        Factor("level", {"greenplum": (0, 5), "postgresql": ()}),
        Factor("index", {"greenplum": ("none", "btree(c1)"), "duckdb": ("none", "art(id, c1)")}, in_place=True),
    )


def test_steps_carry_every_option(load):
    create, fill, count, build, size = load().steps
    assert create == Step("create", "create", "load", {"dialects": (), "when": {}, "sql": "create"})
    assert fill == Step("load", "fill", "load", {"dialects": (), "when": {}, "sql": "load", "rows_from": "source"})
    assert count == Step(
        "query",
        "count",
        "base",
        {
            "dialects": (),
            "when": {},
            "sql": "count",
            "repeats": 3,
            "warmups": 1,
            "digest": True,
            "cache": "hot",
            "stable_within": 0,
            "explain": True,
        },
    )
    assert build == Step("index", "build", "change", {"dialects": (), "when": {}, "factor": "index"})
    assert size == Step("size", "size", "every", {"dialects": ("greenplum", "duckdb"), "when": {}, "column": None})


def test_expectations(load):
    (expectation,) = load().expectations
    assert (expectation.name, expectation.severity, expectation.frame) == ("smaller", "critical", "smaller")
    assert expectation.check == {"type": "expect_column_values_to_not_be_null", "column": "bytes"}
    assert expectation.source is None


def test_sql_files_by_name(load):
    assert list(load().sql) == [
        "count.sql",
        "create.greenplum.sql",
        "create.sql",
        "expect/smaller.sql",
        "load.sql",
        "rows.sql",
        "wanted.sql",
    ]


def test_spec_hash_follows_content_not_layout(load, spoil):
    before = load().spec_hash
    spoil("experiment.toml", "row_bytes = 40", "row_bytes   = 40  # as stored")
    assert load().spec_hash == before
    spoil("sql/load.sql", "select *", "select id, c1")
    assert load().spec_hash != before


def test_a_name_is_looked_up_at_home(folder, dialects):
    assert find_experiment("small", folder.parent.parent, dialects).name == "small"


@pytest.mark.parametrize("path", ["experiments/small", "./experiments/small/"])
def test_a_path_is_taken_as_it_is(folder, dialects, tmp_path, path):
    assert find_experiment(path, tmp_path / "no home", dialects).name == "small"


def test_a_folder_of_the_working_directory_and_the_working_directory_itself(folder, dialects, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "experiments")
    assert find_experiment("small", tmp_path / "no home", dialects).name == "small"
    monkeypatch.chdir(tmp_path / "experiments" / "small")
    assert find_experiment(".", tmp_path / "no home", dialects).name == "small"


def test_the_list_has_own_and_shipped_experiments(folder):
    found = list_experiments(folder.parent.parent)
    assert {"small", "storage_matrix"} <= found.keys()
    assert list(found) == sorted(found)


@pytest.mark.parametrize(
    "name",
    sorted(entry.name for entry in files("experiments").iterdir() if (entry / "experiment.toml").is_file()),
)
def test_every_shipped_experiment_is_good(name):
    from tasks.dialects.registry import lineages

    experiment = load_experiment(files("experiments") / name, lineages(), f"experiments/{name}")
    assert experiment.name == name
    assert experiment.expectations
