"""``plan --script CELL``: one cell by hand, as a script for psql or the duckdb command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from experiments.matrix import step_is_for
from experiments.model import Block, Cell, Matrix, Request, Step, UserError
from experiments.series import TIMES
from experiments.settings import settings_of
from experiments.template import Fragment
from flows.ddl import BlockSql
from flows.words import cell_in_words
from tasks.dialects.dialect import Dialect
from tasks.dialects.quoting import literal


@dataclass(frozen=True)
class Client:
    """How a command line client says what SQL does not: a heading, a looked-up value, rows that nobody wants to see."""

    how_to_run: str
    opening: tuple[str, ...]
    heading: str
    keep_value: str
    value: str
    copy: str
    in_duckdb: str
    hide_rows: str
    show_rows: str


PSQL = Client(
    how_to_run="psql -f FILE, on the connection that storage-matrix target {command} prints",
    opening=("\\set ON_ERROR_STOP on", "\\pset pager off", "\\timing on"),
    heading="\\echo '== {}'",
    keep_value="select {name} from (\n{sql}\n) as found({name}) limit 1 \\gset",
    value=":'{name}'",
    copy="\\{}",
    in_duckdb="-- ",
    hide_rows="\\o /dev/null",
    show_rows="\\o",
)
DUCKDB = Client(
    how_to_run="duckdb < FILE",
    opening=(".bail on", ".timer on"),
    heading=".print '== {}'",
    keep_value="set variable {name} = (select {name} from (\n{sql}\n) as found({name}) limit 1);",
    value="getvariable('{name}')",
    copy="{};",
    in_duckdb="",
    hide_rows=".mode trash",
    show_rows=".mode duckbox",
)
# By launcher: what has no server is opened by its own client.
CLIENTS: Mapping[str, Client] = {"file": DUCKDB}


def script(request: Request, matrix: Matrix, dialects: Mapping[str, Dialect], name: str) -> str:
    """The script of the cell whose id is, or begins with, ``name``; raises ``UserError`` where that is not one cell."""
    block, cell = _find(matrix, name)
    return _Script(request, dialects[cell.target], block, cell).text()


def _find(matrix: Matrix, name: str) -> tuple[Block, Cell]:
    cells = [(block, cell) for block in matrix.blocks for cell in block.cells if cell.role == "result"]
    found = [(block, cell) for block, cell in cells if name and cell.cell_id.startswith(name)]
    if len(found) == 1:
        return found[0]
    refused = [cell for cell in matrix.unsupported if name and cell.cell_id.startswith(name)]
    if not found and refused:
        raise UserError(f"--script: cell {name} is unsupported: {refused[0].reason}")
    what = f"{len(found)} cells begin with {name!r}" if found else f"no cell {name!r} in this plan"
    raise UserError(f"--script: {what}; storage-matrix plan shows the ids")


class _Script:
    def __init__(self, request: Request, dialect: Dialect, block: Block, cell: Cell) -> None:
        self.request = request
        self.dialect = dialect
        self.block = block
        self.cell = cell
        self.target = next(target for target in request.targets if target.name == cell.target)
        self.client = CLIENTS.get(self.target.launcher, PSQL)
        values = {name: Fragment(self.client.value.format(name=name)) for name in request.experiment.values}
        self.block_sql = BlockSql(request, dialect, block, values)
        self.rounds = 0

    def text(self) -> str:
        return "\n".join([*self._opening(), *self._rows(), *self._steps(), *self._closing()]) + "\n"

    def _opening(self) -> Iterator[str]:
        yield f"-- {self.request.experiment.name}, cell {self.cell.cell_id}: {cell_in_words(self.cell)}"
        yield "-- The statements that a run times, in its order. Run it with"
        yield f"--   {self.client.how_to_run.format(command=self._command())}"
        yield from self.client.opening
        yield from _closed(self.dialect.session_settings())
        yield from _closed(self.dialect.schema_setup())

    def _command(self) -> str:
        """What prints the connection, and has the server run with the settings of the block."""
        if self.target.launcher == "dsn":
            return f"check {self.target.name}"
        settings = settings_of(self.request.experiment, self.block.levels, self.dialect.lineage)
        words = (f"--set {shlex.quote(f'{name}={value}')}" for name, value in settings.items())
        return " ".join(["up", self.target.name, *words])

    def _rows(self) -> Iterator[str]:
        experiment = self.request.experiment
        if experiment.source is not None:
            yield self._heading("the rows, not timed in a run")
            yield from _closed(self.block_sql.source.setup)
            yield from _closed([self.block_sql.sql(experiment.source, self.cell)])
        for name in experiment.files:
            data = self.block_sql.file(name, self.cell)
            yield self._heading(f"the file {data.path}, which a run makes once, by this in DuckDB")
            yield from (f"{self.client.in_duckdb}{line}" for line in f"{data.making_sql(str(data.path))};".split("\n"))
        for name, file in experiment.values.items():
            yield self.client.keep_value.format(name=name, sql=self.block_sql.sql(file, self.cell))

    def _steps(self) -> Iterator[str]:
        yield self._heading("the block")
        yield from _closed(self.block_sql.place.setup)
        for step in self.block_sql.steps(self.cell, loading=True):
            yield self._heading(f"step {step.name}")
            yield from self.step(step)

    def step(self, step: Step) -> Iterator[str]:
        """What a run would send for it."""
        if not step_is_for(step, self.dialect.lineage, self.cell.levels):
            return
        if step.kind in SCRIPTS:
            yield from SCRIPTS[step.kind](self, step)
        else:
            yield f"-- A {step.kind} step is more than SQL: only a run does it."

    def _closing(self) -> Iterator[str]:
        yield self._heading("leave nothing behind")
        yield from _closed(self.block_sql.place.teardown)
        yield from _closed(self.block_sql.source.teardown)
        yield from _closed(self.dialect.schema_teardown())
        files = (*self.block_sql.place.files, *self.block_sql.source.files)
        if files:
            yield f"-- To be removed by hand: {' '.join(files)}"

    def _heading(self, words: str) -> str:
        return self.client.heading.format(words)

    def checkpoint(self) -> Iterator[str]:
        """Only where a run would: a server that others use is not ours to checkpoint."""
        if self.target.launcher != "dsn" or self.target.exclusive:
            yield from _closed([self.dialect.checkpoint_sql(self.block_sql.table)])

    def create(self, step: Step) -> Iterator[str]:
        yield from _closed(self.block_sql.create(step, self.cell))

    def load(self, step: Step) -> Iterator[str]:
        yield from self.checkpoint()
        yield from _closed([self.block_sql.step_sql(step, self.cell)])
        yield from self.checkpoint()
        yield from self.digest()

    def copy(self, step: Step) -> Iterator[str]:
        """By the client in any case: it need not be the server's host that has the file."""
        file, table = self.block_sql.file(step.options["file"], self.cell), self.block_sql.table
        copy = self.client.copy.format(self.dialect.copy_sql(table, literal(str(file.path)), file.format))
        empty = f"{self.dialect.truncate_sql(table)};"
        for _ in range(self.request.repeats or step.options["repeats"]):
            yield empty
            yield from self.checkpoint()
            yield from ("begin;", empty, copy, "commit;") if step.options["truncate"] == "inside" else (copy,)
            yield from self.checkpoint()
        yield from self.digest()

    def digest(self) -> Iterator[str]:
        yield from _closed([self.dialect.digest_sql(self.block_sql.table, self.request.experiment.columns)])

    def statement(self, step: Step) -> Iterator[str]:
        yield from self.checkpoint()
        yield from _closed([self.block_sql.step_sql(step, self.cell)])

    def update(self, step: Step) -> Iterator[str]:
        yield from self.statement(step)
        if not self.block_sql.in_series:
            yield from self.digest()

    def measure(self, step: Step) -> Iterator[str]:
        schema = self.block_sql.table.rpartition(".")[0]
        for name in step.options["extensions"]:
            statement = self.dialect.extension_sql(name)
            yield from _closed([statement, self.dialect.add_to_path_sql(schema)] if statement else [])
        yield from _closed([self.block_sql.step_sql(step, self.cell)])

    def children(self, step: Step) -> Iterator[str]:
        for number in range(self.block_sql.option(step, "count", self.cell)):
            statement = self.dialect.child_sql(self.block_sql.table, number)
            yield from _closed([statement] if statement else [])

    def series(self, step: Step) -> Iterator[str]:
        """Round after round, as far as its steps are SQL."""
        steps = {one.name: one for one in self.request.experiment.steps}
        for one in step.options["rounds"]:
            for turn in range(1, TIMES.value_in(one.times, self.block_sql.values(self.cell)) + 1):
                self.rounds += 1
                self.block_sql.in_series.update(round=self.rounds - 1, turn=turn)
                yield self._heading(f"round {self.rounds - 1}: {', '.join(one.do) or 'nothing'}")
                for name in (*one.do, *one.watch):
                    yield from self.step(steps[name])

    def vacuum(self, step: Step) -> Iterator[str]:
        mode = self.block_sql.option(step, "mode", self.cell)
        if mode == "settle" and self.dialect.has_hint_bits(self.cell.levels):
            mode = "VACUUM"
        if mode in ("VACUUM", "VACUUM FULL"):
            statement = self.dialect.vacuum_sql(self.block_sql.table, full=mode == "VACUUM FULL")
            yield from _closed([statement] if statement else [])

    def analyze(self, step: Step) -> Iterator[str]:
        aim, back = self.dialect.statistics_target_sql(step.options["target"]) if step.options["target"] else ((), ())
        yield from _closed([*aim, self.dialect.analyze_sql(self.block_sql.table), *back])

    def query(self, step: Step) -> Iterator[str]:
        query = self.block_sql.step_sql(step, self.cell)
        yield from self.checkpoint()
        yield self.client.hide_rows
        warmups = self.block_sql.option(step, "warmups", self.cell)
        for _ in range(warmups + (self.request.repeats or step.options["repeats"])):
            yield from _closed([query])
        yield self.client.show_rows
        if step.options["explain"]:
            yield from _closed([self.dialect.explain_sql(query)])

    def index(self, step: Step) -> Iterator[str]:
        yield from self.checkpoint()
        yield from _closed(self.block_sql.index(step, self.cell))
        yield from self.checkpoint()

    def size(self, step: Step) -> Iterator[str]:
        yield from self.checkpoint()
        for size in self.dialect.sizes(self.block_sql.table):
            yield self._heading(size.metric)
            yield from _closed([size.sql])
        columns = [column for column in self.request.experiment.columns if column.name == step.options["column"]]
        for column in columns:
            statement = self.dialect.column_size_sql(self.block_sql.table, column)
            yield self._heading(f"stored and plain bytes of a value of {column.name}")
            yield from _closed([statement] if statement else [])


SCRIPTS: Mapping[str, Callable[[_Script, Step], Iterator[str]]] = {
    "create": _Script.create,
    "copy": _Script.copy,
    "load": _Script.load,
    "statement": _Script.statement,
    "update": _Script.update,
    "measure": _Script.measure,
    "cleanup": _Script.statement,
    "children": _Script.children,
    "series": _Script.series,
    "vacuum": _Script.vacuum,
    "analyze": _Script.analyze,
    "query": _Script.query,
    "index": _Script.index,
    "size": _Script.size,
}


def _closed(statements: Iterable[str]) -> Iterator[str]:
    """Each with its semicolon, on a line of its own where the statement ends in a comment."""
    for statement in statements:
        yield f"{statement}\n;" if "--" in statement.rpartition("\n")[2] else f"{statement};"
