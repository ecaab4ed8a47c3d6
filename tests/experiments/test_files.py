"""The [files] of an experiment and the steps that copy them."""

from __future__ import annotations

import pytest

from experiments.model import DataFile, UserError

FILES = '[files]\nrows_of_c1 = { sql = "wide", format = "text" }\nnarrow = "wide"\n'
COPY = '[[steps]]\nload = "fill"\nsql = "load"\n'


@pytest.fixture
def declare(folder, load, spoil):
    """The small experiment with these files, its load replaced by a copy."""

    def experiment(files, copy, query="select {{rows}}, {{form}}"):
        (folder / "sql" / "wide.sql").write_text(query)
        (folder / "sql" / "load.sql").unlink()
        spoil("experiment.toml", "[values]", f"{files}\n[values]")
        spoil("experiment.toml", COPY, f"[[steps]]\n{copy}\n")
        return load()

    return experiment


def test_a_file_has_a_query_and_a_format(declare):
    experiment = declare(FILES, 'copy = "fill"\nfile = "narrow"')
    assert experiment.files == {"rows_of_c1": DataFile("wide", "text"), "narrow": DataFile("wide", "csv")}


def test_a_copy_means_the_only_file(declare):
    step = declare('[files]\nwide = "wide"\n', 'copy = "fill"').steps[1]
    assert (step.kind, step.at) == ("copy", "load")
    assert {name: step.options[name] for name in ("file", "via", "truncate", "repeats")} == {
        "file": None,
        "via": "server",
        "truncate": "before",
        "repeats": 1,
    }


def test_sql_may_name_a_file(declare, folder):
    (folder / "sql" / "count.sql").write_text("select * from read_csv({{narrow}})")
    assert declare(FILES, 'copy = "fill"\nfile = "narrow"')


MISTAKES = {
    "no such file": (
        FILES,
        'copy = "fill"\nfile = "narow"',
        'experiment.toml: steps[1].file: unknown file "narow"; known files: rows_of_c1, narrow (did you mean "narrow"?)',
    ),
    "which of several": (
        FILES,
        'copy = "fill"',
        "experiment.toml: steps[1].file: is missing; known files: rows_of_c1, narrow",
    ),
    "no file at all": (
        "",
        'copy = "fill"',
        "experiment.toml: steps[1].file: is missing; known files: none",
    ),
    "no such format": (
        '[files]\nwide = { format = "binary" }\n',
        'copy = "fill"',
        'experiment.toml: files.wide.format: must be one of csv, text, got "binary"',
    ),
    "a name that is taken": (
        '[files]\nrows = "wide"\n',
        'copy = "fill"',
        'experiment.toml: files.rows: this name is taken: "rows" is in [parameters]',
    ),
    "no such way": (
        FILES,
        'copy = "fill"\nfile = "narrow"\nvia = "pipe"',
        'experiment.toml: steps[1].via: must be one of server, client, got "pipe"',
    ),
}


@pytest.mark.parametrize(("files", "copy", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes(declare, files, copy, message):
    with pytest.raises(UserError) as caught:
        declare(files, copy)
    assert str(caught.value) == f"experiments/small/{message}"


def test_the_rows_of_a_file_hang_on_parameters_and_levels_only(declare):
    with pytest.raises(UserError, match=r"sql/wide\.sql: unknown placeholder \{\{table\}\}"):
        declare(FILES, 'copy = "fill"\nfile = "narrow"', query="select * from {{table}}")
