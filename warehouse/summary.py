"""What to read first of a run, in sentences made from its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from warehouse.extremes import Extremes
from warehouse.formatting import humanise, listed
from warehouse.outcomes import happened

SUPERLATIVES: Mapping[str, str] = {"bytes": "Smallest", "seconds": "Fastest", "per_second": "Most per second"}


def best_sentences(target: str, found: Sequence[Extremes]) -> list[str]:
    """Which storage forms came out best on a target, and in which measures none stands out."""
    on_target = [one for one in found if one.target == target]
    sentences = [
        f"{superlative}: {'; '.join(_best(one) for one in of_unit)}."
        for unit, superlative in SUPERLATIVES.items()
        if (of_unit := [one for one in on_target if one.unit == unit and not one.undecided])
    ]
    undecided = [one.measure for one in on_target if one.undecided]
    return [*sentences, *([f"No cell stands out in {listed(undecided, 6, ', ')}."] if undecided else [])]


def _best(one: Extremes) -> str:
    winners = " or ".join([one.best, *one.ties])
    if len(one.ties) > 1:
        winners = f"{one.best} and {len(one.ties)} more like it"
    measure = "" if one.measure == "size" else f"{one.measure} with "
    sample = ", one sample" if one.unrepeated else ""
    return f"{measure}{winners} ({humanise(one.value, one.unit)}{sample})"


def outcomes_in_words(outcomes: Iterable[str]) -> str:
    """``1 fail, 2 pass``, in the order in which they come."""
    return ", ".join(f"{count} {outcome.replace('_', ' ')}" for outcome, count in Counter(outcomes).items())


def losses_in_words(counts: Mapping[str, int]) -> str:
    """``1 failed, 2 timed out``: cells that should have given a result and did not; empty where there are none."""
    lost = {status: count for status, count in counts.items() if status not in ("ok", "unsupported")}
    return ", ".join(f"{count} {happened(status)}" for status, count in lost.items())
