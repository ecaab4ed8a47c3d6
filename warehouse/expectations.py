"""Expectations become verdicts: Great Expectations judges the rows that are fit for it; what lacks is never a pass."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb

from experiments.model import Expectation, Outcome, Verdict
from warehouse.formatting import counted, listed
from warehouse.frames import SHOWN, Frame, promised_rows, read_frame, readable, shown
from warehouse.validation import CheckBroken, Finding, Validator

MISSING_CELLS = """
select p.target || ': ' || p.storage_form || coalesce(' ' || p.in_place, '')
    || ' (' || coalesce(c.status, 'never ran') || ')'
from planned_cell p
left join cell c using (run_id, cell_id, replicate)
where p.role = 'result' and p.status = 'planned' and coalesce(c.status, '') <> 'ok'
order by p.position
"""


def judge(
    connection: duckdb.DuckDBPyConnection, expectations: Sequence[Expectation], frames: Mapping[str, str]
) -> list[Verdict]:
    """The verdicts on the one run that ``connection`` holds, in the order of ``expectations``.

    ``frames`` maps the name of a frame to its SQL. A check that breaks does not raise: it is a verdict of its own.
    """
    validator = Validator()
    return [_judged(connection, validator, expectation, frames) for expectation in expectations]


def _judged(
    connection: duckdb.DuckDBPyConnection, validator: Validator, expectation: Expectation, frames: Mapping[str, str]
) -> Verdict:
    try:
        promised = promised_rows(connection, expectation)
        if promised == 0:
            return _verdict(expectation, "not_applicable", "", "no planned cell can feed this check")
        frame = read_frame(connection, expectation, frames, promised)
        finding = validator.find(frame.sound, expectation.check)
    except CheckBroken as error:
        return _verdict(expectation, "error", "", f"the check itself broke: {error}")
    if frame.present < promised or len(frame.gaps):
        return _verdict(expectation, "inconclusive", _observed(frame, finding), _lacking(connection, frame, finding))
    return _weighed(expectation, frame, finding)


def _weighed(expectation: Expectation, frame: Frame, finding: Finding | None) -> Verdict:
    """The verdict on a frame that has every row and value which it owes."""
    observed = _observed(frame, finding)
    if finding is not None and _fails_whatever_the_doubts(expectation.check, frame, finding):
        return _verdict(expectation, "fail", observed, _judgement(finding))
    if frame.doubts:
        detail = f"{len(frame.doubtful)} of {counted(frame.present, 'row')} cannot be judged: {listed(frame.doubts)}"
        return _verdict(expectation, "inconclusive", shown(frame.doubtful), detail)
    if finding is None or not _has_substance(finding):
        return _verdict(expectation, "inconclusive", observed, "the check found nothing to judge in the frame")
    return _verdict(expectation, "pass", observed or frame.told, _judgement(finding))


def _fails_whatever_the_doubts(check: Mapping[str, Any], frame: Frame, finding: Finding) -> bool:
    """Whether it fails even if every doubtful row turned out well."""
    if finding.success or not _has_substance(finding):
        return False
    if not frame.doubts or finding.judged is None:
        return not frame.doubts
    tolerated = (1 - float(check.get("mostly", 1))) * (finding.judged + len(frame.doubtful))
    return len(finding.unexpected) > tolerated


def _has_substance(finding: Finding) -> bool:
    """False where a condition of the check left out every row, or the value is no number: the deviation of one row."""
    return finding.judged != 0 and not (isinstance(finding.observed, float) and not math.isfinite(finding.observed))


def _judgement(finding: Finding) -> str:
    if finding.judged is None:
        return f"the frame as a whole gave {readable(finding.observed)}"
    bad = len(finding.unexpected)
    if finding.judged == 1:
        return "the one row breaks it" if bad else "the one row meets it"
    rows = counted(finding.judged, "row")
    return f"{bad} of {rows} break it" if bad else f"all {rows} meet it"


def _lacking(connection: duckdb.DuckDBPyConnection, frame: Frame, finding: Finding | None) -> str:
    parts = []
    if frame.present < frame.promised:
        rows = counted(frame.promised, "promised row")
        parts.append(f"{frame.present} of {rows} {'is' if frame.present == 1 else 'are'} there{_missing(connection)}")
    if len(frame.gaps):
        parts.append(f"{len(frame.gaps)} of {counted(frame.present, 'row')} without a value: {shown(frame.gaps)}")
    if finding is not None and finding.unexpected:
        parts.append(f"of the {finding.judged} that can be judged, {len(finding.unexpected)} break it")
    return "; ".join(parts)


def _missing(connection: duckdb.DuckDBPyConnection) -> str:
    cells = [str(row[0]) for row in connection.execute(MISSING_CELLS).fetchall()]
    return f", and these cells gave no result: {listed(cells, SHOWN)}" if cells else ""


def _observed(frame: Frame, finding: Finding | None) -> str:
    if finding is None:
        return ""
    if finding.judged is None:
        return json.dumps(readable(finding.observed), default=str)
    return shown(frame.sound.loc[list(finding.unexpected)]) if finding.unexpected else ""


def _verdict(expectation: Expectation, outcome: Outcome, observed: str, detail: str) -> Verdict:
    return Verdict(expectation.name, expectation.claim, expectation.severity, outcome, observed, detail)
