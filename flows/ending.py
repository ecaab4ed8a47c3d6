"""How a command ends: errors as one line on standard error, and the exit code that goes with each."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from cyclopts import CycloptsError

from experiments.model import UserError
from flows.outcome import INTERRUPTED, OUR_BUG, PIPE_CLOSED, USAGE
from flows.usage import complaint


def ended(command: Callable[[], int], *, debug: bool) -> int:
    """Run ``command`` and give its exit code; no exception leaves. ``debug`` shows its traceback first."""
    signal.signal(signal.SIGTERM, _interrupt)
    _open_output()
    try:
        code = command()
        sys.stdout.flush()
    except BrokenPipeError:
        _close_output()
        return PIPE_CLOSED
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the last stop: a stranger gets a sentence
        if debug:
            traceback.print_exc()
        sentence, code = _told(error)
        print(f"storage-matrix: {sentence}", file=sys.stderr)
    return code


def _told(error: BaseException) -> tuple[str, int]:
    """The sentence and the exit code of an error."""
    words = " ".join(str(error).split())
    if isinstance(error, KeyboardInterrupt) or (isinstance(error, RuntimeError) and "interrupted" in words):
        # DuckDB says it in its own way.
        return "interrupted", INTERRUPTED
    if isinstance(error, UserError):
        return words, error.exit_code
    if isinstance(error, CycloptsError):
        return complaint(error), USAGE
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return f"no space left for {error.filename or 'standard output'}; make room there", USAGE
    return f"a mistake of ours, not yours: {type(error).__name__}: {words}; --debug shows where", OUR_BUG


def _interrupt(number: int, frame: FrameType | None) -> None:
    """SIGTERM asks for the same as Ctrl-C: cancel the statement, keep what is finished, stop our servers."""
    raise KeyboardInterrupt


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """SIGTERM as Ctrl-C for what runs inside; the handler that was there before is told when it has ended.

    Prefect has one of its own during a flow. What it raises is no KeyboardInterrupt, at which alone a driver cancels
    the statement that it waits for.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    told: list[tuple[int, FrameType | None]] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        told.append((number, frame))
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former)
        if told and callable(former):
            former(*told[0])


def _open_output() -> None:
    """Something to write to where the caller has closed it, and no letter that its encoding lacks ends a command."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - it lasts as long as the process
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _close_output() -> None:
    """The reader (``head``) has gone: nothing more is written, also not while Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
