"""The options that ``plan`` and ``run`` share, as the command line reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from flows.asking import DEFAULT_TARGETS, Ask


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Options:
    """What was typed."""

    target: Annotated[
        tuple[str, ...],
        Parameter(metavar="NAME", help=f"Where to run, or NAME=URL; repeatable. Else {' and '.join(DEFAULT_TARGETS)}."),
    ] = ()
    profile: Annotated[
        str | None, Parameter(metavar="NAME", help="A named set of parameters. Else the experiment's first.")
    ] = None
    set: Annotated[
        tuple[str, ...], Parameter(metavar="NAME=VALUE", help="A parameter, such as rows=100000; repeatable.")
    ] = ()
    only: Annotated[
        tuple[str, ...],
        Parameter(metavar="FACTOR=LEVEL[,LEVEL]", help="Only cells with one of these levels; repeatable."),
    ] = ()
    repeats: Annotated[int | None, Parameter(metavar="N", help="Repetitions of every query.")] = None
    seed: Annotated[int | None, Parameter(metavar="N", help="Order of the blocks. Else a new one.")] = None
    timeout: Annotated[float | None, Parameter(metavar="SECONDS", help="For each statement. Else 3600.")] = None
    json: Annotated[bool, Parameter(help="One JSON document on standard output, and nothing else there.")] = False

    def about(self, experiment: str) -> Ask:
        """The same as a question about an experiment."""
        targets = self.target or DEFAULT_TARGETS
        return Ask(experiment, targets, self.profile, self.set, self.only, self.repeats, self.seed, self.timeout)


NOTHING_SAID = Options()
