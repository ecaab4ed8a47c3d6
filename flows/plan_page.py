"""The command ``plan``: what a run would do, for people and as JSON."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.factors import text
from experiments.matrix import expand
from experiments.model import Block, Cell, Levels, Matrix, Request
from experiments.settings import settings_of
from flows.asking import Ask, resolve
from flows.ddl import BlockSql
from flows.estimating import Estimate, estimate
from flows.output import plain_table, print_json, standard_output
from flows.planning import check_disk, planned, probed_dialects
from flows.scripts import script
from flows.words import duration, levels_in_words
from tasks.dialects.dialect import Dialect
from tasks.launchers.place import Place
from warehouse.formatting import counted, humanise, spelled

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SHORTEST_ID = 4


@dataclass(frozen=True)
class TargetPlan:
    """What a run would do on one target."""

    target: str
    dialect: Dialect
    blocks: tuple[Block, ...]
    unsupported: tuple[Cell, ...]
    estimate: Estimate

    @property
    def cells(self) -> list[Cell]:
        """The cells that would run."""
        return [cell for block in self.blocks for cell in block.cells]


def show(home: Path, ask: Ask, *, probe: bool, as_json: bool, cell: str | None) -> int:
    """Print the plan, or the script of one cell of it."""
    request, secrets = resolve(ask, home, os.environ)
    place = Place.of(home, os.environ)
    matrix, dialects = planned(request, place)
    if probe:
        dialects, free = probed_dialects(request, place, secrets)
        matrix = expand(request, dialects)
        check_disk(request, matrix, free)
    if cell is not None:
        print(script(request, matrix, dialects, cell), end="")
        return 0
    plans = _by_target(request, matrix, dialects)
    if as_json:
        print_json(_document(request, plans, probe))
    else:
        _page(standard_output(), request, plans, _short_ids(matrix), probe)
    return 0


def _by_target(request: Request, matrix: Matrix, dialects: Mapping[str, Dialect]) -> list[TargetPlan]:
    """The no-op cell is ours, not the user's: it is no part of what he asked for."""
    estimates = estimate(request, matrix, dialects)
    return [
        TargetPlan(
            name,
            dialect,
            tuple(block for block in matrix.blocks if block.target == name and block.cells[0].role == "result"),
            tuple(cell for cell in matrix.unsupported if cell.target == name),
            estimates[name],
        )
        for name, dialect in dialects.items()
    ]


def _short_ids(matrix: Matrix) -> Mapping[str, str]:
    """Cell ids cut to as few characters as tell them apart, as git does."""
    ids = {cell.cell_id for cell in matrix.cells}
    length = next(n for n in range(SHORTEST_ID, 13) if len({name[:n] for name in ids}) == len(ids))
    return {name: name[:length] for name in ids}


def _document(request: Request, plans: Sequence[TargetPlan], probe: bool) -> dict[str, Any]:
    return {
        "experiment": request.experiment.name,
        "profile": request.profile,
        "parameters": request.parameters,
        "targets": [
            {
                "target": plan.target,
                "dialect": plan.dialect.name,
                "is_probed": probe,
                "estimate": asdict(plan.estimate),
                "blocks": [
                    {
                        "block_id": block.block_id,
                        "levels": block.levels,
                        "settings": settings_of(request.experiment, block.levels, plan.dialect.lineage),
                        "cells": [{"cell_id": cell.cell_id, "levels": cell.levels} for cell in block.cells],
                        "ddl": BlockSql(request, plan.dialect, block).ddl(),
                    }
                    for block in plan.blocks
                ],
                "unsupported": [
                    {"cell_id": cell.cell_id, "levels": cell.levels, "reason": cell.reason} for cell in plan.unsupported
                ],
            }
            for plan in plans
        ],
    }


def _page(console: Console, request: Request, plans: Sequence[TargetPlan], ids: Mapping[str, str], probe: bool) -> None:
    """The DDL first, since it is long: what a terminal still shows at the end is the summary."""
    for plan in plans:
        for block in plan.blocks:
            console.print(f"-- {plan.target}, {levels_in_words(block.levels)}", style="dim")
            for name, value in settings_of(request.experiment, block.levels, plan.dialect.lineage).items():
                console.print(f"-- server setting: {name} = {value}", style="dim")
            for statement in BlockSql(request, plan.dialect, block).ddl():
                console.print(f"{statement};", soft_wrap=True)
            console.print()
    console.print(f"{request.experiment.name}: {request.experiment.question}")
    console.print(f"profile {request.profile}: {spelled(request.parameters)}")
    for plan in plans:
        console.print()
        console.print(_headline(plan, probe), style="bold")
        if plan.blocks:
            console.print(_blocks(plan, ids))
        for line in _unsupported(plan):
            console.print(line, style="yellow", soft_wrap=True)
        console.print(_roughly(plan.estimate))


def _headline(plan: TargetPlan, probe: bool) -> str:
    asked = "as probed" if probe else "as declared; --probe asks the server"
    blocks, cells = counted(len(plan.blocks), "block"), counted(len(plan.cells), "cell")
    return f"{plan.target} ({plan.dialect.name} {asked}): {cells} in {blocks}"


def _blocks(plan: TargetPlan, ids: Mapping[str, str]) -> Table:
    """A line per block; its cells by their in-place levels, each with the id that --script takes."""
    factors = list(dict.fromkeys(name for block in plan.blocks for name in block.levels))
    table = plain_table(*factors, "cells in order")
    for block in plan.blocks:
        levels = [text(block.levels[name]) if name in block.levels else "" for name in factors]
        table.add_row(*levels, "  ".join(_named(ids[cell.cell_id], block.levels, cell) for cell in block.cells))
    return table


def _named(name: str, levels: Levels, cell: Cell) -> str:
    """A cell's id, and its in-place levels where it has such."""
    added = levels_in_words({factor: level for factor, level in cell.levels.items() if factor not in levels})
    return f"{name}: {added}" if added else name


def _unsupported(plan: TargetPlan) -> Iterator[str]:
    """One line per reason."""
    for reason, count in Counter(cell.reason for cell in plan.unsupported).items():
        yield f"unsupported: {reason} ({counted(count, 'cell')})"


def _roughly(estimate: Estimate) -> str:
    wal = f" and {humanise(estimate.wal_bytes, 'bytes')} of WAL" if estimate.wal_bytes else ""
    return (
        f"roughly {duration(estimate.seconds)}; up to {humanise(estimate.disk_bytes, 'bytes')} of disk at a time{wal}"
    )
