"""Names, and what to say about a name that is not known: what was found, what is known, what was meant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
NAME_RULE = "a name has small letters, digits and _, starts with a letter and has at most 63 characters"


def quoted(value: object) -> str:
    """``value`` as TOML would spell it, on one line and cut to 80 characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else f"{text[:76]} ..."


def listed(noun: str, known: Iterable[str]) -> str:
    """``known levels: heap, ao_row``, in the order given."""
    return f"known {noun}s: {', '.join(known) or 'none'}"


def hint(found: str, known: Iterable[str]) -> str:
    """`` (did you mean "heap"?)``, or nothing where no known name is close."""
    # Imported here: only a mistake pays for it.
    from difflib import get_close_matches

    close = get_close_matches(found, list(known), n=1)
    return f" (did you mean {quoted(close[0])}?)" if close else ""


def unknown(noun: str, found: str, known: Iterable[str]) -> str:
    """The sentence for a name that is none of ``known``."""
    known = list(known)
    return f"unknown {noun} {quoted(found)}; {listed(noun, known)}{hint(found, known)}"
