"""Where the home is looked for, and what is said of one that cannot be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.model import UserError
from flows.home import find_home, make_home


def test_the_option_comes_before_the_variable_and_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    environ = {"STORAGE_MATRIX_HOME": "elsewhere"}
    assert find_home(tmp_path / "given", environ) == tmp_path / "given"
    assert find_home(None, environ) == tmp_path / "elsewhere"
    assert find_home(None, {}) == tmp_path / ".storage-matrix"


def test_a_home_is_made_with_its_parents_and_kept_as_it_is(tmp_path: Path) -> None:
    home = tmp_path / "für uns" / "home"
    assert make_home(home) == home
    (home / "ledger").mkdir()
    assert make_home(home) == home
    assert (home / "ledger").is_dir()


def test_a_home_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError) as refused:
        make_home(tmp_path / "file" / "home")
    assert str(refused.value) == (
        f"home {tmp_path}/file/home: cannot be made (Not a directory); "
        "choose another with --home DIR or $STORAGE_MATRIX_HOME"
    )
    assert refused.value.exit_code == 2


def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").touch()
    with pytest.raises(UserError, match=r"home .*/home: cannot be made \(File exists\); choose another"):
        make_home(tmp_path / "home")


def test_a_home_that_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may write everywhere, so the answer of the system is played here.
    monkeypatch.setattr("flows.home.os.access", lambda path, mode: False)
    with pytest.raises(UserError) as refused:
        make_home(tmp_path)
    assert str(refused.value) == (
        f"home {tmp_path}: cannot be written; choose another with --home DIR or $STORAGE_MATRIX_HOME"
    )


def test_a_home_that_cannot_be_reached_is_refused(tmp_path: Path) -> None:
    home = tmp_path / ("x" * 300)
    with pytest.raises(UserError) as refused:
        find_home(home, {})
    assert str(refused.value) == (
        f"home {home}: cannot be reached (File name too long); choose another with --home DIR or $STORAGE_MATRIX_HOME"
    )


def test_a_home_that_cannot_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.home.os.access", lambda path, mode: False)
    with pytest.raises(UserError, match=r"home .*: cannot be read; choose another with --home DIR"):
        find_home(tmp_path, {})
