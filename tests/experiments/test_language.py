"""The declared vocabulary and the code that carries it out name the same things."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

import tasks.steps
from experiments.language import COMMON, PLACEHOLDERS, STEP_KINDS


def test_every_kind_of_step_has_a_module():
    modules = {module.name for module in pkgutil.iter_modules(tasks.steps.__path__)}
    assert modules - {"registry"} == STEP_KINDS.keys()


@pytest.mark.parametrize("kind", STEP_KINDS)
def test_options_are_explained_and_never_named_like_a_kind(kind):
    options = {**COMMON, **STEP_KINDS[kind].options}
    assert all(option.doc for option in options.values())
    assert not options.keys() & STEP_KINDS.keys()
    assert not options.keys() & PLACEHOLDERS.keys()


def test_reading_experiments_needs_no_heavy_library():
    code = (
        "import sys, experiments.spec, experiments.matrix, experiments.request, experiments.targets;"
        "print(*sorted({name.partition('.')[0] for name in sys.modules} & {'duckdb', 'great_expectations', 'jinja2',"
        "'numpy', 'pandas', 'prefect', 'psycopg', 'pydantic', 'rich', 'scipy', 'sqlalchemy'}))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "\n"
