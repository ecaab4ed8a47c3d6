"""What plan and run were asked for on the command line -> Request, with every name and value checked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from random import SystemRandom

from experiments.factors import all_levels, text
from experiments.model import Experiment, Factor, Level, Limit, Request, Target, UserError
from experiments.naming import hint, listed, quoted, unknown
from experiments.parameters import problem
from experiments.reading import WORDS

DEFAULT_TIMEOUT = 3600.0
SEEDS = 2**31
# A comma between levels; one between the columns of an index is inside parentheses.
COMMA = re.compile(r",(?![^(]*\))")
DIGITS_OF_64_BITS = 19
MOST_REPEATS = 1_000_000
# Servers keep a statement's limit as milliseconds in 32 bits.
MOST_SECONDS = 2_000_000


def build_request(
    experiment: Experiment,
    targets: Sequence[Target],
    profile: str | None = None,
    sets: Iterable[str] = (),
    only: Iterable[str] = (),
    repeats: int | None = None,
    seed: int | None = None,
    timeout: float | None = None,
) -> Request:
    """The request; raises ``UserError`` that lists what is known for every name that is not.

    ``sets`` are ``NAME=VALUE``, ``only`` ``FACTOR=LEVEL[,LEVEL]``; ``profile`` is the first one, ``seed`` a new one
    and ``timeout`` (seconds per step) an hour where they are None.
    """
    if not targets:
        raise UserError("no target to run on; name one with --target")
    names = [target.name for target in targets]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"--target: {name} is given twice")
    if repeats is not None and repeats < 1:
        raise UserError(f"--repeats must be at least 1, got {repeats}")
    if timeout is not None and not (timeout > 0 and math.isfinite(timeout)):
        raise UserError(f"--timeout must be a number of seconds above 0, got {timeout:g}")
    for option, value, most in (("repeats", repeats, MOST_REPEATS), ("timeout", timeout, MOST_SECONDS)):
        if value is not None and value > most:
            raise UserError(f"--{option} must be at most {most}, got {value:g}")
    if seed is not None and not 0 <= seed < 2**63:
        raise UserError(f"--seed must be from 0 to 2^63 - 1, got {seed}")
    profile = _profile(experiment, profile)
    parameters = {**experiment.parameters, **experiment.profiles[profile], **_sets(experiment, sets)}
    return Request(
        experiment,
        tuple(targets),
        profile,
        parameters,
        _only(experiment, only),
        repeats,
        SystemRandom().randrange(SEEDS) if seed is None else seed,
        DEFAULT_TIMEOUT if timeout is None else timeout,
    )


def _profile(experiment: Experiment, profile: str | None) -> str:
    if profile is None:
        return next(iter(experiment.profiles))
    if profile not in experiment.profiles:
        raise UserError(f"--profile: {unknown('profile', profile, experiment.profiles)}")
    return profile


def _sets(experiment: Experiment, sets: Iterable[str]) -> dict[str, Level]:
    values: dict[str, Level] = {}
    for one in sets:
        name, value = _pair("--set", one, "NAME=VALUE, such as rows=100000")
        if name not in experiment.parameters:
            raise UserError(f"--set: {unknown('parameter', name, experiment.parameters)}")
        if name in values:
            raise UserError(f"--set: {name} is given twice")
        values[name] = _value(experiment, name, value)
    return values


def _pair(option: str, written: str, form: str) -> tuple[str, str]:
    name, _, value = (part.strip() for part in written.partition("="))
    if not (name and value):
        raise UserError(f"{option}: write {form}, got {quoted(written)}")
    return name, value


def _value(experiment: Experiment, name: str, written: str) -> Level:
    default = experiment.parameters[name]
    value = _parsed(written, default)
    if value is None:
        raise UserError(f"--set: {name} must be {WORDS[type(default)]}, got {written!r}")
    wrong = problem(value, default, experiment.limits.get(name, Limit()))
    if wrong:
        raise UserError(f"--set: {name} {wrong}")
    return value


def _parsed(written: str, default: Level) -> Level | None:
    """``written`` as the type of ``default``; None where it is none. An integer may be 1_000 or 1e6."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(written.lower())
    if isinstance(default, str):
        return written
    try:
        number = Decimal(written)
    except InvalidOperation:
        return None
    if not number.is_finite() or number.adjusted() >= DIGITS_OF_64_BITS:
        return None
    if isinstance(default, float):
        return float(number)
    if number != number.to_integral_value():
        return None
    return int(number)


def _only(experiment: Experiment, only: Iterable[str]) -> dict[str, tuple[Level, ...]]:
    factors = {factor.name: factor for factor in experiment.factors}
    asked: dict[str, tuple[Level, ...]] = {}
    for one in only:
        name, levels = _pair("--only", one, "FACTOR=LEVEL[,LEVEL], such as index=none")
        if name not in factors:
            raise UserError(f"--only: {unknown('factor', name, factors)}")
        asked[name] = tuple(dict.fromkeys((*asked.get(name, ()), *_levels(factors[name], levels))))
    return asked


def _levels(factor: Factor, written: str) -> Iterator[Level]:
    """The levels of a list; one may have commas of its own, so the longest that is known comes first."""
    known: Mapping[str, Level] = {text(level): level for level in all_levels(factor)}
    spelled = {spelling.replace(" ", ""): level for spelling, level in known.items()}
    pieces = COMMA.split(written)
    while pieces:
        for end in range(len(pieces), 0, -1):
            spelling = ",".join(pieces[:end]).replace(" ", "")
            if spelling in spelled:
                break
        else:
            raise _unknown_level(factor, pieces[0].strip(), known)
        yield spelled[spelling]
        del pieces[:end]


def _unknown_level(factor: Factor, written: str, known: Mapping[str, Level]) -> UserError:
    levels = f"{listed('level', known)}{hint(written, known)}"
    return UserError(f"--only: unknown level {quoted(written)} of {factor.name}; {levels}")
