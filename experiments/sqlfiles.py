"""The SQL files of an experiment: which one a dialect gets, that all of them are there, and that each is used."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable

from experiments.model import Experiment, UserError
from experiments.naming import hint, listed, quoted, unknown
from experiments.reading import Section
from experiments.template import check, render

FRAMES = "expect/"
COMMENT = r"--[^\n]*|/\*.*?\*/"
QUOTED = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$(\w*)\$.*?\$\1\$"
ASIDE = re.compile(f"{QUOTED}|{COMMENT}", re.DOTALL)
"""What looks like SQL in a text or a comment is none."""
WRITES = re.compile(r"\b(?:insert\s+into|delete\s+from|merge\s+into|update\s+\S+\s+set)\b", re.IGNORECASE)
QUERIES = ("select", "with", "values", "table", "from", "show", "explain")


@dataclass(frozen=True)
class Use:
    """Somebody names a SQL file: the file without ``.sql``, where he does it, and the placeholders it may have.

    ``reads`` where it must be a query: what it changed would go unnoticed.
    """

    name: str
    section: Section
    key: str
    placeholders: Collection[str]
    reads: bool = False


def rendered_sql(experiment: Experiment, name: str, lineage: tuple[str, ...], values: Mapping[str, object]) -> str:
    """The file of ``name`` that a dialect gets, its placeholders filled; a complaint names that very file."""
    file = sql_file(experiment.sql, name, lineage)
    if file is None:
        raise UserError(f"{experiment.name}: no sql/{name}.sql and no sql/{name}.{lineage[0]}.sql for {lineage[0]}")
    return render(experiment.sql[file], values, f"{experiment.name}/sql/{file}")


def sql_file(sql: Mapping[str, str], name: str, lineage: tuple[str, ...]) -> str | None:
    """``name.<dialect>.sql`` of the nearest ancestor, else ``name.sql``; None where this dialect has neither."""
    candidates = (*(f"{name}.{dialect}.sql" for dialect in lineage), f"{name}.sql")
    return next((file for file in candidates if file in sql), None)


def read_sql(folder: Traversable, shown: str) -> dict[str, str]:
    """Every SQL file below ``folder``, by its name there, in order."""
    return dict(sorted(_files(folder, "", shown)))


def _files(folder: Traversable, prefix: str, shown: str) -> Iterable[tuple[str, str]]:
    if not folder.is_dir():
        return
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            yield from _files(entry, f"{name}/", shown)
        elif name.endswith(".sql"):
            try:
                yield name, entry.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise UserError(f"{shown}/{name}: cannot be read: {error}") from None


def check_sql(sql: Mapping[str, str], uses: Iterable[Use], dialects: Collection[str], shown: str) -> None:
    """Raise ``UserError`` for a missing file, an unknown dialect in a file's name, an unused file or a placeholder."""
    used = set()
    for use in uses:
        files = [file for file in sql if _use_of(file) == use.name]
        if not files:
            raise use.section.error(use.key, _missing(use.name, sql))
        for file in files:
            check(sql[file], use.placeholders, f"{shown}/{file}")
            _check_statement(sql[file], use, f"{shown}/{file}")
        used.add(use.name)
    for file in sql:
        _check_file(file, used, dialects, shown)


def _check_statement(text: str, use: Use, where: str) -> None:
    statement = ASIDE.sub(" ", text).strip().rstrip("; \n")
    if not statement:
        raise UserError(f"{where}: there is no statement in it")
    if not use.reads:
        return
    key = quoted(use.key)
    word = re.split(r"\W", statement.lstrip("( \n"), maxsplit=1)[0].lower()
    if word not in QUERIES:
        raise UserError(f"{where}: {key} reads, this begins with {word}; what writes is a step of its own")
    if ";" in statement:
        raise UserError(f"{where}: {key} is one query, but there are several statements in it")
    if writes := WRITES.search(statement):
        what = " ".join(writes[0].lower().split())
        raise UserError(f"{where}: {key} reads, this has {what} in it; what writes is a step of its own")


def _use_of(file: str) -> str:
    """``load.greenplum.sql`` is used as ``load``; frames belong to the warehouse and have one file each."""
    stem = file.removesuffix(".sql")
    return stem if file.startswith(FRAMES) else stem.partition(".")[0]


def _missing(name: str, sql: Mapping[str, str]) -> str:
    folder = FRAMES if name.startswith(FRAMES) else ""
    known = [file for file in sql if file.startswith(FRAMES) == bool(folder)]
    meant = [_use_of(file).removeprefix(folder) for file in known]
    return f"no file sql/{name}.sql; {listed('file', known)}{hint(name.removeprefix(folder), meant)}"


def _check_file(file: str, used: Collection[str], dialects: Collection[str], shown: str) -> None:
    name = _use_of(file)
    dialect = file.removesuffix(".sql").removeprefix(name).removeprefix(".")
    if dialect and dialect not in dialects:
        raise UserError(f"{shown}/{file}: {unknown('dialect', dialect, sorted(dialects))}")
    if name not in used:
        raise UserError(f"{shown}/{file}: nothing uses it; a step, value, source or frame must name {quoted(name)}")
