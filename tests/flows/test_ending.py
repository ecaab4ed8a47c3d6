"""Every end of a command is one line and an exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from experiments.model import UserError
from flows.ending import ended


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    former = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, former)


def raising(error: BaseException) -> Callable[[], int]:
    def command() -> int:
        raise error

    return command


def test_what_the_command_returns_is_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(lambda: 3, debug=False) == 3
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "line", "code"),
    [
        (UserError('unknown target "x"'), 'storage-matrix: unknown target "x"', 2),
        (UserError("target db: cannot be reached", 4), "storage-matrix: target db: cannot be reached", 4),
        (UserError("two\n  lines"), "storage-matrix: two lines", 2),
        (KeyboardInterrupt(), "storage-matrix: interrupted", 130),
        (
            KeyError("nope"),
            "storage-matrix: a mistake of ours, not yours: KeyError: 'nope'; --debug shows where",
            70,
        ),
    ],
)
def test_an_error_is_one_line(error: BaseException, line: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(raising(error), debug=False) == code
    assert capsys.readouterr() == ("", f"{line}\n")


def test_debug_shows_the_traceback_and_ends_alike(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(raising(UserError("unknown target")), debug=True) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("Traceback (most recent call last):\n")
    assert output.err.endswith("\nstorage-matrix: unknown target\n")


def test_sigterm_is_like_ctrl_c(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        return 0

    assert ended(command, debug=False) == 130
    assert capsys.readouterr() == ("", "storage-matrix: interrupted\n")


def test_duckdb_tells_of_an_interrupt_in_its_own_way(capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(raising(RuntimeError("Query interrupted")), debug=False) == 130
    assert capsys.readouterr().err == "storage-matrix: interrupted\n"


@pytest.mark.parametrize(
    ("shell", "out"),
    [("{command} >&-", ""), ("PYTHONIOENCODING=ascii {command}", "\\xfc\n")],
)
def test_standard_output_that_is_closed_or_lacks_letters(shell: str, out: str, tmp_path: Path) -> None:
    code = "import sys; from flows.ending import ended; sys.exit(ended(lambda: print(chr(252)) or 0, debug=False))"
    line = shell.format(command=f"{sys.executable} -c '{code}'")
    told = subprocess.run(["sh", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout, told.stderr) == (0, out, "")
