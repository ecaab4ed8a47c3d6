"""experiments/README.md and the code name the same things, and every example on the page works."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

import duckdb
import pytest

from experiments import columns, declaration, expectations, language, parameters, published, series
from experiments.language import COMMON, LAUNCHERS, STEP_KINDS, Option
from experiments.metrics import METRICS
from experiments.model import Outcome, Severity
from experiments.reading import read_toml
from experiments.spec import load_experiment
from experiments.targets import load_targets
from experiments.template import Fragment, render
from experiments.units import units
from tasks.dialects.dialect import STORAGE_FACTORS
from tasks.dialects.registry import dialect_named, lineages
from tasks.steps.query import PATIENCE
from warehouse.loading import create_schema

SHIPPED = Path(__file__).parents[2] / "experiments"
PAGE = SHIPPED / "README.md"
WORDS = {str: "text", int: "integer", bool: "boolean", list: "list", dict: "table"}
NUMBERS = {(0,): "none", (1,): "one", (0, 1): "none or one", (0, 1, 2): "none, one or two"}
# What a fragment of an experiment leaves out.
REST = {
    "question": 'question = "What does it cost?"',
    "parameters": "[parameters]\nrows = 1000\ndata_seed = 1",
    "table": '[table]\nkey = "id"\nrow_bytes = 50\n[table.columns]\nid = "integer"\nc1 = "text"\nc2 = "integer"',
    "steps": '[[steps]]\ncreate = "create"',
}


@dataclass
class Block:
    """A fenced example; ``place`` is the file that a comment in its first line names."""

    language: str
    text: str

    @property
    def place(self) -> str:
        found = re.match(r"(?:#|--) (\S+\.(?:toml|sql))(?:, continued)?\n", self.text)
        return found[1] if found else ""


@dataclass
class Part:
    """What stands between one heading and the next."""

    level: int
    title: str
    text: str = ""
    blocks: list[Block] = field(default_factory=list)

    def tables(self, header: str) -> list[list[dict[str, str]]]:
        """The rows of every table whose first column has this header, by header."""
        found = []
        for lines in re.findall(r"(?:^\|.*\n)+", self.text, re.MULTILINE):
            head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines.splitlines())
            if head[0] == header:
                found.append([dict(zip(head, row, strict=True)) for row in rows])
        return found

    def table(self, header: str) -> list[dict[str, str]]:
        """The rows of the one such table."""
        (rows,) = self.tables(header)
        return rows


def read_parts(text: str) -> Iterator[Part]:
    part, block = Part(0, ""), None
    for line in text.splitlines(keepends=True):
        if line.startswith("```"):
            if block is None:
                block = Block(line[3:].strip(), "")
                part.blocks.append(block)
            else:
                block = None
        elif block is not None:
            block.text += line
        elif heading := re.match(r"(#+) (.+)", line):
            yield part
            part = Part(len(heading[1]), heading[2])
        else:
            part.text += line
    yield part


PARTS = list(read_parts(PAGE.read_text(encoding="utf-8")))
BLOCKS = [block for part in PARTS for block in part.blocks]


def part(title: str) -> Part:
    (found,) = (one for one in PARTS if one.title == title)
    return found


def below(title: str, level: int) -> dict[str, Part]:
    """The parts of that level below a heading, by the names in their titles."""
    start = PARTS.index(part(title))
    found = {}
    for one in PARTS[start + 1 :]:
        if one.level <= PARTS[start].level:
            break
        if one.level == level:
            found[one.title.strip("`")] = one
    return found


def names(rows: list[dict[str, str]], header: str) -> list[str]:
    """The names in a column; a row without one goes on with the row above."""
    return [row[header].strip("`{}") for row in rows if row[header]]


def quoted(text: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`", text))


def same(told: list[str], known: object) -> bool:
    """Whether the page tells every known name, once, and no other."""
    assert sorted(told) == sorted(known)
    return True


KINDS = below("Kinds of step", 3)
LAUNCHED = below("Launchers", 4)


def test_top_level_keys():
    assert same(names(part("Keys of experiment.toml").table("key"), "key"), declaration.KEYS)


@pytest.mark.parametrize(
    ("title", "header", "known"),
    [
        ("The table and its rows", "key of `[table]`", columns.KEYS),
        ("Parameters and profiles", "key of a parameter", parameters.KEYS),
        ("`series`", "key of a round", series.ROUND_KEYS),
        ("Files for COPY", "key of a file", ("sql", "format")),
        ("Expectations", "key of `[[expect]]`", expectations.KEYS),
        ("Published figures", "key of `[[figures]]`", published.KEYS),
        ("Published figures", "key of a column", ("step", "metric", "levels", "round")),
        ("Promises and outcomes", "outcome", get_args(Outcome)),
        ("Factors of storage", "factor", STORAGE_FACTORS),
    ],
)
def test_keys_and_words(title, header, known):
    assert same(names(part(title).table(header), header), known)


def test_severities():
    (row,) = (
        row for row in part("Expectations").table("key of `[[expect]]`") if row["key of `[[expect]]`"] == "`severity`"
    )
    assert quoted(row["meaning"]) == set(get_args(Severity))


def test_kinds_of_step():
    assert same(list(KINDS), STEP_KINDS)


def spelled(option: Option) -> tuple[str, str]:
    """Type and default of an option as the page has them; a default of nothing is told in words."""
    kind = WORDS[option.type] + (" or list" if option.many else "") + (" or name" if option.by_name else "")
    if option.required:
        return kind, "required"
    if option.default in (None, (), {}):
        return kind, ""
    text = str(option.default).lower() if isinstance(option.default, bool) else option.default
    return kind, f'`"{text}"`' if isinstance(option.default, str) else f"`{text}`"


def check_options(rows: list[dict[str, str]], header: str, known: Mapping[str, Option]) -> None:
    assert same(names(rows, header), known)
    for row in rows:
        name = row[header].strip("`")
        kind, default = spelled(known[name])
        assert (name, row["type"]) == (name, kind)
        if default:
            assert (name, row["default"]) == (name, default)
        else:
            assert "`" not in row["default"], name
            assert row["default"] != "required", name


def test_options_of_every_step():
    common = part("Options of every step")
    check_options(common.tables("option")[0], "option", COMMON)
    assert same(names(common.tables("`at`")[0], "`at`"), COMMON["at"].choices)


@pytest.mark.parametrize("kind", STEP_KINDS)
def test_options_of_a_kind(kind):
    options = STEP_KINDS[kind].options
    check_options(KINDS[kind].table("option") if options else [], "option", options)


@pytest.mark.parametrize("kind", STEP_KINDS)
def test_choices_of_a_kind(kind):
    options = STEP_KINDS[kind].options.values()
    told = "\n".join(line for line in KINDS[kind].text.splitlines() if line.startswith("|"))
    known = {choice for option in options for choice in option.choices}
    texts = {option.default for option in options if isinstance(option.default, str)}
    assert set(re.findall(r'`"([^"]*)"`', told)) == known | texts


@pytest.mark.parametrize("kind", STEP_KINDS)
def test_where_a_kind_runs(kind):
    assert re.findall(r"Runs\s+at\s+`(\w+)`", KINDS[kind].text) == [STEP_KINDS[kind].at]


def test_when_a_query_that_does_not_settle_stops():
    assert f"after {PATIENCE} times its repetitions" in KINDS["query"].text


METRIC_ROWS = part("Metrics").table("metric")


def test_metrics():
    assert same(names(METRIC_ROWS, "metric"), METRICS)
    told = {row["metric"].strip("`"): (row["unit"], row["better"]) for row in METRIC_ROWS}
    assert told == {metric.name: (metric.unit, metric.direction) for metric in METRICS.values()}


def test_metrics_are_recorded_by_steps_that_there_are():
    assert {kind for row in METRIC_ROWS for kind in quoted(row["recorded by"])} <= STEP_KINDS.keys()


@pytest.mark.parametrize("kind", STEP_KINDS.keys() - {"measure"})
def test_a_kind_says_what_it_records(kind):
    (told,) = re.findall(r"Records\s+([^.]*)\.", KINDS[kind].text)
    listed = {row["metric"].strip("`") for row in METRIC_ROWS if kind in quoted(row["recorded by"])}
    assert quoted(told) & METRICS.keys() == listed


def test_placeholders():
    common, in_series, declared = part("Placeholders").tables("placeholder")
    assert same(names(common, "placeholder"), language.PLACEHOLDERS)
    assert same(names(in_series, "placeholder"), language.SERIES_PLACEHOLDERS)
    assert all("..." in row["placeholder"] for row in declared)


def test_column_types():
    rows = part("Column types").table("type")
    told = {row["type"].strip("`"): row["numbers in parentheses"] for row in rows}
    assert told == {name: NUMBERS[numbers] for name, numbers in language.COLUMN_TYPES.items()}
    for row in rows:
        assert columns.TYPE.fullmatch(row["example"].strip("`"))["name"] == row["type"].strip("`")


def test_dialects():
    rows = part("Dialects").table("dialect")
    told = {row["dialect"].strip("`"): row["ancestors, nearest first"] for row in rows}
    assert told == {name: ", ".join(f"`{one}`" for one in lineage[1:]) for name, lineage in lineages().items()}


def test_units_of_figures():
    told = {
        row["unit of the metric"].strip("`"): quoted(row["units of a figure"])
        for row in part("Published figures").table("unit of the metric")
    }
    known = units(binary=False)
    assert told == {base: {unit for unit, (its, _) in known.items() if its == base} for base, _ in known.values()}


def test_launchers():
    assert same(list(LAUNCHED), LAUNCHERS)
    check_options(part("Targets").table("key of every target"), "key of every target", language.TARGET_KEYS)


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_options_of_a_launcher(launcher):
    check_options(LAUNCHED[launcher].table("option"), "option", LAUNCHERS[launcher].options)
    assert re.findall(r"Dialect\s+`(\w+)`", LAUNCHED[launcher].text) == [LAUNCHERS[launcher].dialect]


@pytest.fixture(scope="module")
def empty_warehouse():
    with duckdb.connect() as connection:
        create_schema(connection)
        yield connection


def test_what_a_frame_may_read_is_there(empty_warehouse):
    there: dict[str, set[str]] = {}
    for relation, column in empty_warehouse.execute(
        "select table_name, column_name from duckdb_columns() where not internal"
    ).fetchall():
        there.setdefault(relation, set()).add(column)
    for row in part("What a frame may read").table("relation"):
        assert quoted(row["columns that are used most"]) <= there[row["relation"].strip("`")]


def test_macros_are_there(empty_warehouse):
    query = "select function_name, parameters from duckdb_functions() where not internal"
    there = {f"{name}({', '.join(given)})" for name, given in empty_warehouse.execute(query).fetchall()}
    assert {row["macro"].strip("`") for row in part("What a frame may read").table("macro")} <= there


def test_links_within_the_page():
    targets = {re.sub(r"[^\w\- ]", "", one.title.lower()).replace(" ", "-") for one in PARTS if one.title}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE.read_text(encoding="utf-8"))) <= targets


def whole_experiments() -> dict[str, dict[str, str]]:
    """The experiments of which the page has every file, by name and file."""
    found: dict[str, dict[str, str]] = {}
    for block in BLOCKS:
        name, _, file = block.place.partition("/")
        if file and name != "sql" and file != "published.toml":
            files = found.setdefault(name, {})
            files[file] = files.get(file, "") + block.text
    return found


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", whole_experiments())
def test_whole_experiments_load(tmp_path, name):
    experiment = load_experiment(write(tmp_path / name, whole_experiments()[name]), lineages())
    assert experiment.sql
    assert experiment.expectations


def test_the_first_experiment_loads_without_what_comes_later(tmp_path):
    first = {block.place.partition("/")[2]: block.text for block in part("A first experiment").blocks if block.place}
    assert len(first) == 5
    assert load_experiment(write(tmp_path / "fillfactor", first), lineages()).expectations == ()


@pytest.fixture(params=["embedded", "duck"])
def session(request):
    """The two engines that the first experiment runs on unless one says otherwise."""
    return request.getfixturevalue(request.param)


def test_the_sql_of_the_first_experiment_runs(tmp_path, session, request):
    experiment = load_experiment(write(tmp_path / "fillfactor", whole_experiments()["fillfactor"]), lineages())
    dialect = dialect_named("duckdb" if request.node.callspec.params["session"] == "duck" else "postgresql")
    levels = {} if dialect.name == "duckdb" else {"fillfactor": 60}
    values = {
        **experiment.parameters,
        "table": Fragment("the_table"),
        "source": Fragment("the_source"),
        "columns": Fragment(dialect.columns(experiment.columns, levels)),
        "storage": Fragment(dialect.storage(levels, experiment.key)),
    }
    for name in ("source", *(step.options["sql"] for step in experiment.steps if "sql" in step.options)):
        rows = session.rows(render(experiment.sql[f"{name}.sql"], values, name))
    assert rows == [(1000,)]
    for table in ("the_table", "the_source"):
        session.execute(f"drop table {table}")


@pytest.mark.parametrize("name", whole_experiments())
def test_frames_of_whole_experiments_run(tmp_path, empty_warehouse, name):
    experiment = load_experiment(write(tmp_path / name, whole_experiments()[name]), lineages())
    for expectation in experiment.expectations:
        assert empty_warehouse.execute(render(expectation.promises, experiment.parameters, "promises")).fetchone() == (
            0,
        )
        frame = render(experiment.sql[f"expect/{expectation.frame}.sql"], experiment.parameters, "frame")
        read = {value for key, value in expectation.check.items() if key.startswith("column")}
        assert read <= {column[0] for column in empty_warehouse.execute(frame).description}


def test_other_queries_run(empty_warehouse):
    others = [block.text for block in BLOCKS if block.language == "sql" and not block.place]
    assert others
    for query in others:
        empty_warehouse.execute(query)


def fragments() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Pieces of an experiment with the SQL files that follow them: a title for the test, the piece, the files."""
    for one in PARTS:
        pieces: list[tuple[str, dict[str, str]]] = []
        for block in one.blocks:
            if block.language == "toml" and not block.place:
                pieces.append((block.text, {}))
            elif block.place.startswith("sql/"):
                pieces[-1][1][block.place] = block.text
        yield from ((f"{one.title} {number}", *piece) for number, piece in enumerate(pieces, 1))


@pytest.mark.parametrize(("text", "sql"), [piece[1:] for piece in fragments()], ids=[piece[0] for piece in fragments()])
def test_fragments_load(tmp_path, text, sql):
    given = tomllib.loads(text)
    scalars, tables = (
        [rest for key, rest in REST.items() if key not in given and ("[" in rest) is is_table]
        for is_table in (False, True)
    )
    folder = write(tmp_path / "piece", {"experiment.toml": "\n".join([*scalars, text, *tables]), **sql})
    root = read_toml(folder / "experiment.toml", "experiment.toml")
    declared = declaration.read_declaration("piece", root, frozenset(lineages()))
    uses = {f"sql/{use.name}.sql" for use in declaration.sql_uses(root, declared)}
    write(folder, dict.fromkeys(uses - sql.keys(), "select 1"))
    assert load_experiment(folder, lineages())


def test_published_figures_load(tmp_path):
    (block,) = (block for block in BLOCKS if block.place.endswith("/published.toml"))
    name = block.place.partition("/")[0]
    shutil.copytree(SHIPPED / name, tmp_path / name)
    (tmp_path / name / "published.toml").write_text(block.text, encoding="utf-8")
    assert len(load_experiment(tmp_path / name, lineages()).published) == 4


TARGETS = [block.text for block in BLOCKS if block.place == "targets.toml"]


@pytest.mark.parametrize("text", TARGETS)
def test_targets_load(tmp_path, text):
    (tmp_path / "targets.toml").write_text(text, encoding="utf-8")
    assert tomllib.loads(text).keys() <= load_targets(tmp_path, {}, (), lineages()).known.keys()


def test_every_toml_example_is_loaded():
    places = {block.place for block in BLOCKS if block.language == "toml"} - {"", "targets.toml"}
    assert places == {
        *(f"{name}/experiment.toml" for name in whole_experiments()),
        "storage_matrix/published.toml",
    }
    assert "storage_matrix" not in whole_experiments()
