"""The [files] of an experiment: rows that DuckDB writes once, for the servers' COPY; and the steps that copy them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from experiments.language import Option
from experiments.model import DataFile, Step
from experiments.naming import listed
from experiments.reading import Section

# DuckDB makes the files, whatever the target.
MAKER = ("duckdb",)
FORMAT = Option(str, "csv", "csv, or text: PostgreSQL's own, tabs between the values", choices=("csv", "text"))


def read_files(section: Section) -> dict[str, DataFile]:
    """The files by name: the name of a SQL file, or a table of ``sql`` and ``format``."""
    section.check_names()
    return {name: _file(section, name) for name in section.data}


def _file(section: Section, name: str) -> DataFile:
    if not isinstance(section.data[name], dict):
        return DataFile(section.name(name), FORMAT.default)
    table = section.section(name)
    table.check_keys(("sql", "format"))
    return DataFile(table.name("sql") if "sql" in table.data else name, table.option("format", FORMAT))


def check_copies(root: Section, steps: Iterable[Step], files: Mapping[str, DataFile]) -> None:
    """Every copy step names a file, or means the only one there is."""
    for step, section in zip(steps, root.sections("steps"), strict=True):
        if step.kind != "copy":
            continue
        if step.options["file"] is not None:
            section.one_of("file", "file", step.options["file"], files)
        elif len(files) != 1:
            raise section.error("file", f"is missing; {listed('file', files)}")
