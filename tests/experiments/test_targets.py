"""Named places to run: where they are declared, what is refused, and that no password is ever shown."""

from __future__ import annotations

import copy
import pickle

import pytest

from experiments.language import LAUNCHERS
from experiments.model import Target, UserError
from experiments.targets import load_targets

DIALECTS = ("postgresql", "greenplum6", "opengauss", "zheap", "duckdb")
SECRET = "postgresql://me:hush@db.example/bench"
NAME_RULE = "a target's name has small letters, digits, _ and -, starts with a letter and has at most 63 characters"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty home at a relative path, as messages show it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "home").mkdir()
    return "home"


@pytest.fixture
def declare(home, tmp_path):
    """Load the targets with this text in the home's targets.toml."""

    def load(text):
        (tmp_path / "home" / "targets.toml").write_text(text)
        return load_targets(home, {}, [], DIALECTS).known

    return load


def test_shipped_targets(home):
    known = load_targets(home, {}, [], DIALECTS).known
    assert {name: (target.launcher, target.dialect, dict(target.options)) for name, target in known.items()} == {
        "embedded": ("local", "postgresql", {"bin": "embedded"}),
        "duckdb": ("file", "duckdb", {}),
        "greenplum": ("greenplum", "greenplum6", {"gphome": ("$GPHOME", "/usr/local/gpdb"), "segments": 2}),
        "opengauss": ("opengauss", "opengauss", {"gausshome": ("$OPENGAUSS_HOME", "/usr/local/opengauss")}),
        "zheap": ("local", "zheap", {"bin": ("$ZHEAP_BINDIR", "/usr/local/zheap/bin")}),
    }
    assert all(target.summary for target in known.values())


def test_own_targets(declare):
    known = declare(
        """
        [old]
        launcher = "local"
        bin = "/usr/lib/postgresql/15/bin"
        settings = { shared_buffers = "1GB", fsync = true }
        summary = "Debian's"
        [cluster]
        launcher = "dsn"
        dialect = "greenplum6"
        service = "bench"
        exclusive = true
        [plain]
        launcher = "dsn"
        url = "postgresql://me@db.example:5432/bench"
        """
    )
    assert known["old"] == Target(
        "old",
        "local",
        "postgresql",
        {"bin": "/usr/lib/postgresql/15/bin", "settings": {"shared_buffers": "1GB", "fsync": True}},
        summary="Debian's",
    )
    assert known["cluster"] == Target("cluster", "dsn", "greenplum6", {"service": "bench"}, exclusive=True)
    assert known["plain"].options == {"url": "postgresql://me@db.example:5432/bench"}


def test_targets_of_the_environment_name_their_variable(home):
    environ = {"STORAGE_MATRIX_TARGET_NIGHTLY": SECRET, "STORAGE_MATRIX_TARGET_UNSET": "", "STORAGE_MATRIX_HOME": "x"}
    targets = load_targets(home, environ, [], DIALECTS)
    assert targets.known["nightly"] == Target(
        "nightly",
        "dsn",
        "postgresql",
        {"url_env": "STORAGE_MATRIX_TARGET_NIGHTLY"},
        summary="given by STORAGE_MATRIX_TARGET_NIGHTLY",
    )
    assert "unset" not in targets.known


def test_targets_of_the_command_line_leave_their_url_to_the_secrets(home):
    targets = load_targets(home, {}, [f"mine={SECRET}?application_name=a=b"], DIALECTS)
    assert targets.known["mine"] == Target(
        "mine", "dsn", "postgresql", {"url_from": "argument"}, summary="given by --target"
    )
    assert dict(targets.secrets) == {"mine": f"{SECRET}?application_name=a=b"}


def test_secrets_stay_secret(home):
    targets = load_targets(home, {}, [f"mine={SECRET}"], DIALECTS)
    assert repr(targets.secrets) == "Secrets(1 hidden)"
    assert "hush" not in repr(targets)
    for write in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="secrets are not serialised: hand on the names of targets instead"):
            write(targets.secrets)


@pytest.mark.parametrize(
    ("url", "launcher", "dialect", "options"),
    [
        ("postgresql://db/bench", "dsn", "postgresql", {"url_from": "argument"}),
        ("postgresql+psycopg://db/bench", "dsn", "postgresql", {"url_from": "argument"}),
        ("postgres://db/bench", "dsn", "postgresql", {"url_from": "argument"}),
        ("duckdb:///fast disk", "file", "duckdb", {"path": "fast disk"}),
        ("duckdb:////mnt/fast", "file", "duckdb", {"path": "/mnt/fast"}),
        ("duckdb:fast", "file", "duckdb", {"path": "fast"}),
    ],
)
def test_the_scheme_says_launcher_and_dialect(home, url, launcher, dialect, options):
    target = load_targets(home, {}, [f"mine={url}"], DIALECTS).known["mine"]
    assert (target.launcher, target.dialect, target.options) == (launcher, dialect, options)


def test_pick(home):
    targets = load_targets(home, {}, [], DIALECTS)
    assert [target.name for target in targets.pick(["duckdb", "embedded"])] == ["duckdb", "embedded"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "embeded",
            '--target: unknown target "embeded"; known targets: duckdb, embedded, greenplum, opengauss, zheap '
            '(did you mean "embedded"?)',
        ),
        (SECRET, "--target: a URL needs a name: write NAME=URL"),
    ],
)
def test_unknown_targets(home, name, message):
    with pytest.raises(UserError) as told:
        load_targets(home, {}, [], DIALECTS).pick([name])
    assert str(told.value) == message


LAUNCHER_NAMES = "local, file, greenplum, opengauss, dsn"
WAYS = "needs exactly one of service, url_env, prefect_block, url, got"
PASSWORD = "holds a password; put the password in PGPASSFILE or name an environment variable with url_env"
DECLARED = {
    "no table": ('mine = "x"', 'mine: must be a table, got "x"'),
    "bad name": ('["my db"]\nlauncher = "file"', f"my db: not a name: {NAME_RULE}"),
    "no launcher": ("[mine]", "mine.launcher: is missing; it must be a text"),
    "unknown launcher": (
        '[mine]\nlauncher = "docker"',
        f'mine.launcher: unknown launcher "docker"; known launchers: {LAUNCHER_NAMES}',
    ),
    "unknown key": (
        '[mine]\nlauncher = "dsn"\nservise = "x"',
        "mine.servise: unknown key; known keys: dialect, exclusive, host, launcher, prefect_block, service, summary, url, "
        'url_env (did you mean "service"?)',
    ),
    "password as a key": (
        '[mine]\nlauncher = "dsn"\nservice = "x"\npassword = "hush"',
        "mine.password: unknown key; known keys: dialect, exclusive, host, launcher, prefect_block, service, summary, url, "
        "url_env",
    ),
    "unknown dialect": (
        '[mine]\nlauncher = "dsn"\nservice = "x"\ndialect = "greenplum"',
        'mine.dialect: unknown dialect "greenplum"; known dialects: duckdb, greenplum6, opengauss, postgresql, zheap '
        '(did you mean "greenplum6"?)',
    ),
    "exclusive of the wrong type": (
        '[mine]\nlauncher = "dsn"\nservice = "x"\nexclusive = "yes"',
        'mine.exclusive: must be true or false, got "yes"',
    ),
    "no bin": ('[mine]\nlauncher = "local"', "mine.bin: is missing; it must be a text"),
    "bin of nothing": ('[mine]\nlauncher = "local"\nbin = []', "mine.bin: is empty"),
    "bin of the wrong type": (
        '[mine]\nlauncher = "local"\nbin = ["/usr/bin", 15]',
        "mine.bin[1]: must be a text, got 15",
    ),
    "setting that is a list": (
        '[mine]\nlauncher = "local"\nbin = "embedded"\nsettings = { fsync = [] }',
        "mine.settings.fsync: must be a text, a number, true or false, got []",
    ),
    "no segments": (
        '[mine]\nlauncher = "greenplum"\ngphome = "/gp"\nsegments = 0',
        "mine.segments: must be at least 1, got 0",
    ),
    "no connection": ('[mine]\nlauncher = "dsn"', f"mine: {WAYS} none"),
    "two connections": (
        '[mine]\nlauncher = "dsn"\nservice = "x"\nurl_env = "X"',
        f"mine: {WAYS} service and url_env",
    ),
    "password in the URL": (f'[mine]\nlauncher = "dsn"\nurl = "{SECRET}"', f"mine.url: {PASSWORD}"),
    "careless password in the URL": (
        '[mine]\nlauncher = "dsn"\nurl = "postgresql://me:hu#sh@db/x"',
        f"mine.url: {PASSWORD}",
    ),
    "password in the query": (
        '[mine]\nlauncher = "dsn"\nurl = "postgresql://me@db/x?sslmode=require&pass%77ord=hush"',
        f"mine.url: {PASSWORD}",
    ),
    "connection string": (
        '[mine]\nlauncher = "dsn"\nurl = "host=db password=hush"',
        "mine.url: not a URL such as postgresql://host/database",
    ),
    "URL of another engine": (
        '[mine]\nlauncher = "dsn"\nurl = "mysql://db/x"',
        'mine.url: unknown URL scheme "mysql"; known schemes: postgresql, postgres, duckdb',
    ),
    "URL of another launcher": (
        '[mine]\nlauncher = "dsn"\nurl = "duckdb:///x"',
        'mine.url: is for launcher "file", not for "dsn"',
    ),
    "not TOML": ("[mine", "not a TOML file: Expected ']' at the end of a table declaration (at end of document)"),
}


@pytest.mark.parametrize(("text", "message"), DECLARED.values(), ids=DECLARED)
def test_mistakes_in_targets_toml(declare, text, message):
    with pytest.raises(UserError) as told:
        declare(text)
    assert str(told.value) == f"home/targets.toml: {message}"


def test_a_shipped_name_is_taken(declare):
    with pytest.raises(UserError) as told:
        declare('[embedded]\nlauncher = "file"')
    assert str(told.value) == (
        "target embedded is defined by experiments/targets.toml and by home/targets.toml; give one another name"
    )


GIVEN = {
    "no name": ({}, [SECRET], "--target: a URL needs a name: write NAME=URL"),
    "no name, = in the URL": ({}, [f"{SECRET}?a=b"], "--target: a URL needs a name: write NAME=URL"),
    "bad name": ({}, [f"My DB={SECRET}"], f'--target: "My DB" is not a name: {NAME_RULE}'),
    "twice": ({}, [f"mine={SECRET}", f"mine={SECRET}"], "--target: mine is given twice"),
    "taken": (
        {},
        [f"duckdb={SECRET}"],
        "target duckdb is defined by experiments/targets.toml and by --target; give one another name",
    ),
    "taken by the environment": (
        {"STORAGE_MATRIX_TARGET_MINE": SECRET},
        [f"mine={SECRET}"],
        "target mine is defined by the environment and by --target; give one another name",
    ),
    "no URL": ({}, ["mine=hush"], "--target mine: not a URL such as postgresql://host/database"),
    "no host part": ({}, ["mine=postgresql:hush"], "--target mine: not a URL such as postgresql://host/database"),
    "no directory": ({}, ["mine=duckdb:///"], "--target mine: names no directory; write duckdb:///path"),
    "unknown scheme": (
        {},
        ["mine=mysql://me:hush@db"],
        '--target mine: unknown URL scheme "mysql"; known schemes: postgresql, postgres, duckdb',
    ),
    "unknown scheme in the environment": (
        {"STORAGE_MATRIX_TARGET_MINE": "mysql://me:hush@db"},
        [],
        'STORAGE_MATRIX_TARGET_MINE: unknown URL scheme "mysql"; known schemes: postgresql, postgres, duckdb',
    ),
    "bad name in the environment": (
        {"STORAGE_MATRIX_TARGET_1": SECRET},
        [],
        f'STORAGE_MATRIX_TARGET_1: "1" is not a name: {NAME_RULE}',
    ),
}


@pytest.mark.parametrize(("environ", "extra", "message"), GIVEN.values(), ids=GIVEN)
def test_mistakes_on_the_command_line_and_in_the_environment(home, environ, extra, message):
    with pytest.raises(UserError) as told:
        load_targets(home, environ, extra, DIALECTS)
    assert str(told.value) == message
    assert "hush" not in message


def test_every_launcher_that_we_have_may_be_declared():
    from tasks.launchers import registry

    assert registry.LAUNCHERS.keys() <= LAUNCHERS.keys()
