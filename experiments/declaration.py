"""experiment.toml -> Experiment, with every name in it checked, and the SQL files that it names."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from experiments.columns import read_rows_by, read_table, read_times
from experiments.datafiles import check_copies, read_files
from experiments.exclusions import read_exclusions
from experiments.expectations import read_expectations
from experiments.factors import check_indexes, check_levels, read_factors
from experiments.language import PLACEHOLDERS, SERIES_PLACEHOLDERS, STEP_KINDS
from experiments.model import Experiment, Factor, Levels
from experiments.naming import quoted
from experiments.parameters import read_narrowing, read_parameters, read_profiles
from experiments.reading import Section
from experiments.settings import read_settings
from experiments.sqlfiles import FRAMES, Use
from experiments.steps import check_columns, read_steps

KEYS = (
    "question", "source", "files", "values", "parameters", "profiles", "table", "factors", "in_place", "settings",
    "ladder", "exclude", "unsupported", "steps", "expect", "baseline",
)  # fmt: skip


ROUND = "round"


def read_declaration(name: str, root: Section, dialects: Collection[str]) -> Experiment:
    """What experiment.toml says, as an experiment whose SQL and published figures are still to be read."""
    root.check_keys(KEYS)
    parameters, limits = read_parameters(root.section("parameters"))
    values = _values(root.section("values"))
    factors = (
        *read_factors(root.section("factors"), dialects, in_place=False),
        *read_factors(root.section("in_place"), dialects, in_place=True),
    )
    _check_clashes(root)
    columns, key, row_bytes = read_table(root.section("table"))
    steps = read_steps(root, factors, parameters, dialects)
    check_indexes(root, factors, steps, columns)
    check_columns(root, steps, columns)
    files = read_files(root.section("files"))
    check_copies(root, steps, files)
    return Experiment(
        name=name,
        question=root.line("question"),
        parameters=parameters,
        profiles=read_profiles(root.section("profiles"), parameters, limits),
        columns=columns,
        key=key,
        row_bytes=row_bytes,
        source=root.name("source") if "source" in root.data else None,
        values=values,
        factors=factors,
        steps=steps,
        expectations=read_expectations(root.sections("expect"), parameters),
        baseline=_baseline(root.section("baseline"), factors),
        published=(),
        sql={},
        spec_hash="",
        limits=limits,
        only=read_narrowing(root.section("profiles"), factors),
        settings=read_settings(root, factors, dialects),
        files=files,
        excluded=read_exclusions(root.sections("exclude"), factors),
        unsupported=_unsupported(root.section("unsupported"), dialects),
        times=read_times(root.section("table"), factors),
        rows_by=read_rows_by(root.section("table"), factors),
    )


def _values(section: Section) -> dict[str, str]:
    section.check_names()
    return {name: section.name(name) for name in section.data}


def _unsupported(section: Section, dialects: Collection[str]) -> dict[str, str]:
    """Why a dialect, and those that descend from it, can run nothing of the experiment."""
    for dialect in section.data:
        section.one_of("dialect", dialect, dialect, sorted(dialects))
    return {dialect: section.line(dialect) for dialect in section.data}


def _baseline(section: Section, factors: tuple[Factor, ...]) -> Levels:
    """Levels; and for figures of a series the round that the others are set in ratio to."""
    levels = {name: level for name, level in section.data.items() if name != ROUND}
    rounds = {ROUND: section.need(ROUND, int)} if ROUND in section.data else {}
    return {**check_levels(section, factors, levels), **rounds}


def _check_clashes(root: Section) -> None:
    """Parameters, values, files and factors share the placeholders of SQL: a name may stand for one thing only."""
    owner = dict.fromkeys((*PLACEHOLDERS, *SERIES_PLACEHOLDERS), "a placeholder of every experiment")
    for key in ("parameters", "values", "files", "factors", "in_place"):
        section = root.section(key)
        for name in section.data:
            if name in owner:
                raise section.error(name, f"this name is taken: {quoted(name)} is {owner[name]}")
            owner[name] = f"in [{key}]"


def sql_uses(root: Section, experiment: Experiment) -> Iterator[Use]:
    """Every place that names a SQL file, with the placeholders that it may have."""
    factors = [factor.name for factor in experiment.factors]
    common = {*PLACEHOLDERS, *experiment.parameters, *experiment.values, *experiment.files, *factors}
    if experiment.source is not None:
        yield Use(experiment.source, root, "source", common)
    for name, data in experiment.files.items():
        yield Use(data.sql, root.section("files"), name, {*experiment.parameters, *factors})
    for name, file in experiment.values.items():
        yield Use(file, root.section("values"), name, common, reads=True)
    for step, section in zip(experiment.steps, root.sections("steps"), strict=True):
        if "sql" in step.options:
            key = "sql" if "sql" in section.data else step.kind
            options = STEP_KINDS[step.kind].options.keys() - {"sql"}
            own = {*options, *(SERIES_PLACEHOLDERS if step.at == "series" else ())}
            yield Use(step.options["sql"], section, key, common | own, reads=step.kind in ("query", "measure"))
    for expectation, section in zip(experiment.expectations, root.sections("expect"), strict=True):
        yield Use(f"{FRAMES}{expectation.frame}", section, "frame", experiment.parameters.keys(), reads=True)
