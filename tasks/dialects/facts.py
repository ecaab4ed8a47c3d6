"""Facts about engines, each with its source, and the capabilities that follow from them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Fact:
    """One thing that is true of an engine. A fact named like a field of ``Capabilities`` is that capability."""

    name: str
    value: Any
    sentence: str
    source: str


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do: as its facts say, until a probe of the live server overrules them."""

    version: str = ""
    version_number: int = 0
    page_size: int = 0
    access_methods: frozenset[str] = frozenset()
    index_methods: frozenset[str] = frozenset()
    toast_compression: frozenset[str] = frozenset()
    wal_compression: frozenset[str] = frozenset()
    wal_level: str | None = None
    extensions: frozenset[str] = frozenset()
    codecs: frozenset[str] = frozenset()
    block_sizes: Collection[int] = ()
    segments: int = 0
    has_wal: bool = False
    has_checkpoint: bool = False
    has_toast: bool = False
    can_copy: bool = False
    pages_in_plans: bool = False
    file_per_block: bool = False
    has_inheritance: bool = False
    has_autovacuum: bool = False
    run_here: bool = True
    probed: bool = False


def capabilities_from(facts: Iterable[Fact]) -> Capabilities:
    """The capabilities among ``facts``; a tuple of names becomes a set."""
    known = {field.name for field in fields(Capabilities)}
    values: dict[str, Any] = {
        fact.name: frozenset(fact.value) if isinstance(fact.value, tuple) else fact.value
        for fact in facts
        if fact.name in known
    }
    return Capabilities(**values)


def hash_of(name: str, facts: Iterable[Fact]) -> str:
    """Twelve hex digits that change with the value of a fact, and with nothing else."""
    text = "\n".join([name, *sorted(f"{fact.name}={fact.value!r}" for fact in facts)])
    return hashlib.sha256(text.encode()).hexdigest()[:12]
