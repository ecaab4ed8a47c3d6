"""The commands ``check``, ``report`` and ``rebuild``: what is made of finished runs, without any target."""

from __future__ import annotations

import sys
from pathlib import Path

from experiments.model import UserError
from flows.home import make_home, report_file
from flows.outcome import exit_code
from flows.output import print_json, standard_output
from warehouse.formatting import counted
from warehouse.ledger import RunLedger, find_ledger
from warehouse.loading import run_database
from warehouse.opening import warehouse_file
from warehouse.publishing import publish, rebuild


def check_run(home: Path, run: str, *, as_json: bool) -> int:
    """Judge a run again, keep the verdicts, and end as the run would have ended with them."""
    from warehouse.expectations import judge

    ledger = _ended(find_ledger(home, run))
    plan = ledger.run()
    verdicts = judge(run_database(ledger.directory), plan.expectations, plan.frames)
    ledger.write_verdicts(verdicts)
    _publish(home)
    code = exit_code(ledger.attempts(), verdicts)
    if as_json:
        print_json({"run_id": ledger.run_id, "exit_code": code, "verdicts": [vars(verdict) for verdict in verdicts]})
    else:
        from warehouse.tables import verdict_tables

        for table in verdict_tables(run_database(ledger.directory)):
            standard_output().print(table)
    return code


def report_run(home: Path, run: str) -> int:
    """Write the page of a run and print its tables."""
    from flows.run_page import show_results
    from warehouse.report import write_report

    ledger = find_ledger(home, run)
    database = run_database(ledger.directory)
    page = write_report(database, report_file(home, ledger.run_id))
    console = standard_output()
    show_results(console, database)
    console.print(f"\nreport  {page}", soft_wrap=True)
    return 0


def rebuild_warehouse(home: Path) -> int:
    """Make the warehouse anew and say of how many runs."""
    runs = rebuild(make_home(home))
    print(f"{warehouse_file(home)}: {counted(len(runs), 'run')}")
    return 0


def _ended(ledger: RunLedger) -> RunLedger:
    """A run that still runs is judged by itself when it ends."""
    if ledger.finished() is None and ledger.is_owned():
        raise UserError(f"run {ledger.run_id} still runs; it is judged when it ends")
    return ledger


def _publish(home: Path) -> None:
    publication = publish(home)
    for sentence in (publication.put_off, *publication.skipped):
        if sentence:
            print(f"storage-matrix: {sentence}", file=sys.stderr)
