"""What a command ends with: the exit code that scripts read."""

from __future__ import annotations

from collections.abc import Iterable

from experiments.model import CellResult, Verdict

ALL_WELL = 0
CLAIM_FAILED = 1
USAGE = 2
CELLS_FAILED = 3
OUR_BUG = 70
INTERRUPTED = 130
PIPE_CLOSED = 141


def exit_code(results: Iterable[CellResult], verdicts: Iterable[Verdict]) -> int:
    """The first that applies; wrong usage, a target out of reach and an interrupt have ended the run as exceptions.

    Every attempt at a cell counts: that a server died is worth knowing, even if it came back and the cell ran again.
    """
    critical = [verdict.outcome for verdict in verdicts if verdict.severity == "critical"]
    if {"failed", "timeout", "cancelled"} & {result.status for result in results} or "error" in critical:
        return CELLS_FAILED
    return CLAIM_FAILED if "fail" in critical else ALL_WELL
