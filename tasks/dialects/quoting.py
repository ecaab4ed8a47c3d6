"""Names and texts as SQL spells them."""

from __future__ import annotations


def identifier(name: str) -> str:
    """A name, quoted."""
    return '"{}"'.format(name.replace('"', '""'))


def literal(text: str) -> str:
    """A text, quoted."""
    return "'{}'".format(text.replace("'", "''"))
