"""Every mistake in an experiment has one message: file, key, what was found, what is known."""

from __future__ import annotations

import pytest

from experiments.model import UserError
from experiments.spec import find_experiment, list_experiments, load_experiment

DIALECT_NAMES = "duckdb, greenplum, greenplum6, postgresql"
NAME_RULE = "a name has small letters, digits and _, starts with a letter and has at most 63 characters"
LEVEL_RULE = (
    "a level has letters, digits, spaces and _ . : , ( ) % + - (no --), starts with a letter or digit, "
    "and has at most 64 characters"
)
KINDS = "analyze, children, cleanup, copy, create, index, load, measure, pgbench, query, series, size, statement, update, vacuum"
QUERY_KEYS = "at, cache, dialects, digest, explain, query, repeats, sql, stable_within, warmups, when"
TYPES = "smallint, integer, bigint, numeric, text, char, varchar, boolean, date, timestamp, bytea"
PLACEHOLDERS = (
    "columns, form, index, level, order, rows, schema, schema_name, share, source, storage, table, table_name, wanted"
)

# (what stands in experiment.toml, what to put there, the message after the file's name)
MISTAKES = {
    "unknown top-level key": (
        "[baseline]",
        "[base_line]",
        "base_line: unknown key; known keys: baseline, exclude, expect, factors, files, in_place, ladder, parameters, "
        'profiles, question, settings, source, steps, table, unsupported, values (did you mean "baseline"?)',
    ),
    "question of the wrong type": (
        'question = "Which form is smaller?"',
        "question = 7",
        "question: must be a text, got 7",
    ),
    "question missing": (
        'question = "Which form is smaller?"',
        "",
        "question: is missing; it must be a text",
    ),
    "question empty": ('question = "Which form is smaller?"', 'question = " "', "question: is empty"),
    "section of the wrong type": (
        '[values]\nwanted = "wanted"',
        'values = "wanted"',
        'values: must be a table, got "wanted"',
    ),
    "value that names no file": (
        'wanted = "wanted"',
        'wanted = "wantde"',
        "values.wanted: no file sql/wantde.sql; known files: count.sql, create.greenplum.sql, create.sql, "
        'load.sql, rows.sql, wanted.sql (did you mean "wanted"?)',
    ),
    "source that is a path": (
        'source = "rows"',
        'source = "../rows.sql"',
        f'source: "../rows.sql" is not a name: {NAME_RULE}',
    ),
    "parameter that is a list": (
        "rows = 100\n",
        "rows = [100]\n",
        "parameters.rows: must be a text, a number, true or false, got [100]",
    ),
    "parameter with a bad name": ("share = 0.5", "Share = 0.5", f"parameters.Share: not a name: {NAME_RULE}"),
    "rows without a row": ("rows = 100\n", "rows = 0\n", "parameters.rows: must be at least 1, got 0"),
    "parameter table without default": (
        'default = "scattered", ',
        "",
        "parameters.order.default: is missing",
    ),
    "parameter table with an unknown key": (
        'choices = ["scattered", "sorted"]',
        'chioces = ["scattered", "sorted"]',
        'parameters.order.chioces: unknown key; known keys: choices, default, minimum (did you mean "choices"?)',
    ),
    "minimum of a text": (
        'order = { default = "scattered", ',
        'order = { minimum = 1, default = "scattered", ',
        "parameters.order.minimum: only a number has a minimum",
    ),
    "default that is no choice": (
        'default = "scattered"',
        'default = "random"',
        'parameters.order: must be one of scattered, sorted, got "random"',
    ),
    "choice of the wrong type": (
        'choices = ["scattered", "sorted"]',
        'choices = ["scattered", 1]',
        "parameters.order.choices[1]: must be a text, got 1",
    ),
    "parameter named like a placeholder": (
        "share = 0.5",
        "table = 0.5",
        'parameters.table: this name is taken: "table" is a placeholder of every experiment',
    ),
    "factor named like a parameter": (
        "form = [",
        "rows = [",
        'factors.rows: this name is taken: "rows" is in [parameters]',
    ),
    "in-place factor named like a factor": (
        "index = { greenplum",
        "form = { greenplum",
        'in_place.form: this name is taken: "form" is in [factors]',
    ),
    "value named like a parameter": (
        'wanted = "wanted"',
        'rows = "wanted"',
        'values.rows: this name is taken: "rows" is in [parameters]',
    ),
    "profile with an unknown parameter": (
        "rows = 1_000, ",
        "row = 1_000, ",
        'profiles.big.row: unknown parameter "row"; known parameters: rows, share, order (did you mean "rows"?)',
    ),
    "profile with a value of the wrong type": (
        "rows = 1_000, ",
        'rows = "1000", ',
        'profiles.big.rows: must be an integer, got "1000"',
    ),
    "profile below the minimum": ("rows = 1_000, ", "rows = -1, ", "profiles.big.rows: must be at least 1, got -1"),
    "key that is no column": (
        'key = "id"',
        'key = "ident"',
        'table.key: unknown column "ident"; known columns: id, c1',
    ),
    "rows of no bytes": ("row_bytes = 40", "row_bytes = 0", "table.row_bytes: must be at least 1, got 0"),
    "row size missing": ("row_bytes = 40", "", "table.row_bytes: is missing; it must be an integer"),
    "unknown key of the table": (
        "row_bytes = 40",
        "row_byte = 40",
        'table.row_byte: unknown key; known keys: columns, key, row_bytes, rows_by, times (did you mean "row_bytes"?)',
    ),
    "no columns": (
        '[table.columns]\nid = "integer"\nc1 = "numeric(8, 2)"',
        "",
        "table.columns: is missing or empty; it must be a table of column types",
    ),
    "floating-point column": (
        '"numeric(8, 2)"',
        '"double precision"',
        f'table.columns.c1: unknown column type "double precision"; known column types: {TYPES}',
    ),
    "type that tries to be SQL": (
        '"numeric(8, 2)"',
        '"text); drop table t --"',
        f'table.columns.c1: unknown column type "text); drop table t --"; known column types: {TYPES}',
    ),
    "type without its length": (
        '"numeric(8, 2)"',
        '"char"',
        "table.columns.c1: char with 0 numbers in parentheses; it takes 1",
    ),
    "factor with no levels": (
        'form = ["heap", "ao_row", "ao_column"]',
        "form = []",
        "factors.form: has no levels",
    ),
    "factor with no levels on any dialect": (
        "level = { greenplum = [0, 5], postgresql = [] }",
        "level = { postgresql = [] }",
        "factors.level: has no levels",
    ),
    "factor that is one word": (
        'form = ["heap", "ao_row", "ao_column"]',
        'form = "heap"',
        'factors.form: must be a list of levels or a table of them by dialect, got "heap"',
    ),
    "levels of an unknown dialect": (
        "level = { greenplum = [0, 5]",
        "level = { greenplm = [0, 5]",
        f'factors.level.greenplm: unknown dialect "greenplm"; known dialects: {DIALECT_NAMES} '
        '(did you mean "greenplum"?)',
    ),
    "levels that are no list": (
        "level = { greenplum = [0, 5]",
        "level = { greenplum = 5",
        "factors.level.greenplum: must be a list, got 5",
    ),
    "duplicate level": (
        '"ao_row", "ao_column"]',
        '"ao_row", "ao_row"]',
        'factors.form[2]: level "ao_row" stands here twice',
    ),
    "levels that look the same": (
        "greenplum = [0, 5]",
        'greenplum = [5, "5"]',
        'factors.level.greenplum[1]: level "5" stands here twice',
    ),
    "level that is a list": (
        "greenplum = [0, 5]",
        "greenplum = [0, [5]]",
        "factors.level.greenplum[1]: must be a text, a finite number, true or false, got [5]",
    ),
    "level that is no number": (
        "greenplum = [0, 5]",
        "greenplum = [nan]",
        "factors.level.greenplum[0]: must be a text, a finite number, true or false, got NaN",
    ),
    "level that tries to be SQL": (
        '"ao_row", "ao_column"]',
        '"\'; drop table t"]',
        f'factors.form[1]: "\'; drop table t" is not a level: {LEVEL_RULE}',
    ),
    "level that tries to be a comment": (
        '"ao_row", "ao_column"]',
        '"ao_row -- "]',
        f'factors.form[1]: "ao_row -- " is not a level: {LEVEL_RULE}',
    ),
    "level that is too long": (
        '"ao_row", "ao_column"]',
        f'"{"a" * 65}"]',
        f'factors.form[1]: "{"a" * 65}" is not a level: {LEVEL_RULE}',
    ),
    "index on an unknown column": (
        '"btree(c1)"',
        '"btree(c1, c2)"',
        'in_place.index.greenplum[1]: unknown column "c2"; known columns: id, c1',
    ),
    "index that is none": (
        '"btree(c1)"',
        '"btree"',
        'in_place.index.greenplum[1]: "btree" is no index; write "none" or "method(column, ...)"',
    ),
    "step with a typo in its kind": (
        'query = "count"',
        'quary = "count"',
        f'steps[2].quary: unknown key; known keys: {KINDS} (did you mean "query"?)',
    ),
    "step without a kind": ('query = "count"\n', "", f"steps[2]: no kind of step; known kinds: {KINDS}"),
    "step of two kinds": (
        'query = "count"',
        'query = "count"\nload = "count"',
        'steps[2].load: a second kind of step beside "query"; a step has exactly one',
    ),
    "unknown option of a step": (
        'at = "base"',
        'at = "base"\nrepeat = 3',
        f'steps[2].repeat: unknown key; known keys: {QUERY_KEYS} (did you mean "repeats"?)',
    ),
    "option of the wrong type": ('at = "base"', "repeats = true", "steps[2].repeats: must be an integer, got true"),
    "option below its minimum": ('at = "base"', "repeats = 0", "steps[2].repeats: must be at least 1, got 0"),
    "option that is no choice": (
        'at = "base"',
        'cache = "warm"',
        'steps[2].cache: must be one of hot, restarted, cold, got "warm"',
    ),
    "unknown scope": (
        'at = "base"',
        'at = "first"',
        'steps[2].at: must be one of load, base, change, every, series, got "first"',
    ),
    "step on an unknown dialect": (
        'dialects = ["greenplum", "duckdb"]',
        'dialects = ["greenplum", "duck"]',
        f'steps[4].dialects[1]: unknown dialect "duck"; known dialects: {DIALECT_NAMES} (did you mean "duckdb"?)',
    ),
    "step with a bad name": (
        'load = "fill"',
        'load = "Fill it"',
        f'steps[1].load: "Fill it" is not a name: {NAME_RULE}',
    ),
    "duplicate step name": (
        'size = "size"',
        'size = "count"',
        'steps[4].size: a second step named "count"; step names are unique',
    ),
    "index step on a factor that is not in place": (
        'index = "build"',
        'index = "build"\nfactor = "form"',
        'steps[3].factor: unknown in-place factor "form"; known in-place factors: index',
    ),
    "step without its SQL": (
        'sql = "load"',
        'sql = "lode"',
        "steps[1].sql: no file sql/lode.sql; known files: count.sql, create.greenplum.sql, create.sql, "
        'load.sql, rows.sql, wanted.sql (did you mean "load"?)',
    ),
    "baseline of an unknown factor": (
        'form = "heap"\n',
        'from = "heap"\n',
        'baseline.from: unknown factor "from"; known factors: form, level, index (did you mean "form"?)',
    ),
    "baseline of an unknown level": (
        'form = "heap"\n',
        'form = "heep"\n',
        'baseline.form: unknown level "heep"; known levels: heap, ao_row, ao_column (did you mean "heap"?)',
    ),
    "unknown severity": (
        'severity = "critical"',
        'severity = "fatal"',
        'expect[0].severity: must be one of critical, warning, info, got "fatal"',
    ),
    "unknown key of an expectation": (
        'claim = "AO is smaller"',
        'claims = "AO is smaller"',
        "expect[0].claims: unknown key; known keys: check, claim, frame, name, promises, severity, source "
        '(did you mean "claim"?)',
    ),
    "expectation without its frame": (
        'frame = "smaller"',
        'frame = "smalle"',
        'expect[0].frame: no file sql/expect/smalle.sql; known files: expect/smaller.sql (did you mean "smaller"?)',
    ),
    "check that is no expectation": (
        '"expect_column_values_to_not_be_null"',
        '"smaller"',
        'expect[0].check.type: "smaller" is no Great Expectations type such as expect_column_to_exist',
    ),
    "promise with a placeholder that nobody fills": (
        'promises = "select 1"',
        'promises = "select {{table}}"',
        "expect[0].promises: unknown placeholder {{table}}; known placeholders: order, rows, share",
    ),
}


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_experiment_toml(load, spoil, old, new, message):
    spoil("experiment.toml", old, new)
    with pytest.raises(UserError) as told:
        load()
    assert str(told.value) == f"experiments/small/experiment.toml: {message}"
    assert told.value.exit_code == 2


def test_no_steps(load, folder):
    text = (folder / "experiment.toml").read_text()
    (folder / "experiment.toml").write_text(text[: text.index("[[steps]]")])
    with pytest.raises(UserError) as told:
        load()
    assert str(told.value) == "experiments/small/experiment.toml: steps: is missing; it must be a list"


def test_duplicate_expectation(load, folder):
    text = (folder / "experiment.toml").read_text()
    (folder / "experiment.toml").write_text(text + text[text.index("[[expect]]") :])
    with pytest.raises(UserError) as told:
        load()
    assert str(told.value) == (
        'experiments/small/experiment.toml: expect[1].name: a second expectation named "smaller"'
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"question", "not a TOML file: Expected '=' after a key in a key/value pair (at end of document)"),
        (
            b'question = "\xff"',
            "not a TOML file: 'utf-8' codec can't decode byte 0xff in position 12: invalid start byte",
        ),
    ],
    ids=["cut off", "not UTF-8"],
)
def test_files_that_are_not_toml(load, folder, content, message):
    (folder / "experiment.toml").write_bytes(content)
    with pytest.raises(UserError) as told:
        load()
    assert str(told.value) == f"experiments/small/experiment.toml: {message}"


def test_a_folder_whose_name_is_no_name(folder, dialects):
    bad = folder.rename(folder.with_name("it's"))
    with pytest.raises(UserError) as told:
        load_experiment(bad, dialects)
    assert str(told.value) == (
        "experiments/it's: \"it's\" cannot name an experiment; use letters, digits, _ and - (at most 63)"
    )


# (file below sql/, its new content or None for none at all, the whole message)
SQL_MISTAKES = {
    "missing file": (
        "count.sql",
        None,
        "experiments/small/experiment.toml: steps[2].query: no file sql/count.sql; known files: "
        "create.greenplum.sql, create.sql, load.sql, rows.sql, wanted.sql",
    ),
    "missing source": (
        "rows.sql",
        None,
        "experiments/small/experiment.toml: source: no file sql/rows.sql; known files: count.sql, "
        "create.greenplum.sql, create.sql, load.sql, wanted.sql",
    ),
    "unknown placeholder": (
        "load.sql",
        "insert into {{tabel}} select 1",
        f"experiments/small/sql/load.sql: unknown placeholder {{{{tabel}}}}; known placeholders: {PLACEHOLDERS.replace('rows, ', 'rows, rows_from, ')} "
        '(did you mean "table"?)',
    ),
    "unknown placeholder of one dialect": (
        "create.greenplum.sql",
        "create table {{ table }}",
        "experiments/small/sql/create.greenplum.sql: unknown placeholder {{ table }}; "
        f'known placeholders: {PLACEHOLDERS} (did you mean "table"?)',
    ),
    "cell's placeholder in a frame": (
        "expect/smaller.sql",
        "select * from {{table}}",
        "experiments/small/sql/expect/smaller.sql: unknown placeholder {{table}}; "
        "known placeholders: order, rows, share",
    ),
    "placeholder in quotes": (
        "load.sql",
        "insert into t values ('{{rows}} rows')",
        "experiments/small/sql/load.sql: \"'{{rows}} rows'\": a placeholder brings its own quotes; "
        "write it outside of them",
    ),
    "open placeholder": (
        "load.sql",
        "select {{rows}",
        "experiments/small/sql/load.sql: {{ without its end; a placeholder is {{name}}",
    ),
    "nothing but a comment": (
        "load.sql",
        "-- insert\n/* into */\n",
        "experiments/small/sql/load.sql: there is no statement in it",
    ),
    "a query that writes": (
        "count.sql",
        "-- all of them\ndelete from {{table}}",
        'experiments/small/sql/count.sql: "query" reads, this begins with delete; what writes is a step of its own',
    ),
    "two statements in a query": (
        "count.sql",
        "select ';' -- one; no more\n; select 2;",
        'experiments/small/sql/count.sql: "query" is one query, but there are several statements in it',
    ),
    "a query that writes on the way": (
        "count.sql",
        "with gone as (Delete\n from {{table}} returning *) select count(*) from gone",
        'experiments/small/sql/count.sql: "query" reads, this has delete from in it; what writes is a step of its own',
    ),
    "unknown dialect in a file's name": (
        "load.greenplm.sql",
        "select 1",
        'experiments/small/sql/load.greenplm.sql: unknown dialect "greenplm"; '
        f'known dialects: {DIALECT_NAMES} (did you mean "greenplum"?)',
    ),
    "file that nobody uses": (
        "lod.sql",
        "select 1",
        'experiments/small/sql/lod.sql: nothing uses it; a step, value, source or frame must name "lod"',
    ),
}


@pytest.mark.parametrize(("file", "content", "message"), SQL_MISTAKES.values(), ids=SQL_MISTAKES)
def test_mistakes_in_sql_files(load, folder, file, content, message):
    path = folder / "sql" / file
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    with pytest.raises(UserError) as told:
        load()
    assert str(told.value) == message


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "storage_matrx",
            'unknown experiment "storage_matrx"; known experiments: small, storage_matrix '
            '(did you mean "storage_matrix"?)',
        ),
        ("a/b", "a/b: no experiment.toml there; a path must be the folder of an experiment"),
        ("experiments", "experiments: no experiment.toml there; a path must be the folder of an experiment"),
        (
            "storage_matrix\n",
            'unknown experiment "storage_matrix\\n"; known experiments: small, storage_matrix '
            '(did you mean "storage_matrix"?)',
        ),
    ],
)
def test_unknown_experiments(folder, dialects, monkeypatch, name, message):
    only_one_shipped(monkeypatch)
    with pytest.raises(UserError) as told:
        find_experiment(name, folder.parent.parent, dialects)
    assert str(told.value) == message


def test_an_empty_home_still_knows_the_shipped(tmp_path, dialects, monkeypatch):
    only_one_shipped(monkeypatch)
    with pytest.raises(UserError) as told:
        find_experiment("small", tmp_path / "nowhere", dialects)
    assert str(told.value) == 'unknown experiment "small"; known experiments: storage_matrix'


def test_a_name_that_is_both_own_and_shipped(folder, dialects):
    folder.rename(folder.with_name("storage_matrix"))
    message = (
        'experiment "storage_matrix" is both experiments/storage_matrix and the shipped experiments/storage_matrix; '
        "rename your folder"
    )
    for ask in (
        lambda: find_experiment("storage_matrix", folder.parent.parent, dialects),
        lambda: list_experiments("."),
    ):
        with pytest.raises(UserError) as told:
            ask()
        assert str(told.value) == message


def only_one_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the message the same as more experiments are shipped."""
    import experiments.spec as spec

    every = spec._folders
    monkeypatch.setattr(
        spec, "_folders", lambda place: {k: v for k, v in every(place).items() if k in ("small", "storage_matrix")}
    )
