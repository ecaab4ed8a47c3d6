"""LightDB: closed source, from PostgreSQL, and treated as one by capability. Not run here."""

from __future__ import annotations

from typing import ClassVar

from tasks.dialects.facts import Fact
from tasks.dialects.postgresql import PostgreSQL


class LightDB(PostgreSQL):
    """Its version text begins with its own name; LightDB-A is a Greenplum and tells so."""

    name = "lightdb"
    version_pattern = r"LightDB"
    own_facts: ClassVar[tuple[Fact, ...]] = (
        Fact("run_here", False, "Not run here: there is no public build.", "https://www.light-pg.com"),
    )
