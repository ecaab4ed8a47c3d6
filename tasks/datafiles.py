"""Files of rows for COPY: DuckDB writes each once, at the speed of the disk, and digests what it wrote."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from experiments.datafiles import MAKER
from experiments.model import Column, Experiment
from experiments.sqlfiles import rendered_sql
from tasks.dialects.digests import digest_sql
from tasks.dialects.duckdb import DuckDB, csv_options, reading_options
from tasks.dialects.quoting import identifier, literal
from tasks.errors import StatementFailed
from tasks.session import connect_duckdb

SUFFIXES = {"csv": ".csv", "text": ".txt"}
BLOCK = 1024 * 1024


@dataclass(frozen=True)
class RowFile:
    """The rows of one query in a file that any process may read; ``exchange`` is a directory that the server enters."""

    name: str
    path: Path
    query: str
    format: str
    columns: tuple[Column, ...]
    exchange: Path | None = None

    @classmethod
    def of(
        cls,
        experiment: Experiment,
        name: str,
        values: Mapping[str, object],
        directory: Path,
        exchange: Path | None = None,
    ) -> RowFile:
        """The file that ``values`` (parameters and levels) ask for; named by what it holds, not yet made."""
        declared = experiment.files[name]
        query = rendered_sql(experiment, declared.sql, MAKER, values).strip().rstrip(";")
        shape = [(column.name, column.type) for column in experiment.columns]
        key = hashlib.sha256(repr([query, declared.format, shape]).encode()).hexdigest()[:12]
        path = directory / f"{name}-{key}{SUFFIXES[declared.format]}"
        return cls(name, path, query, declared.format, experiment.columns, exchange)

    @property
    def server_path(self) -> Path:
        """Where the server finds it, if it can read files of ours at all."""
        return self.path if self.exchange is None else self.exchange / self.path.name

    def making_sql(self, path: str) -> str:
        """The statement with which DuckDB writes the file."""
        options = ", ".join(f"{name} {value}" for name, value in csv_options(self.format).items())
        return f"copy (\n{self.query}\n) to {literal(path)} (format csv, {options})"

    def make(self) -> None:
        """Write the file unless it is there, and give the server a name of it, or a copy across disks."""
        if not self.path.exists():
            self._write()
        if not self.server_path.exists():
            try:
                os.link(self.path, self.server_path)
            except OSError:
                _whole(self.server_path, lambda partial: shutil.copyfile(self.path, partial))

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        _whole(self.path, lambda partial: self._ask(self.making_sql(str(partial))))

    @cached_property
    def bytes(self) -> int:
        """The size of the file."""
        return self.path.stat().st_size

    @cached_property
    def digest(self) -> str:
        """Count and sums of the rows as they are read back from the file, kept beside it: it takes a while.

        Raises ``StatementFailed`` where a line does not fit the table's columns.
        """
        note = self.path.with_suffix(".json")
        if not note.exists():
            types = ", ".join(f"{literal(column.name)}: {literal(column.type)}" for column in self.columns)
            options = ", ".join(f"{name} = {value}" for name, value in reading_options(self.format).items())
            reader = f"read_csv({literal(str(self.path))}, columns = {{{types}}}, {options})"
            # Without OFFSET 0 the digest's casts to text move into the reader, and 007 or x pass for integers.
            parts = self._ask(digest_sql(DuckDB.spelling, f"(from {reader} offset 0)", self.columns))[0]
            text = json.dumps({"digest": ":".join(str(int(part)) for part in parts)}) + "\n"
            _whole(note, lambda partial: partial.write_text(text))
        return str(json.loads(note.read_text())["digest"])

    @property
    def rows(self) -> int:
        """How many rows the file has."""
        return int(self.digest.partition(":")[0])

    def warm(self) -> bool:
        """Read it into the page cache, so that every load finds it there; False where it is too large to stay."""
        if self.bytes > _memory() // 4:
            return False
        with self.path.open("rb") as file:
            while file.read(BLOCK):
                pass
        return True

    def _ask(self, sql: str) -> list[tuple[Any, ...]]:
        import duckdb

        with connect_duckdb(self.path.parent) as connection:
            try:
                return connection.execute(sql).fetchall()
            except duckdb.Error as error:
                raise StatementFailed(f"file {identifier(self.name)}: {' '.join(str(error).split())}") from None


def _whole(path: Path, write: Callable[[Path], object]) -> None:
    """A file that is there whole or not at all: a killed writer leaves a partial one of another name."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        write(partial)
        # The server reads it as another user.
        partial.chmod(0o644)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
