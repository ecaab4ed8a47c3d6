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

    ``many`` takes a list of such values too. ``by_name`` takes the name of a factor or parameter instead, whose value
    in the cell it then is. ``changes_content`` is false where more of it only means more samples of the same thing, so
    that cells stay comparable.
    """

    type: OptionType
    default: Any
    doc: str
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    many: bool = False
    by_name: bool = False
    required: bool = False
    changes_content: bool = True

    def names_value(self, value: object) -> bool:
        """Whether ``value`` is the name of a factor or parameter."""
        return self.by_name and isinstance(value, str) and value not in self.choices


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
    "when": Option(dict, {}, "run the step only in cells with these levels, by factor: a level or a list of them"),
}

STEP_KINDS: Mapping[str, StepKind] = {
    "create": StepKind("load", "create the table in the storage form that the levels ask for", {"sql": SQL}),
    "load": StepKind("load", "load the table; timed to commit and to durable", {"sql": SQL}),
    "copy": StepKind(
        "load",
        "COPY a file of [files] into the table, emptied before; timed to commit and to durable",
        {
            "file": Option(str, None, "which of [files]; the only one when absent"),
            "via": Option(
                str,
                "server",
                "the server reads the file itself, or the client sends it (COPY FROM STDIN)",
                choices=("server", "client"),
            ),
            "truncate": Option(
                str,
                "before",
                "empty the table before the clock starts, or inside the loading transaction, whose WAL wal_level ="
                " minimal can then do without",
                choices=("before", "inside"),
            ),
            "repeats": Option(
                int, 1, "timed repetitions, each into the emptied table", minimum=1, changes_content=False
            ),
        },
    ),
    "vacuum": StepKind(
        "load",
        "set hint bits and visibility, so that no timed query pays for them; or, in a series, what is measured",
        {
            "mode": Option(
                str,
                "VACUUM",
                "which kind; autovacuum is let loose on the table until it has been there",
                choices=("none", "VACUUM", "VACUUM FULL", "autovacuum"),
                by_name=True,
            )
        },
    ),
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
            "stable_within": Option(
                int,
                0,
                "percent: instead of warm-ups, keep the first run apart (it sets hint bits after a change) and"
                " go on until the last `repeats` times lie that close together; 0 is not to",
                minimum=0,
            ),
            "explain": Option(bool, True, "take its plan in a pass of its own"),
        },
    ),
    "index": StepKind(
        "change",
        "drop the index of the level before, build the one of this level",
        {"factor": Option(str, "index", "the in-place factor whose level is the index")},
    ),
    "size": StepKind("every", "read the table's size, split by part"),
    "statement": StepKind("load", "time any SQL, with its WAL, CPU and bytes", {"sql": SQL}),
    "update": StepKind(
        "every",
        "time SQL that changes the table and leaves the same rows in it; in a series they are checked once its rounds"
        " of that kind are over, since the check reads the whole table",
        {"sql": SQL},
    ),
    "measure": StepKind(
        "every",
        "ask the engine for values of its own: the SQL gives rows of metric and value",
        {
            "sql": SQL,
            "metrics": Option(list, (), "the metrics that the SQL gives", required=True),
            "extensions": Option(
                list, (), "created where the server has them; without one the metrics are missing, with the reason"
            ),
        },
    ),
    "series": StepKind(
        "every",
        "rounds of other steps on the same table: what each does, then what is looked at; the rounds of a cell are"
        " counted from 0 through all its series",
        {
            "rounds": Option(
                list,
                (),
                "tables of `do` (a step or a list of them; none is to look only), `times`"
                " (a number, factor or parameter) and `watch`",
                required=True,
            ),
            "watch": Option(list, (), "the steps that look at the table after each round"),
        },
    ),
    "children": StepKind(
        "load",
        "make a family of tables below the cell's table, like it and with its indexes, and drop it again in batches;"
        " its n-th member from 0 is the table's name, _ and n",
        {
            "count": Option(int, 1, "how many", minimum=1, by_name=True),
            "per_batch": Option(
                int, 64, "how many in one transaction: each takes several locks until it ends", minimum=1
            ),
            "readers": Option(
                int,
                1,
                "how many sessions read all of them at once; the server must have locks for that",
                minimum=1,
                by_name=True,
            ),
        },
    ),
    "pgbench": StepKind(
        "every",
        "run the target's own pgbench with sql/<name>.sql as its script, which may have meta-commands",
        {
            "sql": SQL,
            "clients": Option(int, 1, "concurrent sessions", minimum=1, by_name=True),
            "threads": Option(
                int, 0, "threads of pgbench; 0 is one for each client, up to one for each core", minimum=0, by_name=True
            ),
            "seconds": Option(int, 10, "how long", minimum=1, by_name=True),
            "progress": Option(
                int, 1, "seconds between the values that are kept as rounds; 0 is to keep none", minimum=0, by_name=True
            ),
            "protocol": Option(str, "prepared", "of its queries", choices=("simple", "extended", "prepared")),
            "max_failed_percent": Option(int, 0, "a larger share of failed transactions fails the cell", minimum=0),
        },
    ),
    "cleanup": StepKind(
        "every",
        "time the work that a pgbench step has put off, and count it in that step's tps_including_cleanup",
        {"sql": SQL, "after": Option(str, None, "the pgbench step", required=True)},
    ),
}

# What SQL of an experiment may name beside its parameters, values, factors and the options of the step.
PLACEHOLDERS: Mapping[str, str] = {
    "table": "the cell's table",
    "columns": "its column definitions, as the dialect spells them",
    "storage": "the storage clause of the cell's levels",
    "source": "the table with the rows, made once per target",
    "schema": "the schema of the cell's table, where everything of ours lies",
    "table_name": "the cell's table as a text, for functions such as to_regclass",
    "schema_name": "that schema as a text",
}
# What SQL of a step that a series runs may name too.
SERIES_PLACEHOLDERS: Mapping[str, str] = {
    "round": "the number of the round in the cell, from 0",
    "turn": "how often the series has done this, this time included, from 1",
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
