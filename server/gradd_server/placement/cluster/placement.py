"""Sessions on the nodes of a cluster: which node has one, how it moves, and where it goes when a node does
not answer any more.

Records are on storage that all nodes have at the same path, under leases (`gradd_runtime.store.lease`): so a
session may be opened elsewhere whatever has become of the process that had it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gradd_protocol import frames, names
from gradd_protocol.problems import Problem, ProtocolError
from gradd_runtime.process import Bulk, FileOrder, Pending, PendingFuture, unknown

from gradd_server.placement.cluster.links import far_link
from gradd_server.placement.cluster.nodes import AgentOrder, ClusterSeen, NodeSeen
from gradd_server.placement.cluster.overseer import Overseer
from gradd_server.placement.engines import EnginesPlacement, put_off
from gradd_server.placement.gpus import DeviceRooms
from gradd_server.placement.link import EngineTask
from gradd_server.placement.process import EngineProcess

logger = logging.getLogger("gradd.server")

LOOK_SECONDS = 1.0
"""Pause between two looks of the agent."""
START_SECONDS = 60.0
"""Longest wait for the first host of a cluster."""
MEND_SECONDS = 3.0
"""How long another process on the same node is tried for, before its sessions go to other nodes."""
TRY_SECONDS = 0.2
"""Pause between two tries."""
MOVE_SECONDS = 60.0
"""Longest wait for a session to leave a node."""


class NodeStatus(NamedTuple):
    """An engine process of a node."""

    node: str
    machine: str
    device: str
    pid: int
    well: bool
    drained: bool
    sessions: int


class ClusterPlacement(EnginesPlacement):
    """The Placement interface over the engine processes of a cluster's nodes, `order.each` on a node.

    `task`: what each is to be; 0 threads shares a node's cores. `drained`: a file with the nodes that get no
    sessions. `grace`, `silence`, `cancel_grace`, `batch_seconds`: see EnginesPlacement. Raises RuntimeError
    where no node of the cluster runs engine processes.
    """

    def __init__(
        self, order: AgentOrder, task: EngineTask, drained: Path, grace: float = 30.0, silence: float = 30.0,
        cancel_grace: float = 5.0, batch_seconds: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(grace, silence, cancel_grace, batch_seconds)
        self._task, self._each = task, order.each
        self._by_memory = True
        self._hosts: dict[str, NodeSeen] = {}
        """Those of the nodes that are alive, by name."""
        self._where: dict[EngineProcess, NodeSeen] = {}
        """Where processes were started."""
        self._taken: set[str] = set()
        """Hosts that have a process, or are asked for one."""
        self._count = 0
        self._moving: dict[str, list[tuple[frames.Bytes | Bulk | FileOrder, Pending, Problem | None]]] = {}
        """Sessions that are between two processes, and what came for them meanwhile."""
        self._file = drained
        self._drained = set(drained.read_text().split()) if drained.exists() else set()
        self._rooms: DeviceRooms[EngineProcess] = DeviceRooms([], lambda p, tenant: p.room(tenant))
        self._overseer = Overseer(order, self._see)
        try:
            self._overseer.first(START_SECONDS)
            with self._lock:
                self._change.wait_for(lambda: self._processes, START_SECONDS)
                if not self._processes:
                    raise RuntimeError("no host of the Ray cluster starts an engine process; see its log")
            self._begin()
        except BaseException:
            self.shutdown()
            raise

    # -- hosts -------------------------------------------------------------------------------------

    def _see(self, seen: ClusterSeen) -> None:
        """The agent has looked: new hosts get a process, and those of dead nodes are given up."""
        with self._lock:
            if self._stopping.is_set():
                return
            self._hosts = {host.host: host for host in seen.hosts}
            new = [host.host for host in seen.hosts if host.address and host.host not in self._taken]
            self._taken.update(new)
            gone = [process for process, host in self._where.items() if host.host not in self._hosts]
        for name in new:
            threading.Thread(target=self._add, args=(name,), name="gradd-node", daemon=True).start()
        for process in gone:
            logger.warning("node %s is gone, with engine process %d", self._where[process].node, process.pid)
            process.kill()

    def _add(self, name: str) -> None:
        """Start the process of a host that has none."""
        fresh = self._started(name)
        if fresh is None:
            with self._lock:
                self._taken.discard(name)  # the next look tries again
            return
        with self._lock:
            self._processes.append(fresh)
            self._rooms.add(fresh)
            self._coming.add(fresh)
            self._change.notify_all()
        fresh.ready.add_done_callback(lambda _: self._coming.discard(fresh))
        self._join_late(fresh)

    def _started(self, name: str) -> EngineProcess | None:
        """A process of that host; None where it does not answer, or is no more."""
        with self._lock:
            host = self._hosts.get(name)
            self._count += 1
            number = self._count
        if host is None or host.address is None:
            return None
        try:
            link = far_link(host.address, self._task, self._each, self._interval / 2)
        except OSError as refused:
            logger.info("host %s at %s starts no engine process: %s", name, host.machine, refused)
            return None
        with self._lock:
            fresh = EngineProcess(link, self._task.device, self._replace, number, node=host.node)
            self._where[fresh] = host
        logger.info("engine process %d runs on node %s at %s", fresh.pid, host.node, host.machine)
        return fresh

    def _replace(self, dead: EngineProcess, code: int) -> None:
        """See EnginesPlacement: another process of the same host takes its place, or several of others do."""
        with self._lock:
            host = self._where.pop(dead)
        if self._stopping.is_set():
            put_off(dead)
            return
        logger.error(
            "engine process %d on node %s ended with code %d; its sessions without a store are lost",
            dead.pid, host.node, code,
        )  # fmt: skip
        end = time.monotonic() + MEND_SECONDS
        while (fresh := self._started(host.host) if dead.was_ready else None) is None:
            if self._stopping.wait(TRY_SECONDS):
                put_off(dead)
                return
            if (time.monotonic() > end or host.host not in self._hosts) and self._scattered(dead, host):
                return
        with self._lock:
            self._restarts += 1
            if dead in self._processes:
                self._processes[self._processes.index(dead)] = fresh
            else:
                self._processes.append(fresh)
            self._rooms.replace(dead, fresh, map(names.owner, self._kept_in(dead)))
            self._rehouse(dead, lambda _: fresh)
        self._join_late(fresh)

    def _scattered(self, dead: EngineProcess, host: NodeSeen) -> bool:
        """Let other processes have its sessions; False where there are none."""
        with self._lock:
            if not any(self._takes(process) for process in self._processes):
                return False
            if dead in self._processes:
                self._processes.remove(dead)
            self._rooms.drop(dead)
            self._restarts += 1
            count = len(self._kept_in(dead))
            self._rehouse(dead, lambda name: self._entered(name))
            self._taken.discard(host.host)
        logger.warning("%d sessions of node %s go to others", count, host.node)
        return True

    def _entered(self, name: str, target: EngineProcess | None = None) -> EngineProcess:
        """The process that the session is in from now on. Called with the lock, where there is one."""

        def fits(process: EngineProcess) -> bool:
            return self._takes(process) if target is None else process is target

        entered = self._rooms.enter(names.owner(name), fits)
        assert entered is not None
        return entered

    def _takes(self, process: EngineProcess) -> bool:
        """See EnginesPlacement."""
        host = self._where.get(process)
        return process.alive and host is not None and host.node not in self._drained

    # -- sessions ----------------------------------------------------------------------------------

    def open(self, name: str, options: Mapping[str, Any]) -> None:
        """See Placement.open."""
        super().open(name, {**options, "leased": True} if "store" in options else options)

    def carry(
        self, name: str, frame: frames.Bytes | Bulk | FileOrder, request: Pending, why: Problem | None = None
    ) -> None:
        """See Placement.carry. What comes for a session that moves waits."""
        with self._lock:
            held = self._moving.get(name)
            if held is not None:
                held.append((frame, request, why))
                return
        super().carry(name, frame, request, why)

    def move(self, name: str, node: str | None = None) -> str:
        """Let a session go to a process of that node, or of the one with most room; the node where it is
        then. What was submitted for it before is done first. Raises ProtocolError where it cannot; the
        session stays then.
        """
        with self._lock:
            home, number = self._homes.get(name, (None, 0))
            if home is None:
                raise ProtocolError.of("session-not-found", f"no session is named {names.own(name)!r}")
            target = self._target(name, home, node)
            if target is None:
                return self._where[home].node if home in self._where else ""
            if name in self._moving:
                raise ProtocolError.of("session-busy", "the session moves already", retry_after=1)
            self._moving[name] = []
        try:
            left = PendingFuture()
            if home.let_go(number, left):
                left.result(MOVE_SECONDS)
        except TimeoutError:
            self._go_on(name)
            raise ProtocolError.of(
                "session-busy", f"the session did not leave its node within {MOVE_SECONDS:g} s", retry_after=1
            ) from None
        with self._lock:
            # Where the process died meanwhile, another has the session by now.
            if self._homes.get(name, (None, 0)) == (home, number) and home.alive:
                self._rooms.leave(home, names.owner(name))
                if not self._takes(target) and node is None:
                    target = next(filter(self._takes, self._processes), home)
                self._house(name, self._entered(name, target), self._kept[name])
            there = self._homes.get(name, (None, 0))[0]
            self._go_on(name)
            return self._where[there].node if there in self._where else ""

    def _target(self, name: str, home: EngineProcess, node: str | None) -> EngineProcess | None:
        """Where a session goes that is to leave its process; None where it is there already. Called with the
        lock.
        """
        if name not in self._kept:
            raise ProtocolError.of(
                "invalid-data",
                f"session {names.own(name)!r} keeps no record (durability memory), so it cannot move",
            )
        if node is None:
            others = self._rooms.open_to(names.owner(name), lambda p: self._takes(p) and p is not home)
            if not others:
                raise ProtocolError.of("device-lost", "no other node takes sessions", retry_after=1)
            return others[0]
        if home in self._where and self._where[home].node == node:
            return None
        there = [p for p, host in self._where.items() if host.node == node and self._takes(p)]
        if not there:
            raise ProtocolError.of("invalid-data", f"no node {node!r} takes sessions")
        return there[0]

    def _go_on(self, name: str) -> None:
        """Submit what came for a session while it moved."""
        with self._lock:
            for frame, request, why in self._moving.pop(name, ()):
                if name in self._homes:
                    super().carry(name, frame, request, why)
                else:
                    request.set_result(unknown(name))

    # -- nodes -------------------------------------------------------------------------------------

    def nodes(self) -> list[NodeStatus]:
        """The engine processes, by node."""
        with self._lock:
            counts = dict.fromkeys(self._processes, 0)
            for home, _ in self._homes.values():
                if home in counts:
                    counts[home] += 1
            found = [
                NodeStatus(
                    host.node, host.machine, process.device, process.pid, process.well,
                    host.node in self._drained, counts[process],
                )
                for process, host in self._where.items()
                if process in counts
            ]  # fmt: skip
        return sorted(found)

    def drain(self, node: str, drained: bool = True) -> None:
        """Let the node get no more sessions, or let it again; it keeps those that it has, see `on`. Raises
        ProtocolError where there is no such node.
        """
        with self._lock:
            if node not in {host.node for host in self._hosts.values()} | self._drained:
                raise ProtocolError.of("invalid-data", f"the cluster has no node {node!r}")
            (self._drained.add if drained else self._drained.discard)(node)
            new = self._file.with_suffix(".new")
            new.write_text("".join(f"{each}\n" for each in sorted(self._drained)))
            new.rename(self._file)
            self._change.notify_all()

    def on(self, node: str) -> list[str]:
        """The sessions on that node that keep a record."""
        with self._lock:
            there = {process for process, host in self._where.items() if host.node == node}
            return [name for name in self._kept if self._homes[name][0] in there]

    def shutdown(self) -> None:
        """See Placement.shutdown. The hosts stay: what they have is the next front's."""
        self._stopping.set()
        self._overseer.close()
        super().shutdown()
