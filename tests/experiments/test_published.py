"""Published figures: as printed, in base units, with method and precision."""

from __future__ import annotations

from importlib.resources import files

import pytest

from experiments.factors import read_factors
from experiments.model import Published, UserError
from experiments.published import Declared, read_published
from experiments.reading import read_toml
from experiments.units import Figure, figure


@pytest.mark.parametrize(
    ("digits", "unit", "binary", "read"),
    [
        ("44", "GB", True, Figure(47_244_640_256.0, "bytes", 536_870_912.0)),
        ("44", "GB", False, Figure(44e9, "bytes", 5e8)),
        ("44", "GiB", False, Figure(47_244_640_256.0, "bytes", 536_870_912.0)),
        ("1.3", "GB", True, Figure(1_395_864_371.2, "bytes", 53_687_091.2)),
        ("557", "MB", True, Figure(584_056_832.0, "bytes", 524_288.0)),
        ("8", "kB", True, Figure(8192.0, "bytes", 512.0)),
        ("8192", "B", False, Figure(8192.0, "bytes", 0.5)),
        ("168", "ms", False, Figure(0.168, "seconds", 0.0005)),
        ("1.38", "s", False, Figure(1.38, "seconds", 0.005)),
        ("120", "s", False, Figure(120.0, "seconds", 0.5)),
        ("2", "min", False, Figure(120.0, "seconds", 30.0)),
        ("31201390", "rows", False, Figure(31_201_390.0, "rows", 0.5)),
        ("104005", "tps", False, Figure(104_005.0, "per_second", 0.5)),
        ("5.14", "x", False, Figure(5.14, "ratio", 0.005)),
        ("25", "%", False, Figure(0.25, "ratio", 0.005)),
    ],
)
def test_units(digits, unit, binary, read):
    assert figure(digits, unit, binary=binary) == read


def test_figures_of_a_group(load):
    study = ("A study", "Greenplum 5", "big")
    timed, sized = "psql's timing", "pg_total_relation_size"
    assert load().published == (
        Published(*study, {"form": "heap"}, "fill", "load_time", "seconds", 1.5, timed, 0.05),
        Published(
            *study,
            {"form": "heap", "index": "btree(c1)"},
            "size",
            "total_bytes",
            "bytes",
            47_244_640_256.0,
            sized,
            536_870_912.0,
        ),
        Published(*study, {"form": "ao_row", "level": 5}, "fill", "load_time", "seconds", 0.168, timed, 0.0005),
    )


BYTE_UNITS = "B, KiB, MiB, GiB, TiB, kB, MB, GB, TB"
UNITS = "us, ms, s, min, h, B, KiB, MiB, GiB, TiB, rows, transactions, /s, tps, x, %, kB, MB, GB, TB"
MISTAKES = {
    "no unit": (
        '"44 GB"',
        '"44GB"',
        'figures[0].rows[0][3]: "44GB" is no figure; write digits, a space and a unit, such as "44 GB"',
    ),
    "a number": ('"44 GB"', "44", "figures[0].rows[0][3]: must be a text, got 44"),
    "unknown unit": (
        '"44 GB"',
        '"44 Gb"',
        f'figures[0].rows[0][3]: unknown unit "Gb"; known units: {UNITS}',
    ),
    "unit of something else": (
        '"44 GB"',
        '"44 s"',
        f'figures[0].rows[0][3]: "44 s" is no total_bytes; known units: {BYTE_UNITS}',
    ),
    "row too short": (
        '"1.5 s",  "44 GB"',
        '"1.5 s"',
        "figures[0].rows[0]: must have 4 cells, one for each factor and column, got 3",
    ),
    "unknown level": (
        '["ao_row", 5, ',
        '["ao_row", 6, ',
        'figures[0].rows[1].level: unknown level "6"; known levels: 0, 5',
    ),
    "unknown factor": (
        'factors = ["form", "level"]',
        'factors = ["from", "level"]',
        'figures[0].factors[0]: unknown factor "from"; known factors: form, level, index (did you mean "form"?)',
    ),
    "unknown level of a column": (
        'index = "btree(c1)"',
        'index = "btree(id)"',
        'figures[0].columns[1].levels.index: unknown level "btree(id)"; known levels: none, btree(c1), art(id, c1) '
        '(did you mean "btree(c1)"?)',
    ),
    "unknown step": (
        'step = "fill"',
        'step = "load"',
        'figures[0].columns[0].step: unknown step "load"; known steps: create, fill, count, build, size',
    ),
    "metric without method": (
        'load_time = "psql\'s timing", ',
        "",
        "figures[0].methods.load_time: is missing; it must be a text",
    ),
    "method without metric": (
        'load_time = "psql\'s timing", ',
        'load_time = "psql\'s timing", tps = "pgbench", ',
        "figures[0].methods.tps: unknown key; known keys: load_time, total_bytes",
    ),
    "unknown profile": (
        'profile = "big"',
        'profile = "bug"',
        'figures[0].profile: unknown profile "bug"; known profiles: quick, big (did you mean "big"?)',
    ),
    "unknown key": (
        "binary_units = true",
        "binary = true",
        "figures[0].binary: unknown key; known keys: binary_units, columns, engine, factors, methods, profile, rows, "
        'source (did you mean "binary_units"?)',
    ),
    "the same figure again": (
        '["ao_row", 5,   "168 ms", "-"]',
        '["heap", "-", "2 s", "-"]',
        "figures[0].rows[1][2]: a second load_time of step fill for the same levels",
    ),
}


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes(load, spoil, old, new, message):
    spoil("published.toml", old, new)
    with pytest.raises(UserError) as told:
        load()
    assert str(told.value) == f"experiments/small/published.toml: {message}"


def test_unknown_metric(load, spoil):
    spoil("published.toml", 'metric = "load_time"', 'metric = "lode_time"')
    with pytest.raises(UserError) as told:
        load()
    message = str(told.value)
    assert message.startswith(
        'experiments/small/published.toml: figures[0].columns[0].metric: unknown metric "lode_time"; known metrics: '
    )
    assert message.endswith(' (did you mean "load_time"?)')


def test_the_first_study_is_whole():
    """13 forms by 6 figures, some of them checked against the page's table by hand."""
    folder = files("experiments") / "storage_matrix"
    spec = read_toml(folder / "experiment.toml", "experiment.toml")
    dialects = ("postgresql", "greenplum", "opengauss", "duckdb", "zheap")
    factors = (
        *read_factors(spec.section("factors"), dialects, in_place=False),
        *read_factors(spec.section("in_place"), dialects, in_place=True),
    )
    declared = Declared(factors, ["load", "size", "group_by", "lookup", "index_build"], ["published"])
    found = read_published(read_toml(folder / "published.toml", "published.toml"), declared)
    assert len(found) == 13 * 6
    by_key = {(one.step, one.metric, tuple(one.levels.values())): one.value for one in found}
    assert by_key["size", "total_bytes", ("heap", "btree(c2)")] == 44 * 1024**3
    assert by_key["load", "load_time", ("heap", "none")] == 120.0
    assert by_key["lookup", "query_time", ("ao_row", "8kB", "none", "none")] == 0.096
    assert by_key["lookup", "query_time", ("ao_row", "8kB", "none", "btree(c2)")] == 0.032
    assert by_key["index_build", "index_build_time", ("ao_row", "2MB", "zlib:9", "btree(c2)")] == 1.67
    assert by_key["group_by", "query_time", ("ao_column", "8kB", "zlib:9", "none")] == 0.122
    assert by_key["size", "total_bytes", ("ao_column", "2MB", "zlib:9", "btree(c2)")] == 593 * 1024**2
    assert by_key["load", "load_time", ("ao_column", "8kB", "none", "none")] == 92.6
