"""Imports point one way: flows -> tasks, warehouse -> experiments; and dialects stay clear of drivers and Prefect."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {
    "experiments": {"experiments"},
    "tasks": {"tasks", "experiments"},
    "warehouse": {"warehouse", "experiments"},
    "flows": {"flows", "tasks", "warehouse", "experiments"},
}
NOT_IN_DIALECTS = {"prefect", "psycopg", "psycopg2", "duckdb", "sqlalchemy", "asyncpg"}


def modules(folder: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found
    return found


def imported(path: Path) -> Iterator[str]:
    """The top-level package of every import, those inside functions included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.relative_to(ROOT)}:{node.lineno}: relative import"
            yield str(node.module).partition(".")[0]


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_point_one_way(package):
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(package)
        for name in imported(path)
        if name in MAY_IMPORT.keys() - MAY_IMPORT[package]
    ]
    assert wrong == []


def test_dialects_import_no_driver():
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules("tasks/dialects")
        for name in imported(path)
        if name in NOT_IN_DIALECTS
    ]
    assert wrong == []
