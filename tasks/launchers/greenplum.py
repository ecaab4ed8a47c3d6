"""Launcher ``greenplum``: a throw-away cluster on loopback, a coordinator and N segments, from an installed build.

No gpinitsystem, ssh or Python 2: a cluster is N + 1 data directories made by initdb, numbered in their configuration
and listed in the coordinator's catalog.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.model import Target, UserError
from tasks.dialects.quoting import literal
from tasks.launchers.build import Build, check_reach, find_programs, keep, reachable, stamp
from tasks.launchers.connection import answer, connect
from tasks.launchers.launched import (
    SUPERUSER,
    LaunchedServer,
    access_rules,
    make_directory,
    make_password,
    make_sockets,
    merged,
    password,
    socket_url,
    sockets,
    write_access_rules,
)
from tasks.launchers.place import Place
from tasks.launchers.ports import free_ports
from tasks.launchers.postmaster import Postmaster, discard
from tasks.launchers.process import Account, account_for, wait_until
from tasks.launchers.record import ServerFolder
from tasks.launchers.server import Owner
from tasks.launchers.settings import GREENPLUM, GREENPLUM_HIDDEN, machine_memory, measuring, shared_buffers

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

MOST_SEGMENTS = 16
SMALL = ("--shared_buffers=4MB", "--max_connections=20")
PATIENCE = "-c statement_timeout=5000"
UTILITY = "-c gp_session_role=utility"


class GreenplumCluster(LaunchedServer):
    """Coordinator first; segments are numbered from 0 as in gp_segment_configuration."""

    def __init__(self, target: Target, folder: ServerFolder) -> None:
        programs = Path(folder.record.programs or "")
        names = node_names(len(folder.record.ports))
        super().__init__(target, folder, [_node(folder, programs, name) for name in names])
        self.url = socket_url(folder, folder.record.ports[0])
        self._started = 0

    def _start_nodes(self) -> None:
        """Never twice within a second: the coordinator counts its transactions anew, and tells its starts apart by it.

        Segments would take what was committed before for something yet to come, and not show it (gpdb 6X, cdbtm.c:
        shmDistribTimeStamp).
        """
        if self.nodes[0].pid() is not None:
            super()._start_nodes()
            return
        wait_until(lambda: int(time.time()) > self._started, 2)
        super()._start_nodes()
        self._started = int(time.time())

    @property
    def node_urls(self) -> Sequence[URL]:
        """In utility mode each node works for itself."""
        urls = (socket_url(self.folder, port) for port in self.folder.record.ports)
        return [url.update_query_dict({"options": UTILITY}) for url in urls]

    def configure(self) -> None:
        for content, (node, port) in enumerate(zip(self.nodes, self.folder.record.ports, strict=True), start=-1):
            node.configure({**self.settings, **self._own(content, port)})

    def _own(self, content: int, port: int) -> Mapping[str, str]:
        """What makes a data directory this node of the cluster. A statement has several slices on each segment."""
        asked = self.settings["max_connections"]
        connections = int(asked) * 3 if content >= 0 and asked.isdigit() else asked
        return {
            "port": str(port),
            "gp_contentid": str(content),
            "gp_dbid": str(content + 2),
            "max_connections": str(connections),
            "hba_file": str(access_rules(self.folder)),
            "unix_socket_directories": str(sockets(self.folder)),
        }

    def alive(self) -> bool:
        """Every segment answers, not only the coordinator."""
        import psycopg

        try:
            found = answer(self.url, "select count(*) from gp_dist_random('gp_id')", 2, options=PATIENCE)
        except psycopg.Error:
            return False
        return bool(found == len(self.nodes) - 1)


def launch(
    target: Target, place: Place, owner: Owner, settings: Mapping[str, str], secrets: Mapping[str, str]
) -> GreenplumCluster:
    """About ten seconds the first time, for initdb; later clusters copy what it made and start in three."""
    segments = _segments(target)
    account = account_for(target.name, target.options.get("os_user"), place.environ)
    found = find_programs(target, target.options.get("gphome", "$GPHOME"), place.environ, "bin")
    folder = ServerFolder.create(place, target, account)
    try:
        check_reach(folder)
        build = _build(target, reachable(found, place, folder), account)
        asked = merged(target.options.get("settings", {}), settings)
        folder.save(
            programs=str(build.programs),
            ports=free_ports(segments + 1),
            settings=merged(_measuring(folder, build, segments + 1), asked),
        )
        make_sockets(folder)
        make_password(folder)
        _make_nodes(target, place, folder, build)
        cluster = GreenplumCluster(target, folder)
        _register(cluster)
        cluster.begin(owner, asked)
        _tell_password(cluster)
    except BaseException:
        discard(folder)
        raise
    return cluster


def attach(target: Target, folder: ServerFolder) -> GreenplumCluster:
    """The cluster that ``target up`` left in a folder."""
    return GreenplumCluster(target, folder)


def node_names(count: int) -> list[str]:
    return ["coordinator", *(f"segment{number}" for number in range(count - 1))]


def _segments(target: Target) -> int:
    told = str(target.options.get("segments", 2))
    if not told.isdigit() or not 1 <= int(told) <= MOST_SEGMENTS:
        raise UserError(f'target "{target.name}": segments = {told}; a number from 1 to {MOST_SEGMENTS} is needed')
    return int(told)


def _build(target: Target, programs: Path, account: Account) -> Build:
    build = Build(programs, account, _environment(programs))
    version = build.told("postgres", "--gp-version").strip()
    if "Greenplum Database) 6." not in version:
        raise UserError(
            f'target "{target.name}": Greenplum 6 is what this launcher starts; {programs} has {version}', 4
        )
    return build


def _environment(programs: Path) -> Mapping[str, str]:
    """For its own programs only: its libpq breaks other users of the library."""
    return {"LD_LIBRARY_PATH": str(programs.parent / "lib")}


def _node(folder: ServerFolder, programs: Path, name: str) -> Postmaster:
    role = ["-E"] if name == "coordinator" else []
    return Postmaster(folder, folder.record.account, programs, folder.path / name, _environment(programs), role)


def _measuring(folder: ServerFolder, build: Build, nodes: int) -> dict[str, str]:
    known = build.known_settings | GREENPLUM_HIDDEN
    return {**measuring(GREENPLUM, known), "shared_buffers": shared_buffers(machine_memory() // nodes, most=128)}


def _make_nodes(target: Target, place: Place, folder: ServerFolder, build: Build) -> None:
    """initdb takes seconds and makes the same files each time; so once for all, and copies from then on."""
    account = build.account
    template = place.root / f"template-{stamp(build.programs)}-{account.uid}"
    if not template.exists():
        keep(_initdb(target, folder, build), template)
    nodes = [make_directory(folder.path / name, account) for name in node_names(len(folder.record.ports))]
    with ThreadPoolExecutor(len(nodes)) as pool:
        copies = pool.map(lambda node: account.run(["cp", "-a", f"{template}/data/.", node], folder.path), nodes)
    for copy in copies:
        if copy.returncode != 0:
            raise UserError(f'target "{target.name}": {copy.stdout.decode(errors="replace").strip()}', 4)
    write_access_rules(folder)


def _initdb(target: Target, folder: ServerFolder, build: Build) -> Path:
    """Without a password, which each cluster gets of its own, and with no access rules but those beside it.

    The sizes are for its own thirty backends, half of whose time goes into making shared memory; ours overrule them.
    """
    template = folder.path / "template"
    template.mkdir(mode=0o700)
    template.chmod(folder.path.stat().st_mode)
    data = make_directory(template / "data", build.account)
    build.initdb(target, folder.path, ["-N", "-D", str(data), "-U", SUPERUSER, "-E", "UTF8", "--locale=C", *SMALL])
    return template


def _register(cluster: GreenplumCluster) -> None:
    """List the nodes in the coordinator's catalog, by a single-user backend: no server has to start and stop for it."""
    cluster.configure()
    coordinator = cluster.nodes[0]
    statements = [f"alter role {SUPERUSER} password '{password(cluster.folder)}'", *registrations(cluster)]
    words = ["--single", "-D", str(coordinator.data), "-c", f"config_file={coordinator.configuration}"]
    result = coordinator.account.run(
        [coordinator.programs / "postgres", *words, "-c", "gp_role=utility", "postgres"],
        cluster.folder.path,
        coordinator.environment,
        text=";\n".join(statements) + ";\n",
    )
    told = result.stdout.decode(errors="replace")
    if result.returncode != 0 or "ERROR:" in told or "FATAL:" in told:
        raise UserError(f'target "{cluster.target}": the segments could not be registered: {told.strip()[-300:]}', 4)


def _tell_password(cluster: GreenplumCluster) -> None:
    """The coordinator tells the segments what it knows already; without it nobody reaches one of them by itself.

    Not into the log, whatever a target's settings say of that.
    """
    with connect(cluster.url, 5) as coordinator:
        coordinator.execute("set log_statement = 'none'")
        coordinator.execute(f"alter role {SUPERUSER} password '{password(cluster.folder)}'".encode())


def registrations(cluster: GreenplumCluster) -> Sequence[str]:
    """Primaries without mirrors ('n': nothing to be in sync with), up ('u')."""
    return [
        f"select pg_catalog.gp_add_segment({number + 1}::int2, {number - 1}::int2, 'p', 'p', 'n', 'u', "
        f"{port}, 'localhost', '127.0.0.1', {literal(str(node.data))})"
        for number, (node, port) in enumerate(zip(cluster.nodes, cluster.folder.record.ports, strict=True))
    ]
