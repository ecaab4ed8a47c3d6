"""The settings under which servers that we launch are measured, each with its reason. This is the one place."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True)
class Setting:
    name: str
    value: str
    reason: str


COMMON = (
    Setting("fsync", "on", "a load ends when it is durable"),
    Setting("synchronous_commit", "on", "a commit that has not reached the disk is not a commit"),
    Setting("full_page_writes", "on", "as in production; full-page images are counted apart"),
    Setting("autovacuum", "off", "it would come at a moment of its own choice; steps declare VACUUM and ANALYZE"),
    Setting("synchronize_seqscans", "off", "a scan starts at the first page, whoever scanned before"),
    Setting("TimeZone", "UTC", "rows and digests are the same on every machine"),
    Setting("log_timezone", "UTC", "log lines carry the time of the ledger"),
    Setting("unix_socket_permissions", "0700", "the socket is for us"),
)

POSTGRESQL = (
    *COMMON,
    Setting("listen_addresses", "", "nobody reaches the server but through its private socket"),
    Setting("port", "5432", "only names the socket file"),
    Setting("wal_level", "replica", "the default, pinned: minimal skips the WAL of a load, a factor of its own"),
    Setting("max_wal_senders", "0", "nobody streams, and wal_level = minimal refuses to start otherwise"),
    Setting("wal_compression", "off", "full-page images cost what they weigh; a factor of its own"),
    Setting("checkpoint_timeout", "86400", "no checkpoint by the clock inside a timed step; steps ask for theirs"),
    Setting("min_wal_size", "1GB", "segments are reused, so that a later load does not save what the first one paid"),
    Setting("max_parallel_workers", "0", "a step's time and CPU belong to one process"),
    Setting("max_parallel_workers_per_gather", "0", "as above"),
    Setting("max_parallel_maintenance_workers", "0", "as above"),
    Setting("jit", "off", "compiling on the first run and not on the second is not what we compare"),
)


GREENPLUM = (
    *COMMON,
    Setting("listen_addresses", "127.0.0.1", "coordinator and segments talk over loopback"),
    Setting("max_connections", "50", "a shared host has few semaphores; segments get three times as many"),
    Setting("max_prepared_transactions", "150", "at least a segment's connections, or a distributed commit fails"),
    Setting("checkpoint_segments", "64", "of 64 MB: no checkpoint by WAL volume inside a timed step"),
    Setting("optimizer", "off", "the planner, which every build has; costs of two optimizers do not compare"),
    Setting("gp_autostats_mode", "none", "ANALYZE is a step of its own, not part of a load"),
    Setting("gp_resqueue_priority", "off", "no backoff of a statement by its priority"),
    Setting("gp_segworker_relative_priority", "0", "the default is nice 19: segments would wait for whoever else runs"),
    Setting("log_statement", "none", "the log is for failures, and ALTER ROLE has a password in it"),
    Setting("gp_log_format", "text", "a line of the log is a sentence, in every member of the family"),
)
GREENPLUM_HIDDEN = frozenset(
    {"fsync", "synchronous_commit", "full_page_writes", "checkpoint_segments", "gp_segworker_relative_priority"}
)
"""Settings of Greenplum 6 that its --describe-config keeps to itself.

It has no autovacuum on user tables, and lets nobody set checkpoint_timeout (GUC_DISALLOW_USER_SET in guc.c): a
checkpoint comes every five minutes.
"""

OPENGAUSS = (
    *COMMON,
    Setting("listen_addresses", "127.0.0.1", "it refuses to start without an address; sessions use the private socket"),
    Setting("password_encryption_type", "1", "keeps an md5 of the password too, the only kind that libpq knows"),
    Setting("password_effect_time", "0", "the password of a server that stays up does not expire"),
    Setting("failed_login_attempts", "0", "nobody on this host can lock the role out by guessing"),
    Setting("session_timeout", "0", "a session that waits for its turn is not ended after ten minutes"),
    Setting("enable_copy_server_files", "on", "COPY reads files of the server; off refuses even its owner"),
    Setting("logging_collector", "off", "one log, where the reason of a failed start is looked for"),
    Setting("log_min_duration_statement", "-1", "slow statements are what we time; the log is for failures"),
    Setting("max_wal_senders", "0", "nobody streams, and wal_level = minimal refuses to start otherwise"),
    Setting("checkpoint_timeout", "3600", "no checkpoint by the clock inside a timed step; the most that it takes"),
    Setting("incremental_checkpoint_timeout", "3600", "as above, for the kind of checkpoint that it makes by default"),
    Setting("query_dop", "1", "a step's time and CPU belong to one thread"),
    Setting("job_queue_processes", "0", "no scheduled jobs"),
    Setting("enable_asp", "off", "no sampling of all sessions every second"),
    Setting("autoanalyze", "off", "ANALYZE is a step of its own, not part of a query"),
)
"""What else the published COPY study tunes (audit_enabled, use_workload_manager, bulk_write_ring_size = 2GB ...) stays
as gs_initdb leaves it: the study's ladder starts there, and an experiment names what it changes."""


def measuring(settings: Collection[Setting], known: Collection[str]) -> dict[str, str]:
    """The settings that a server knows: builds of the family differ, and an unknown name keeps them from starting."""
    return {setting.name: setting.value for setting in settings if setting.name in known}


def sized(memory: int, free: int) -> Mapping[str, str]:
    """The settings that depend on the machine, in bytes of memory and of free disk; recorded like all others.

    A checkpoint that the WAL volume forces inside a load would be paid by whoever crosses the line, so the line is far
    away, yet never so far that WAL alone could fill the disk.
    """
    return {"shared_buffers": shared_buffers(memory), "max_wal_size": f"{wal_megabytes(free)}MB"}


def wal_megabytes(free: int) -> int:
    """The WAL after which a checkpoint is forced."""
    return max(1024, min(8192, free // 4 // MIB))


def shared_buffers(memory: int, most: int = 512) -> str:
    """An eighth of the memory at most, so that the page cache, other servers and we have room."""
    return f"{max(16, min(most, memory // 8 // MIB))}MB"


def machine_memory() -> int:
    """Bytes of memory that we may use: a container has less than its machine."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        with open("/sys/fs/cgroup/memory.max") as limit:
            return min(physical, int(limit.read()))
    except (OSError, ValueError):
        return physical
