"""Wrong usage of the command line, in the words of every other unknown name: what was found, what is known."""

from __future__ import annotations

from cyclopts import CycloptsError, UnknownCommandError, UnknownOptionError
from cyclopts.exceptions import UnusedCliTokensError

from experiments.naming import unknown


def complaint(error: CycloptsError) -> str:
    """One sentence, and where to read on."""
    command = " ".join(["storage-matrix", *(error.command_chain or ())])
    return f"{_words(error).rstrip('.')}; see {command} --help"


def _words(error: CycloptsError) -> str:
    if isinstance(error, UnknownCommandError) and error.unused_tokens and error.app:
        return unknown("command", error.unused_tokens[0], [name for name in error.app if not name.startswith("-")])
    if isinstance(error, UnknownOptionError):
        names = [name for argument in error.argument_collection for name in argument.names if name.startswith("--")]
        return unknown("option", error.token.keyword or error.token.value, [*names, "--debug"])
    if isinstance(error, UnusedCliTokensError):
        return f"unexpected argument: {' '.join(error.unused_tokens or ())}"
    return " ".join(str(error).split())
