"""The temporary Prefect API, played by programs that say much and do little."""

from __future__ import annotations

import sys

import pytest

from experiments.model import UserError
from flows.prefect_api import TemporaryApi


class Played(TemporaryApi):
    """A Python program in the place of the API."""

    def __init__(self, program: str) -> None:
        self.program = program
        super().__init__()

    def _command(self) -> list[str]:
        return [sys.executable, "-c", self.program]


@pytest.fixture(autouse=True)
def no_api(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the API sets is taken back, and nobody waits long."""
    monkeypatch.setenv("PREFECT_API_URL", "")
    monkeypatch.setattr("flows.prefect_api.STARTUP_SECONDS", 20)


def test_tracebacks_of_any_length_do_not_block_it_and_the_last_line_is_told() -> None:
    program = "import sys; sys.stderr.write('x' * 1_000_000 + '\\n' + 'no such table\\n'); sys.exit(3)"
    with Played(program) as api, pytest.raises(UserError) as error:
        api.wait()
    assert str(error.value) == "the temporary Prefect API ended at once: no such table"


def test_one_that_ends_without_a_word_is_told_by_its_exit_code() -> None:
    with Played("raise SystemExit(3)") as api, pytest.raises(UserError, match=r"ended at once: exit code 3$"):
        api.wait()
