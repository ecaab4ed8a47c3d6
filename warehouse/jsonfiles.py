"""Files that are there in full or not at all, and that say clearly when they are damaged."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, TypeVar

from experiments.model import UserError
from warehouse.decoding import Malformed, decode, plain

T = TypeVar("T")


def write_json(path: Path, value: Any) -> None:
    """Write ``value`` durably: a reader, or the next run after a power cut, sees the whole file or none."""
    text = json.dumps(plain(value), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    partial = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        # A message may hold bytes that are no text (in the name of a file, say); it is kept without them.
        with partial.open("w", encoding="utf-8", errors="replace") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        sync_directory(path.parent)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise UserError(f"cannot write {path}: {error.strerror}; make room there or choose another --home") from error


def read_json(path: Path, kind: type[T]) -> T:
    """The file as a ``kind``; raises ``UserError`` where it cannot be read or is damaged."""
    try:
        return decode(kind, json.loads(path.read_bytes().decode()))
    except UnicodeDecodeError as error:
        raise damaged(path, f"not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise damaged(path, f"not valid JSON at byte {len(error.doc[: error.pos].encode())}") from None
    except Malformed as error:
        raise damaged(path, str(error)) from None
    except OSError as error:
        raise UserError(f"cannot read ledger file {path}: {error.strerror}") from error


def damaged(path: Path, problem: str) -> UserError:
    """The sentence for a ledger file that is not what was written."""
    return UserError(
        f"ledger file {path} is damaged ({problem}): "
        'restore it from a backup or delete the file and run "storage-matrix rebuild"'
    )


def sync_directory(directory: Path) -> None:
    """Make a rename inside ``directory`` survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
