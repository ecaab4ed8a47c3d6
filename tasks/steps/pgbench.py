"""The target's own pgbench: its figures at the end, its progress as rounds, and whether its transactions failed."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from experiments.model import Step
from tasks.context import CellContext, CellFailed
from tasks.errors import ServerGone, StatementTimeout
from tasks.pgbench_output import Interval, Summary, complaints, read_progress, read_summary, was_aborted
from tasks.programs import find_program, program_environment

METHOD = "pgbench -M {} -c {} -j {} -T {}"


def unmet(context: CellContext) -> str | None:
    """Without the program there is nothing to run."""
    if find_program(context.server, "pgbench") is None:
        return f"{context.cell.target} has no pgbench beside its programs, and there is none on the path"
    return None


def run(step: Step, context: CellContext) -> None:
    """Run sql/<name>.sql for ``seconds`` by ``clients``; raises ``CellFailed`` where too much of it failed."""
    program = find_program(context.server, "pgbench")
    assert program is not None
    script = context.step_sql(step)
    context.settle()
    with tempfile.TemporaryDirectory() as directory, context.costs(step.name):
        file = Path(directory, f"{step.name}.sql")
        file.write_text(script, encoding="utf-8")
        ended = _ended(program, [*_options(step, context), "-f", str(file)], context)
    # Other sessions than ours have changed the table.
    context.session.is_settled = context.session.is_hinted = False
    summary = read_summary(ended.stdout)
    if summary is not None:
        _record_summary(step, context, summary)
    if context.series.round is None:
        _record_progress(step, context, read_progress(ended.stderr))
    _check(step, context, ended, summary)


def _options(step: Step, context: CellContext) -> list[str]:
    """Short ones: some of the long ones are younger than 9.4."""
    progress = context.option(step, "progress")
    return [
        *("-n", "-r", "-M", step.options["protocol"]),
        *("-c", str(context.option(step, "clients")), "-j", str(_threads(step, context))),
        *("-T", str(context.option(step, "seconds"))),
        *(("-P", str(progress)) if progress else ()),
    ]


def _threads(step: Step, context: CellContext) -> int:
    clients, threads = context.option(step, "clients"), context.option(step, "threads")
    return int(threads or min(clients, len(os.sched_getaffinity(0))))


def _ended(program: Path, options: list[str], context: CellContext) -> subprocess.CompletedProcess[str]:
    """pgbench, at its end; whatever interrupts us ends it too."""
    limit, command = context.target.timeout, [str(program), *options]
    with subprocess.Popen(
        command,
        env=program_environment(context.server),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        context.target.program = process
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            raise StatementTimeout(f"pgbench did not end within {limit:g} s") from None
        finally:
            context.target.program = None
            process.kill()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _record_summary(step: Step, context: CellContext, summary: Summary) -> None:
    method = METHOD.format(
        step.options["protocol"],
        context.option(step, "clients"),
        _threads(step, context),
        context.option(step, "seconds"),
    )
    values = {
        "tps": summary.tps,
        "tps_including_connections": summary.tps_including_connections,
        "latency_mean": summary.latency_mean,
        "latency_stddev": summary.latency_stddev,
        "connection_time": summary.connection_time,
        "transactions": summary.transactions,
        "failed_transactions": summary.failed,
        "retried_transactions": summary.retried,
        "skipped_transactions": summary.skipped,
        "failed_share": summary.failed_share,
    }
    for metric, value in values.items():
        if value is not None:
            context.record(step.name, metric, value, method, clock="client")
    for number, command in enumerate(summary.commands, 1):
        name = f"{step.name}:{number}"
        context.record(name, "command_latency", command.latency, method, clock="client", text=command.text)


def _record_progress(step: Step, context: CellContext, intervals: list[Interval]) -> None:
    for number, interval in enumerate(intervals):
        method = f"pgbench, progress up to {interval.at:g} s"
        context.record(step.name, "tps", interval.tps, method, round=number, clock="client")
        context.record(step.name, "latency_mean", interval.latency_mean, method, round=number, clock="client")
        context.record(step.name, "latency_stddev", interval.latency_stddev, method, round=number, clock="client")
        if interval.failed is not None:
            context.record(step.name, "failed_transactions", interval.failed, method, round=number, clock="client")


def _check(step: Step, context: CellContext, ended: subprocess.CompletedProcess[str], summary: Summary | None) -> None:
    said = " / ".join(complaints(ended.stderr)[-3:])
    if ended.returncode != 0 and not context.server.alive():
        raise ServerGone(said)
    if ended.returncode != 0 or summary is None or was_aborted(ended.stderr):
        raise CellFailed(f"step {step.name}: pgbench ended with {ended.returncode}: {said or 'it said nothing'}")
    most = step.options["max_failed_percent"]
    if summary.failed_share > most / 100:
        raise CellFailed(
            f"step {step.name}: {summary.failed:,} of {summary.transactions + (summary.failed or 0):,} transactions"
            f" failed ({summary.failed_share:.2%}), more than {most} %"
        )
