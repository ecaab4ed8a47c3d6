"""experiment.toml -> Experiment, with every name in it checked, and the SQL files that it names."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from experiments.columns import read_table
from experiments.expectations import read_expectations
from experiments.factors import check_indexes, check_levels, read_factors
from experiments.language import PLACEHOLDERS, STEP_KINDS
from experiments.model import Experiment
from experiments.naming import quoted
from experiments.parameters import read_parameters, read_profiles
from experiments.reading import Section
from experiments.sqlfiles import FRAMES, Use
from experiments.steps import read_steps

KEYS = (
    "question", "source", "values", "parameters", "profiles", "table", "factors", "in_place", "steps", "expect",
    "baseline",
)  # fmt: skip


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
    steps = read_steps(root, factors, dialects)
    check_indexes(root.section("in_place"), factors, steps, columns)
    baseline = root.section("baseline")
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
        baseline=check_levels(baseline, factors, baseline.data),
        published=(),
        sql={},
        spec_hash="",
        limits=limits,
    )


def _values(section: Section) -> dict[str, str]:
    section.check_names()
    return {name: section.name(name) for name in section.data}


def _check_clashes(root: Section) -> None:
    """Parameters, values and factors share the placeholders of SQL: a name may stand for one thing only."""
    owner = dict.fromkeys(PLACEHOLDERS, "a placeholder of every experiment")
    for key in ("parameters", "values", "factors", "in_place"):
        section = root.section(key)
        for name in section.data:
            if name in owner:
                raise section.error(name, f"this name is taken: {quoted(name)} is {owner[name]}")
            owner[name] = f"in [{key}]"


def sql_uses(root: Section, experiment: Experiment) -> Iterator[Use]:
    """Every place that names a SQL file, with the placeholders that it may have."""
    factors = [factor.name for factor in experiment.factors]
    common = {*PLACEHOLDERS, *experiment.parameters, *experiment.values, *factors}
    if experiment.source is not None:
        yield Use(experiment.source, root, "source", common)
    for name, file in experiment.values.items():
        yield Use(file, root.section("values"), name, common)
    for step, section in zip(experiment.steps, root.sections("steps"), strict=True):
        if "sql" in step.options:
            key = "sql" if "sql" in section.data else step.kind
            options = STEP_KINDS[step.kind].options.keys() - {"sql"}
            yield Use(step.options["sql"], section, key, common | options)
    for expectation, section in zip(experiment.expectations, root.sections("expect"), strict=True):
        yield Use(f"{FRAMES}{expectation.frame}", section, "frame", experiment.parameters.keys())
