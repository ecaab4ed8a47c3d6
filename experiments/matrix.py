"""Experiment x targets -> blocks of cells: pure, and the same on every machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Literal, NamedTuple, Protocol

from experiments.content import content_hash
from experiments.exclusions import is_excluded
from experiments.factors import PROBED, levels_for, text
from experiments.identity import digest
from experiments.model import Block, Cell, Experiment, Factor, Level, Levels, Matrix, Request, Step, Target, UserError
from experiments.settings import settings_of
from experiments.sqlfiles import sql_file

CellStatus = Literal["planned", "unsupported"]


class Judge(Protocol):
    """What a dialect, from its facts or as probed, says about levels."""

    @property
    def name(self) -> str:
        """The dialect's name."""

    @property
    def lineage(self) -> tuple[str, ...]:
        """The dialect and its ancestors, nearest first."""

    @property
    def facts_hash(self) -> str:
        """A hash that changes with the facts that shape a cell's SQL."""

    def effective(self, levels: Levels, key: str | None = None) -> tuple[Levels, str | None]:
        """The levels that really apply, and why the target refuses them, if it does; ``key`` is the table's."""

    def found(self, factor: str) -> tuple[Level, ...]:
        """The levels of a factor that the target has, whether declared or not, as far as it was probed."""

    def residue(self, levels: Levels) -> bool:
        """Whether the in-place levels leave something on the table that taking them back does not remove."""


class NoCell(UserError):
    """What ``only`` asks for is on no target of the request."""


def expand(request: Request, judges: Mapping[str, Judge]) -> Matrix:
    """The plan of a request. ``judges`` has the dialect of each target, by the target's name.

    Where anything is to run, a cell of role ``noop`` comes with it. Raises ``NoCell`` where ``only`` leaves none.
    """
    blocks: list[Block] = []
    unsupported: list[Cell] = []
    for target in request.targets:
        planned, refused = _TargetPlan(request, target, judges[target.name]).expand()
        blocks += planned
        unsupported += refused
    if not blocks and not unsupported:
        raise _nothing_left(request)
    if blocks:
        blocks.append(_noop_block(request.experiment, judges[blocks[0].target], blocks[0].target))
    return Matrix(tuple(blocks), tuple(unsupported))


def at_base(experiment: Experiment, levels: Levels, lineage: tuple[str, ...]) -> bool:
    """Whether a cell stands at the base level of every in-place factor that applies to it."""
    return all(
        levels[factor.name] == levels_for(factor, lineage)[0]
        for factor in experiment.factors
        if factor.in_place and factor.name in levels
    )


def step_is_for(step: Step, lineage: tuple[str, ...], levels: Levels | None = None) -> bool:
    """Whether a step runs on a dialect with these ancestors, and in a cell with these levels where they are given."""
    dialects = step.options.get("dialects", ())
    if dialects and not any(dialect in lineage for dialect in dialects):
        return False
    return levels is None or all(levels.get(name) in chosen for name, chosen in step.options.get("when", {}).items())


def owned_steps(experiment: Experiment, levels: Levels, lineage: tuple[str, ...], *, loading: bool) -> list[Step]:
    """The steps that a cell runs, in declared order; those of the load only if it is the cell that loads."""
    is_base = at_base(experiment, levels, lineage)
    owned = {"every": True, "load": loading, "base": is_base, "change": not is_base, "series": False}
    return [step for step in experiment.steps if owned[step.at] and step_is_for(step, lineage, levels)]


class _Draft(NamedTuple):
    """A cell before its block is known."""

    cell_id: str
    levels: Levels
    reason: str | None


class _TargetPlan:
    """The cells of one target."""

    def __init__(self, request: Request, target: Target, judge: Judge) -> None:
        self.experiment = request.experiment
        self.only = request.only
        self.narrowed = request.experiment.only.get(request.profile, {})
        self.target = target
        self.judge = judge
        self.steps = [step for step in self.experiment.steps if step_is_for(step, judge.lineage)]
        self.contents = {is_base: self._content(request, is_base) for is_base in (True, False)}

    def expand(self) -> tuple[list[Block], list[Cell]]:
        """Blocks in declared order, and the cells that this target refuses. Equal cells collapse to one."""
        planned: dict[str, dict[str, _Draft]] = {}
        refused: dict[str, Cell] = {}
        for draft in self._drafts():
            block_id = self._block_id(self._reload_levels(draft.levels))
            if draft.reason is None:
                planned.setdefault(block_id, {}).setdefault(draft.cell_id, draft)
            else:
                refused.setdefault(draft.cell_id, self._cell(draft, block_id))
        blocks = [block for drafts in planned.values() for block in self._blocks(list(drafts.values()))]
        runs = {cell_id for drafts in planned.values() for cell_id in drafts}
        return blocks, [cell for cell_id, cell in refused.items() if cell_id not in runs]

    def _drafts(self) -> Iterator[_Draft]:
        """The product of the factors that apply here, as far as ``only`` asks for it; reload factors vary slowest."""
        factors = sorted(self.experiment.factors, key=lambda factor: factor.in_place)
        declared_levels = {factor.name: self._levels(factor) for factor in factors}
        axes = {name: self._narrow(name, levels) for name, levels in declared_levels.items() if levels}
        missing = self._refused() or self._missing_sql()
        for combination in product(*axes.values()):
            declared = dict(zip(axes, combination, strict=True))
            if is_excluded(declared, self.experiment.excluded):
                continue
            if all(declared.get(name) in asked for name, asked in self.only.items()):
                levels, reason = self.judge.effective(declared, self.experiment.key)
                if levels.keys() >= self.only.keys():
                    cell_id = digest(self.experiment.name, self.target.name, levels)
                    yield _Draft(cell_id, levels, missing or reason)

    def _levels(self, factor: Factor) -> tuple[Level, ...]:
        levels = levels_for(factor, self.judge.lineage)
        if PROBED not in levels:
            return levels
        return tuple(dict.fromkeys((*(level for level in levels if level != PROBED), *self.judge.found(factor.name))))

    def _narrow(self, factor: str, levels: tuple[Level, ...]) -> tuple[Level, ...]:
        """The levels that the profile wants; whoever asks for levels of the factor by name gets them."""
        wanted = () if factor in self.only else self.narrowed.get(factor, ())
        return tuple(level for level in levels if level in wanted) or levels

    def _blocks(self, drafts: list[_Draft]) -> Iterator[Block]:
        """One block, and after a level that leaves a residue a block of its own for each further cell."""
        shared = next((n for n, draft in enumerate(drafts, 1) if self._leaves_residue(draft.levels)), len(drafts))
        reload_levels = self._reload_levels(drafts[0].levels)
        yield self._block(self._block_id(reload_levels), reload_levels, drafts[:shared])
        for draft in drafts[shared:]:
            yield self._block(self._block_id(draft.levels, "alone"), reload_levels, [draft])

    def _block(self, block_id: str, levels: Levels, drafts: list[_Draft]) -> Block:
        cells = tuple(self._cell(draft, block_id) for draft in drafts)
        return Block(block_id, self.target.name, 1, levels, cells)

    def _cell(self, draft: _Draft, block_id: str) -> Cell:
        content = self.contents[at_base(self.experiment, draft.levels, self.judge.lineage)]
        if settings := settings_of(self.experiment, draft.levels, self.judge.lineage):
            content = digest(content, settings)
        status: CellStatus = "planned" if draft.reason is None else "unsupported"
        return Cell(
            draft.cell_id, content, self.target.name, self.judge.name, draft.levels, block_id,
            status=status, reason=draft.reason,
        )  # fmt: skip

    def _block_id(self, levels: Levels, *more: str, replicate: int = 1) -> str:
        return digest(self.experiment.name, self.target.name, levels, replicate, *more)

    def _leaves_residue(self, levels: Levels) -> bool:
        return not at_base(self.experiment, levels, self.judge.lineage) and self.judge.residue(levels)

    def _reload_levels(self, levels: Levels) -> Levels:
        in_place = {factor.name for factor in self.experiment.factors if factor.in_place}
        return {name: level for name, level in levels.items() if name not in in_place}

    def _content(self, request: Request, is_base: bool) -> str:
        """The content of the cells at the base level, or of those beyond it: whatever shapes what they measure."""
        scopes = ("load", "every", "series", "base" if is_base else "change")
        steps = [step for step in self.steps if step.at in scopes]
        return content_hash(request, self.judge.lineage, self.judge.facts_hash, steps)

    def _refused(self) -> str | None:
        """Why the experiment says that it cannot run here."""
        refused = self.experiment.unsupported
        return next((refused[dialect] for dialect in self.judge.lineage if dialect in refused), None)

    def _missing_sql(self) -> str | None:
        experiment = self.experiment
        names = [*experiment.values.values(), *(step.options["sql"] for step in self.steps if "sql" in step.options)]
        for name in [experiment.source, *names] if experiment.source else names:
            if sql_file(experiment.sql, name, self.judge.lineage) is None:
                return f"the experiment has no sql/{name}.sql for {self.judge.name}"
        return None


def _noop_block(experiment: Experiment, judge: Judge, target: str) -> Block:
    """A cell that measures nothing: what it takes is the overhead of every cell."""
    name = digest(experiment.name, target, "noop")
    cell = Cell(name, digest(judge.facts_hash, "noop"), target, judge.name, {}, name, role="noop")
    return Block(name, target, 1, {}, (cell,))


def _nothing_left(request: Request) -> NoCell:
    asked = ", ".join(f"{name}={','.join(map(text, levels))}" for name, levels in request.only.items())
    targets = ", ".join(target.name for target in request.targets)
    return NoCell(f"--only {asked} leaves no cell on {targets}: no cell there has these levels together")
