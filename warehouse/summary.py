"""What to read first of a run, in sentences made from its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from warehouse.extremes import Extremes
from warehouse.formatting import digits, humanise, listed
from warehouse.outcomes import happened

SUPERLATIVES: Mapping[str, str] = {"bytes": "Smallest", "seconds": "Fastest", "per_second": "Most per second"}


def best_sentence(target: str, found: Sequence[Extremes]) -> str | None:
    """Which storage forms came out best on a target, and where none stands out; None where nothing was compared."""
    on_target = [one for one in found if one.target == target]
    decided = [one for one in on_target if not one.undecided]
    sentences = [
        f"{superlative}: {'; '.join(_best(one, by_name=len(of_unit) > 1 or unit != 'bytes') for one in of_unit)}."
        for unit, superlative in SUPERLATIVES.items()
        if (of_unit := [one for one in decided if one.unit == unit])
    ]
    undecided = [one.measure for one in on_target if one.undecided]
    if undecided:
        sentences.append(f"No cell stands out in {listed(undecided, 6)}.")
    return f"On {target}: {' '.join(sentences)}" if sentences else None


def _best(one: Extremes, *, by_name: bool) -> str:
    winners = " or ".join([one.best, *one.ties]) if len(one.ties) < 2 else f"{one.best} and {len(one.ties)} more like it"
    spread = f", {digits(one.spread)} times below the worst" if one.spread and one.unit != "per_second" else ""
    measure = f"{one.measure} with " if by_name else ""
    return f"{measure}{winners} ({humanise(one.value, one.unit)}{spread})"


def outcomes_in_words(outcomes: Iterable[str]) -> str:
    """``1 fail, 2 pass``, in the order in which they come."""
    return ", ".join(f"{count} {outcome.replace('_', ' ')}" for outcome, count in Counter(outcomes).items())


def losses_in_words(counts: Mapping[str, int]) -> str:
    """``1 failed, 2 timed out``: cells that should have given a result and did not; empty where there are none."""
    lost = {status: count for status, count in counts.items() if status not in ("ok", "unsupported")}
    return ", ".join(f"{count} {happened(status)}" for status, count in lost.items())
