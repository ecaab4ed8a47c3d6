"""The vocabulary of experiment.toml and targets.toml, as data: kinds of step, launchers, options, column types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, get_args

from experiments.model import Scope

OptionType: TypeAlias = "type[Any]"
SCOPES: tuple[str, ...] = get_args(Scope)


@dataclass(frozen=True)
class Option:
    """A key that may stand beside another: the type of its value, what it is when absent, and what it is for.

    ``many`` takes a list of such values too. ``changes_content`` is false where more of it only means more samples
    of the same thing, so that cells stay comparable.
    """

    type: OptionType
    default: Any
    doc: str
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    many: bool = False
    required: bool = False
    changes_content: bool = True


@dataclass(frozen=True)
class StepKind:
    """A kind of step: which cells of a block run it unless ``at`` says otherwise, and its options."""

    at: Scope
    doc: str
    options: Mapping[str, Option] = field(default_factory=dict)


SQL = Option(str, None, "the file below sql/, without .sql; the step's name when absent")

COMMON: Mapping[str, Option] = {
    "at": Option(str, None, "which cells of a block run the step", choices=SCOPES),
    "dialects": Option(list, (), "run the step only on these dialects and their descendants"),
}

STEP_KINDS: Mapping[str, StepKind] = {
    "create": StepKind("load", "create the table in the storage form that the levels ask for", {"sql": SQL}),
    "load": StepKind("load", "load the table; timed to commit and to durable", {"sql": SQL}),
    "vacuum": StepKind("load", "set hint bits and visibility, so that no timed query pays for them"),
    "analyze": StepKind("load", "gather the optimizer's statistics"),
    "query": StepKind(
        "every",
        "time a query, keep every sample, take its plan in a pass of its own",
        {
            "sql": SQL,
            "repeats": Option(int, 3, "timed repetitions", minimum=1, changes_content=False),
            "warmups": Option(int, 1, "repetitions before them, marked as warm-ups", minimum=0),
            "digest": Option(bool, True, "all cells must give the same result"),
            "cache": Option(str, "hot", "the state of the cache before it", choices=("hot", "restarted", "cold")),
        },
    ),
    "index": StepKind(
        "change",
        "drop the index of the level before, build the one of this level",
        {"factor": Option(str, "index", "the in-place factor whose level is the index")},
    ),
    "size": StepKind("every", "read the table's size, split by part"),
}

# What SQL of an experiment may name beside its parameters, values, factors and the options of the step.
PLACEHOLDERS: Mapping[str, str] = {
    "table": "the cell's table",
    "columns": "its column definitions, as the dialect spells them",
    "storage": "the storage clause of the cell's levels",
    "source": "the table with the rows, made once per target",
}

# Portable types and how many numbers may stand in parentheses. No floats: their digests differ between engines.
COLUMN_TYPES: Mapping[str, tuple[int, ...]] = {
    "smallint": (0,),
    "integer": (0,),
    "bigint": (0,),
    "numeric": (0, 1, 2),
    "text": (0,),
    "char": (1,),
    "varchar": (0, 1),
    "boolean": (0,),
    "date": (0,),
    "timestamp": (0,),
    "bytea": (0,),
}


@dataclass(frozen=True)
class LauncherKind:
    """How a server comes to be there, the dialect to expect where the target does not say, and its options."""

    dialect: str
    doc: str
    options: Mapping[str, Option] = field(default_factory=dict)


# A dsn target says where its connection is to be found in exactly one of these ways.
DSN_SOURCES = ("service", "url_env", "prefect_block", "url")

TARGET_KEYS: Mapping[str, Option] = {
    "launcher": Option(str, None, "how the server comes to be there", required=True),
    "dialect": Option(str, None, "what the engine speaks, until it is asked"),
    "summary": Option(str, "", "one line for people"),
    "exclusive": Option(bool, False, "nobody else works there: CHECKPOINT, restarts and cache drops are allowed"),
}

LAUNCHED: Mapping[str, Option] = {
    "os_user": Option(str, None, "the OS user that the server runs as when we are root"),
    "settings": Option(dict, None, "server settings by name"),
}

LAUNCHERS: Mapping[str, LauncherKind] = {
    "local": LauncherKind(
        "postgresql",
        "start a server from a bin directory of any PostgreSQL-family build",
        {
            "bin": Option(
                str, None, '"embedded", or a bin directory; of several the first that exists', many=True, required=True
            ),
            **LAUNCHED,
        },
    ),
    "file": LauncherKind(
        "duckdb",
        "keep DuckDB files in a directory",
        {"path": Option(str, None, "a directory on the disk to be measured; beside launched servers when absent")},
    ),
    "greenplum": LauncherKind(
        "greenplum6",
        "start a coordinator and segments from an installed build",
        {
            "gphome": Option(str, None, "the build; of several the first that exists", many=True, required=True),
            "segments": Option(int, 2, "primary segments", minimum=1),
            **LAUNCHED,
        },
    ),
    "opengauss": LauncherKind(
        "opengauss",
        "start an openGauss server from an installed build",
        {
            "gausshome": Option(str, None, "the build; of several the first that exists", many=True, required=True),
            **LAUNCHED,
        },
    ),
    "dsn": LauncherKind(
        "postgresql",
        "connect to a server that is already running",
        {
            "service": Option(str, None, "a service of libpq's service file"),
            "url_env": Option(str, None, "the environment variable that holds the URL"),
            "prefect_block": Option(str, None, "the name of a Prefect Secret block that holds the URL"),
            "url": Option(str, None, "the URL, without a password"),
        },
    ),
}
