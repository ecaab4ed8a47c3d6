"""A Prefect API for runs that have none: started early, beside the database servers, and stopped with the run."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType

from experiments.model import UserError

STARTUP_SECONDS = 120
LAST_BYTES = 4096
PR_SET_PDEATHSIG = 1

# Nothing phones home, and Prefect's log stays off the terminal: what ends badly is told by our own lines.
QUIET = {
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
    "PREFECT_CLI_WRAP_LINES": "false",
    "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS": "false",
}
SERVICES_OFF = {
    f"PREFECT_SERVER_SERVICES_{name}_ENABLED": "false"
    for name in (
        "SCHEDULER",
        "LATE_RUNS",
        "CANCELLATION_CLEANUP",
        "FOREMAN",
        "PAUSE_EXPIRATIONS",
        "REPOSSESSOR",
        "TRIGGERS",
        "TASK_RUN_RECORDER_PRUNE",
        "EVENT_PERSISTER",
    )
}
HEADLESS = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1"}
# Left alone, each event of a task is written at once, while the same task asks for the concurrency slots of its tags:
# SQLite then calls its database locked, the API answers 503, and the client sleeps two seconds before it asks again.
FEW_WRITES = {"PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "1000"}


def settle_environment(home: Path) -> None:
    """Set what Prefect reads when it is first imported; what the user has set stays."""
    os.environ.setdefault("PREFECT_HOME", str(home / "prefect"))
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)


def configured_api() -> str | None:
    """The API that the user has chosen, by environment or by the active profile of PREFECT_HOME."""
    if url := os.environ.get("PREFECT_API_URL"):
        return url
    try:
        profiles = tomllib.loads((Path(os.environ["PREFECT_HOME"]) / "profiles.toml").read_text())
    except FileNotFoundError:
        return None
    active = os.environ.get("PREFECT_PROFILE", profiles.get("active", ""))
    url = profiles.get("profiles", {}).get(active, {}).get("PREFECT_API_URL")
    return str(url) if url else None


class TemporaryApi:
    """``prefect.server`` under uvicorn on a free loopback port, dying with this process whatever happens to it.

    Prefect can start one itself, but only after its import, and a killed run leaves that one behind.
    """

    def __init__(self) -> None:
        self.port = _free_port()
        # Not a pipe: nobody would read it while the API lives, and a full one stops it.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the API ends
        # The kernel signals the child when the *thread* that started it ends, so this must be the main thread.
        self._process = subprocess.Popen(
            self._command(),
            env={**os.environ, **SERVICES_OFF, **FEW_WRITES, **HEADLESS},
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
        os.environ["PREFECT_API_URL"] = f"http://127.0.0.1:{self.port}/api"

    def _command(self) -> list[str]:
        spec = find_spec("prefect")
        assert spec is not None
        assert spec.origin is not None
        application = ["--app-dir", str(Path(spec.origin).parent), "--factory", "prefect.server.api.server:create_app"]
        address = ["--host", "127.0.0.1", "--port", str(self.port)]
        return [sys.executable, "-m", "uvicorn", *application, *address, "--log-level", "critical", "--lifespan", "on"]

    def wait(self) -> None:
        """Return when the API answers; raises ``UserError`` where it ends or stays silent."""
        deadline = time.monotonic() + STARTUP_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise UserError(f"the temporary Prefect API ended at once: {self._last_words()}", exit_code=4)
            if self._answers():
                return
            time.sleep(0.1)
        raise UserError(f"the temporary Prefect API did not answer within {STARTUP_SECONDS} s", exit_code=4)

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _last_words(self) -> str:
        end = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, end - LAST_BYTES))
        lines = self._stderr.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {self._process.returncode}"

    def __enter__(self) -> TemporaryApi:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr.close()
        os.environ.pop("PREFECT_API_URL", None)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
