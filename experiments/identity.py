"""Hashes that name cells and blocks: of names and values only, never of positions, the same on every machine."""

from __future__ import annotations

import hashlib
import json


def digest(*content: object) -> str:
    """12 hex digits of the SHA-256 of ``content`` as JSON with sorted keys."""
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
