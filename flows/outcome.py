"""What a command ends with: the exit code that scripts read."""

from __future__ import annotations

from collections.abc import Iterable

from experiments.model import CellResult, Verdict

ALL_WELL = 0
CLAIM_FAILED = 1
USAGE = 2
CELLS_FAILED = 3
UNREACHABLE = 4
OUR_BUG = 70
INTERRUPTED = 130
PIPE_CLOSED = 141


def exit_code(results: Iterable[CellResult], verdicts: Iterable[Verdict], *, interrupted: bool = False) -> int:
    """The first that applies; wrong usage and targets out of reach have already ended the run as a ``UserError``.

    Of several attempts at a cell the last counts.
    """
    if interrupted:
        return INTERRUPTED
    last = {(result.cell.cell_id, result.cell.replicate): result.status for result in results}
    critical = [verdict.outcome for verdict in verdicts if verdict.severity == "critical"]
    if {"failed", "timeout", "cancelled"} & set(last.values()) or "error" in critical:
        return CELLS_FAILED
    return CLAIM_FAILED if "fail" in critical else ALL_WELL
