"""The warehouse is published: one writer makes a new file beside the old one and puts it in place by rename.

DuckDB lets no reader in while a writer has a file open, and the other way round; a rename disturbs neither.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from experiments.model import UserError
from warehouse.jsonfiles import sync_directory
from warehouse.ledger import RunLedger, ledgers
from warehouse.loading import create_schema, first_line, load_run, schema_format
from warehouse.opening import Unavailable, check_unused, connected, literal, log_of, open_to_read, warehouse_file

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# The file format that DuckDB 1.5 still reads: analysts have older clients.
STORAGE_VERSION = "v1.5.0"
WAIT_SECONDS = 30.0
POLL_SECONDS = 0.05


@dataclass(frozen=True)
class Publication:
    """What publishing did. ``put_off`` says why nothing could be done now; ``skipped`` why runs were left out."""

    loaded: tuple[str, ...] = ()
    put_off: str | None = None
    skipped: tuple[str, ...] = ()


def publish(home: Path, wait: float = WAIT_SECONDS) -> Publication:
    """Load every run that has ended and that the warehouse lacks; raises ``UserError`` where the file is not ours."""
    try:
        with _sole_writer(home, wait):
            return _publish(home)
    except Unavailable as error:
        return Publication(put_off=f"publishing is put off to the next run: {error}")


def rebuild(home: Path, wait: float = WAIT_SECONDS) -> tuple[str, ...]:
    """Make the warehouse anew from the whole ledger; where that fails, the former file stays as it was."""
    file = warehouse_file(home)
    with _sole_writer(home, wait):
        check_unused(file)
        if file.exists():
            open_to_read(home).close()
        ended = [ledger for ledger in ledgers(home) if _has_ended(ledger)]
        with _new_file(file, copy=False) as connection:
            for ledger in ended:
                load_run(connection, ledger, "interrupted")
    return tuple(ledger.run_id for ledger in ended)


def _publish(home: Path) -> Publication:
    file = warehouse_file(home)
    check_unused(file)
    known = _known_runs(home)
    arriving, skipped = _arriving(home, known or {})
    if known is not None and not arriving:
        return Publication(skipped=tuple(skipped))
    loaded = []
    with _new_file(file, copy=known is not None) as connection:
        for ledger in arriving:
            try:
                load_run(connection, ledger, "interrupted")
                loaded.append(ledger.run_id)
            except UserError as error:
                skipped.append(_skipped(ledger, error))
    return Publication(tuple(loaded), skipped=tuple(skipped))


def _known_runs(home: Path) -> Mapping[str, str] | None:
    """Fingerprints by run; None where the file must be made anew: there is none, or another version made it."""
    if not warehouse_file(home).exists():
        return None
    with closing(open_to_read(home)) as connection:
        if connection.execute("select format from warehouse_format").fetchall() != [(schema_format(),)]:
            return None
        return dict(connection.execute("select run_id, fingerprint from loaded_run").fetchall())


def _arriving(home: Path, known: Mapping[str, str]) -> tuple[list[RunLedger], list[str]]:
    """The ended runs whose files the warehouse has not seen like that, and why others cannot be told."""
    arriving, skipped = [], []
    for ledger in ledgers(home):
        if known.get(ledger.run_id) == ledger.fingerprint():
            continue
        try:
            if _has_ended(ledger):
                arriving.append(ledger)
        except UserError as error:
            skipped.append(_skipped(ledger, error))
    return arriving, skipped


def _skipped(ledger: RunLedger, error: UserError) -> str:
    return f"run {ledger.run_id} is left out of the warehouse: {error}"


def _has_ended(ledger: RunLedger) -> bool:
    return (ledger.directory / "finish.json").exists() or not ledger.is_owned()


@contextmanager
def _sole_writer(home: Path, wait: float) -> Iterator[None]:
    """Hold the home's lock, for ``wait`` seconds at most to get it; the system drops it however we end."""
    lock = home / "warehouse.lock"
    try:
        home.mkdir(parents=True, exist_ok=True)
        held = lock.open("a")
    except OSError as error:
        raise Unavailable(f"cannot write {lock}: {error.strerror}") from error
    with held:
        _acquire(held, lock, wait)
        yield


def _acquire(held: IO[str], lock: Path, wait: float) -> None:
    deadline = time.monotonic() + wait
    while True:
        try:
            return fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Unavailable(f"another process has held {lock} for {wait:g} s") from None
            time.sleep(POLL_SECONDS)


@contextmanager
def _new_file(file: Path, *, copy: bool) -> Iterator[DuckDBPyConnection]:
    """Write beside ``file`` and, if all went well, put it in its place; what a killed writer left is removed first."""
    import duckdb

    partial = file.with_name(f"{file.name}.new")
    try:
        _remove(partial)
        if copy:
            shutil.copyfile(file, partial)
        with closing(connected()) as connection:
            _attach(connection, partial)
            if not copy:
                create_schema(connection)
            yield connection
            _detach(connection)
        _put_in_place(partial, file)
    except OSError as error:
        raise Unavailable(f"cannot write {partial}: {error.strerror}; make room there") from error
    except duckdb.IOException as error:
        raise Unavailable(f"cannot write {partial}: {first_line(error)}") from error
    finally:
        _remove(partial)


def _attach(connection: DuckDBPyConnection, partial: Path) -> None:
    connection.execute(f"attach {literal(str(partial))} as warehouse (storage_version '{STORAGE_VERSION}')")
    connection.execute("use warehouse")


def _detach(connection: DuckDBPyConnection) -> None:
    connection.execute("checkpoint warehouse")
    connection.execute("use memory")
    connection.execute("detach warehouse")


def _put_in_place(partial: Path, file: Path) -> None:
    with partial.open("rb") as written:
        os.fsync(written.fileno())
    check_unused(file)
    partial.replace(file)
    sync_directory(file.parent)


def _remove(partial: Path) -> None:
    partial.unlink(missing_ok=True)
    log_of(partial).unlink(missing_ok=True)
