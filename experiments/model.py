"""Every type that travels through storage-matrix, in the order in which it travels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Level = str | int | float | bool
Levels = Mapping[str, Level]
Status = Literal["ok", "unsupported", "failed", "timeout", "cancelled"]
Outcome = Literal["pass", "fail", "inconclusive", "not_applicable", "error"]
Severity = Literal["critical", "warning", "info"]
Role = Literal["result", "noop"]
Scope = Literal["load", "base", "change", "every", "series"]


class UserError(Exception):
    """Bad input or an unmet condition, told in one line: what, where, what to do.

    ``exit_code`` is what the command line ends with: 2 wrong usage or spec, 4 a target out of reach.
    """

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code


# Declared: what experiment.toml says.


@dataclass(frozen=True)
class Column:
    """A column of the measured table; ``type`` is a portable SQL type that each dialect can render."""

    name: str
    type: str


@dataclass(frozen=True)
class Limit:
    """What a parameter accepts beyond its type."""

    minimum: float | None = None
    choices: tuple[Level, ...] = ()


@dataclass(frozen=True)
class Factor:
    """An axis of the matrix. ``levels`` maps a dialect name (or ``*`` for all) to its levels, base level first."""

    name: str
    levels: Mapping[str, tuple[Level, ...]]
    in_place: bool = False


@dataclass(frozen=True)
class Step:
    """One declared action: its kind (``load``, ``query`` ...), its name, and the kind's own options.

    ``at`` says which cells of a block run it: ``load`` the first one that runs (it owns create and load),
    ``base`` the cell at the base level of every in-place factor, ``change`` every cell beyond the base,
    ``every`` all of them, ``series`` none by itself: a series step runs it where it names it.
    """

    kind: str
    name: str
    at: Scope
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DataFile:
    """A file of rows for COPY: the DuckDB query below ``sql/`` that makes it, and the form in which it is written."""

    sql: str
    format: Literal["csv", "text"]


@dataclass(frozen=True)
class Round:
    """Rounds of a series that do the same: the steps ``do``, then the steps ``watch``, ``times`` over.

    ``times`` is a number, or the factor or parameter whose value it is.
    """

    do: tuple[str, ...]
    times: int | str
    watch: tuple[str, ...]


@dataclass(frozen=True)
class Expectation:
    """A declared check: SQL makes a frame, Great Expectations judges it.

    ``promises`` is SQL over ``planned_cell`` for the number of rows that the frame owes; 0 means that no planned
    cell can feed the check.
    """

    name: str
    claim: str
    severity: Severity
    frame: str
    check: Mapping[str, Any]
    promises: str
    source: str | None = None


@dataclass(frozen=True)
class Published:
    """A figure of a published study, in base units (bytes, seconds, rows, per_second, ratio); ``round`` of a series."""

    source: str
    engine: str
    profile: str
    levels: Levels
    step: str
    metric: str
    unit: str
    value: float
    method: str
    precision: float | None
    round: int | None = None


@dataclass(frozen=True)
class Experiment:
    """One folder, read and checked. ``sql`` maps a file name below ``sql/`` to its text.

    ``only`` has, by profile, the levels to which the profile narrows the matrix.
    ``settings`` has what levels set on the server: factor -> dialect (or ``*``) -> level as text -> settings.
    ``excluded`` are combinations of levels that the plan leaves out, ``unsupported`` why a dialect cannot run it.
    ``times`` is the factor whose level multiplies the parameter ``rows``, ``rows_by`` the one by which rows differ.
    """

    name: str
    question: str
    parameters: Mapping[str, Level]
    profiles: Mapping[str, Mapping[str, Level]]
    columns: tuple[Column, ...]
    key: str
    row_bytes: int
    source: str | None
    values: Mapping[str, str]
    factors: tuple[Factor, ...]
    steps: tuple[Step, ...]
    expectations: tuple[Expectation, ...]
    baseline: Levels
    published: tuple[Published, ...]
    sql: Mapping[str, str]
    spec_hash: str
    limits: Mapping[str, Limit] = field(default_factory=dict)
    only: Mapping[str, Mapping[str, tuple[Level, ...]]] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Mapping[str, Mapping[str, str]]]] = field(default_factory=dict)
    files: Mapping[str, DataFile] = field(default_factory=dict)
    excluded: tuple[Mapping[str, tuple[Level, ...]], ...] = ()
    unsupported: Mapping[str, str] = field(default_factory=dict)
    times: str | None = None
    rows_by: str | None = None


@dataclass(frozen=True)
class Target:
    """A named place to run. ``options`` go to the launcher; a credential is only ever named, never held.

    ``declared`` are the options without what ``target up --set`` says on top; None where it says nothing.
    """

    name: str
    launcher: str
    dialect: str
    options: Mapping[str, Any] = field(default_factory=dict)
    exclusive: bool = False
    summary: str = ""
    declared: Mapping[str, Any] | None = None


# Asked: what one invocation wants.


@dataclass(frozen=True)
class Request:
    """What ``plan`` and ``run`` were asked for, resolved: parameters already merged from profile and ``--set``."""

    experiment: Experiment
    targets: tuple[Target, ...]
    profile: str
    parameters: Mapping[str, Level]
    only: Mapping[str, tuple[Level, ...]]
    repeats: int | None
    seed: int
    timeout: float


# Planned: what will run.


@dataclass(frozen=True)
class Cell:
    """One combination of levels on one target. ``reason`` says why an unsupported cell cannot run."""

    cell_id: str
    content_hash: str
    target: str
    dialect: str
    levels: Levels
    block_id: str
    replicate: int = 1
    role: Role = "result"
    status: Literal["planned", "unsupported"] = "planned"
    reason: str | None = None


@dataclass(frozen=True)
class Block:
    """Cells that share one loaded table, in the order in which they run: base level first."""

    block_id: str
    target: str
    replicate: int
    levels: Levels
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Matrix:
    """The whole plan: blocks in declared order, and the cells that no target can run."""

    blocks: tuple[Block, ...]
    unsupported: tuple[Cell, ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every cell, planned ones first."""
        return tuple(cell for block in self.blocks for cell in block.cells) + self.unsupported


# Measured: what came of a cell.


@dataclass(frozen=True)
class Measurement:
    """One value. ``node`` None is the whole target; ``round`` counts within a series; values are finite or None."""

    step: str
    metric: str
    unit: str
    value: float | None
    method: str
    measured_at: str
    repetition: int = 1
    round: int | None = None
    is_warmup: bool = False
    clock: Literal["client", "server"] | None = None
    node: str | None = None
    text_value: str | None = None
    status: Status = "ok"
    reason: str | None = None


@dataclass(frozen=True)
class Plan:
    """The plan that a query step used, as the server's JSON (or its text under ``text``)."""

    step: str
    plan: Any
    plan_hash: str


@dataclass(frozen=True)
class Statement:
    """One statement that a cell sent, for the scripts that replay it; ``seconds`` by the client's monotonic clock."""

    sql: str
    seconds: float


@dataclass(frozen=True)
class CellResult:
    """What the ledger keeps of one attempt at a cell."""

    cell: Cell
    status: Status
    started_at: str
    finished_at: str
    attempt: int = 1
    reason: str | None = None
    sqlstate: str | None = None
    reloaded: bool = False
    environment_id: str | None = None
    measurements: tuple[Measurement, ...] = ()
    plans: tuple[Plan, ...] = ()
    statements: tuple[Statement, ...] = ()


# Judged.


@dataclass(frozen=True)
class Verdict:
    """What an expectation said about a run."""

    expectation: str
    claim: str
    severity: Severity
    outcome: Outcome
    observed: str
    detail: str
