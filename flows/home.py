"""Where a user's experiments, ledger and warehouse lie."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from experiments.model import UserError

VARIABLE = "STORAGE_MATRIX_HOME"
FOLDER = ".storage-matrix"


def find_home(option: Path | str | None, environ: Mapping[str, str]) -> Path:
    """``--home``, else the variable, else a folder of the working directory; absolute, and perhaps not there yet.

    Raises ``UserError`` where it is there, or may be, and cannot be read.
    """
    if option is not None and not str(option):
        raise UserError("--home is empty; name a directory, or leave it out")
    home = Path(option or environ.get(VARIABLE) or FOLDER).absolute()
    try:
        home.stat()
    except (FileNotFoundError, NotADirectoryError):
        return home
    except OSError as error:
        raise _refused(home, f"cannot be reached ({error.strerror})") from None
    if not os.access(home, os.R_OK | os.X_OK):
        raise _refused(home, "cannot be read")
    return home


def make_home(home: Path) -> Path:
    """Make the home where it is missing; raises ``UserError`` where it cannot be made or written."""
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(home, f"cannot be made ({error.strerror})") from None
    if not os.access(home, os.W_OK | os.X_OK):
        raise _refused(home, "cannot be written")
    return home


def report_file(home: Path, run_id: str) -> Path:
    """Where the page of a run is written; its folder is made."""
    folder = make_home(home / "reports")
    return folder / f"{run_id}.html"


def _refused(home: Path, why: str) -> UserError:
    return UserError(f"home {home}: {why}; choose another with --home DIR or ${VARIABLE}")
