"""Placeholders become literals; no value becomes SQL."""

from __future__ import annotations

from decimal import Decimal

import pytest

from experiments.model import UserError
from experiments.template import Fragment, render


@pytest.mark.parametrize(
    ("value", "sql"),
    [
        (20_000, "20000"),
        (-5, "(-5)"),
        (0.25, "0.25"),
        (-0.5, "(-0.5)"),
        (Decimal("1.50"), "1.50"),
        (True, "true"),
        (False, "false"),
        ("zlib:5", "'zlib:5'"),
        ("it's", "'it''s'"),
        ("'; drop table t; --", "'''; drop table t; --'"),
        (Fragment("with (appendonly=true)"), "with (appendonly=true)"),
    ],
)
def test_values_by_type(value, sql):
    assert render("select {{value}}", {"value": value}, "q.sql") == f"select {sql}"


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("{{n}} + {{n}}", "7 + 7"),
        ("a -{{minus}}", "a -(-1)"),
        ("1 -- {{anything}} here\n+ {{n}}", "1 -- {{anything}} here\n+ 7"),
        ("/* {{anything}} -- ' */ {{n}}", "/* {{anything}} -- ' */ 7"),
        ("'--' || {{n}}", "'--' || 7"),
        ("'it''s' || {{n}}", "'it''s' || 7"),
        ("'{{1,2},{3,4}}' || {{n}}", "'{{1,2},{3,4}}' || 7"),
        ("{'a': {'b': {{n}}}}", "{'a': {'b': 7}}"),
        ("do $$ begin perform {{n}}; end $$", "do $$ begin perform 7; end $$"),
    ],
)
def test_only_placeholders_change(text, rendered):
    assert render(text, {"n": 7, "minus": -1}, "q.sql") == rendered


@pytest.mark.parametrize(
    ("text", "value", "message"),
    [
        ("{{rowz}}", 1, 'unknown placeholder {{rowz}}; known placeholders: rows (did you mean "rows"?)'),
        ("{{ rows }}", 1, 'unknown placeholder {{ rows }}; known placeholders: rows (did you mean "rows"?)'),
        ("{{}}", 1, "unknown placeholder {{}}; known placeholders: rows"),
        ("{{rows}", 1, "{{ without its end; a placeholder is {{name}}"),
        ("'{{rows}}'", 1, "\"'{{rows}}'\": a placeholder brings its own quotes; write it outside of them"),
        (
            'table "{{rows}}"',
            1,
            '"\\"{{rows}}\\"": a placeholder brings its own quotes; write it outside of them',
        ),
        (
            "{{rows}}",
            None,
            "{{rows}} is None, which has no SQL literal; use a text, a number or a boolean",
        ),
        (
            "{{rows}}",
            float("inf"),
            "{{rows}} is inf, which has no SQL literal; use a text, a number or a boolean",
        ),
        ("{{rows}}", "a\\b", '{{rows}} is "a\\\\b": no backslash or control character is allowed'),
        ("{{rows}}", "a\nb", '{{rows}} is "a\\nb": no backslash or control character is allowed'),
    ],
)
def test_what_cannot_be_rendered(text, value, message):
    with pytest.raises(UserError) as told:
        render(text, {"rows": value}, "x/sql/q.sql")
    assert str(told.value) == f"x/sql/q.sql: {message}"
