"""Sessions on the nodes of a cluster: which node has one, how it moves, and where it goes when a node does
not answer any more.

Records are on storage that all nodes reach, a path or an object store, under leases (`gradd_runtime.store`):
so a session may be opened elsewhere whatever has become of the process that had it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, as_completed
from dataclasses import dataclass
from typing import Any, NamedTuple

from gradd_protocol import frames, names
from gradd_protocol.problems import Problem, ProtocolError
from gradd_runtime.process import Bulk, FileOrder, Order, Pending, PendingFuture, unknown
from gradd_runtime.store import Files

from gradd_server.placement.cluster.links import link_to
from gradd_server.placement.cluster.nodes import ClusterSeen, NodeSeen
from gradd_server.placement.cluster.overseer import Overseer
from gradd_server.placement.cluster.tls import Tls
from gradd_server.placement.engines import LONGEST_TICK, EnginesPlacement, put_off
from gradd_server.placement.gpus import DeviceRooms
from gradd_server.placement.link import EngineTask
from gradd_server.placement.process import EngineProcess
from gradd_server.placement.stops import batch_head

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
_DRAINED = "drained"


class Begun(enum.Enum):
    """What came of the wish to start an engine process on a node."""

    DONE = enum.auto()
    NOT_YET = enum.auto()
    """The host does not answer, which may pass."""
    REFUSED = enum.auto()
    """The host has ended, or wants none."""


class NodeStatus(NamedTuple):
    """An engine process of a node."""

    node: str
    machine: str
    device: str
    pid: int
    well: bool
    drained: bool
    sessions: int


@dataclass
class HeldFrame:
    """What came for a session while it moved, and why it is not to begin."""

    frame: frames.Bytes | Bulk | FileOrder
    request: Pending
    why: Problem | None


class ClusterPlacement(EnginesPlacement):
    """The Placement interface over the engine processes of the nodes that `overseer` sees, so many on `each`
    node, by its device.

    `task`: what each is to be, but for its device; 0 threads shares a node's cores. `lead`: the number of the
    front's lead. `files`: where it is kept which nodes get no sessions. `tls`: how what goes to nodes is
    encrypted, if it is. `grace`, `silence`, `cancel_grace`, `batch_seconds`: see EnginesPlacement. Raises
    RuntimeError where no node of the cluster runs engine processes.
    """

    def __init__(
        self, overseer: Overseer, each: Mapping[str, int], task: EngineTask, lead: int, files: Files,
        grace: float = 30.0, silence: float = 30.0, cancel_grace: float = 5.0, batch_seconds: float = 0.0,
        tls: Tls | None = None,
    ) -> None:  # fmt: skip
        super().__init__(grace, silence, cancel_grace, batch_seconds)
        self._task, self._each, self._tls = task, each, tls
        self._hosts: dict[str, NodeSeen] = {}
        """Those of the nodes that are alive, by name."""
        self._where: dict[EngineProcess, NodeSeen] = {}
        """Where processes were started."""
        self._taken: set[str] = set()
        """Hosts that have a process, or are asked for one."""
        self._count = 0
        self._moving: dict[str, list[HeldFrame]] = {}
        """Sessions that are between two processes, and what came for them meanwhile."""
        self._files = files
        self._drained = set[str]()
        with contextlib.suppress(FileNotFoundError):
            self._drained.update(files.read(_DRAINED).decode().split())
        # Orders to open a session rise, whoever gives them: see `gradd_runtime.store.lease`.
        self._order = lead << 40
        self._rooms: DeviceRooms[EngineProcess] = DeviceRooms([], lambda p, tenant: p.room(tenant))
        self._overseer = overseer
        try:
            overseer.first(START_SECONDS)
            overseer.tell(self._see)
            with self._lock:
                # Each kind, or sessions of it that were kept would go to another.
                self._change.wait_for(
                    lambda: {*self._each} == {process.kind for process in self._processes}, START_SECONDS
                )
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
            gone = [each for each in self._where.items() if each[1].host not in self._hosts]
        for name in new:
            threading.Thread(target=self._add, args=(name,), name="gradd-node", daemon=True).start()
        for process, host in gone:
            logger.warning("node %s is gone, with engine process %d", host.node, process.pid)
            process.kill()

    def _ready(self) -> None:
        """One that runs will do: others are tried again."""
        trouble: BaseException | None = None
        for ready in as_completed([process.ready for process in self._processes]):
            trouble = ready.exception()
            if trouble is None:
                return
        raise RuntimeError(str(trouble))

    def _add(self, name: str) -> None:
        """Start the process of a host that has none."""
        if self._started(name) is not Begun.DONE:
            with self._lock:
                self._taken.discard(name)  # the next look tries again

    def _started(self, name: str, dead: EngineProcess | None = None) -> Begun:
        """Start a process of that host, in the place of a `dead` one if there is one."""
        with self._lock:
            host = self._hosts.get(name)
            self._count += 1
            number = self._count
        if host is None or host.address is None or self._stopping.is_set():
            return Begun.NOT_YET
        try:
            beat = min(self._interval / 2, LONGEST_TICK)
            task = dataclasses.replace(self._task, device=host.device)
            ways = [host.address, *([host.way] if host.way else [])]
            link = link_to(ways, task, self._each[host.device], beat, self._tls)
        except OSError as refused:
            logger.info("host %s at %s starts no engine process: %s", name, host.machine, refused)
            return Begun.REFUSED if isinstance(refused, ConnectionRefusedError) else Begun.NOT_YET
        with self._lock:  # it may end at once: `_replace` finds it in its place
            fresh = EngineProcess(link, host.device, self._replace, number, node=host.node)
            self._where[fresh] = host
            if dead is None:
                self._processes.append(fresh)
                self._rooms.add(fresh)
                self._coming.add(fresh)
                self._change.notify_all()
            else:
                self._restarts += 1
                self._processes[self._processes.index(dead)] = fresh
                self._rooms.replace(dead, fresh, map(names.owner, self._kept_in(dead)))
                self._rehouse(dead, lambda _: fresh)
        fresh.ready.add_done_callback(lambda _: self._coming.discard(fresh))
        logger.info("engine process %d runs on node %s at %s", fresh.pid, host.node, host.machine)
        self._join_late(fresh)
        return Begun.DONE

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
        # One that never was ready: the node cannot run one, as it seems.
        begun = self._started(host.host, dead) if dead.was_ready else Begun.REFUSED
        while begun is not Begun.DONE:
            over = begun is Begun.REFUSED or time.monotonic() > end or host.host not in self._hosts
            if over and self._scattered(dead, host):
                return
            if self._stopping.wait(TRY_SECONDS):
                put_off(dead)
                return
            begun = self._started(host.host, dead)

    def _scattered(self, dead: EngineProcess, host: NodeSeen) -> bool:
        """Let other processes have its sessions; False where there are none."""
        with self._lock:
            alike = {process for process in self._processes if process.kind == dead.kind}
            if not any(map(self._takes, alike)):
                return False
            self._processes.remove(dead)
            self._rooms.drop(dead)
            self._restarts += 1
            count = len(self._kept_in(dead))
            self._rehouse(dead, lambda name: self._entered(name))
            self._taken.discard(host.host)
        logger.warning("%d sessions of node %s go to others", count, host.node)
        return True

    def _entered(self, name: str, target: EngineProcess | None = None) -> EngineProcess:
        """The process that the session is in from now on: the `target`, if there is one that takes sessions,
        or another of the same device. Called with the lock, where one of them took sessions a moment ago: it
        may have ended, and is replaced then with what it has.
        """
        tenant, kind = names.owner(name), self._homes[name][0].kind

        def enter(fits: Callable[[EngineProcess], bool]) -> EngineProcess | None:
            return self._rooms.enter(tenant, lambda p: p.kind == kind and fits(p))

        entered = (
            enter(lambda p: p is target and self._takes(p))
            or enter(self._takes)
            or enter(lambda p: p.alive)
            or enter(lambda p: True)
        )
        assert entered is not None
        return entered

    def _takes(self, process: EngineProcess) -> bool:
        """See EnginesPlacement."""
        host = self._where.get(process)
        return process.alive and host is not None and host.node not in self._drained

    # -- sessions ----------------------------------------------------------------------------------

    @property
    def _weighs(self) -> bool:
        """See EnginesPlacement."""
        return len(self._processes) > 1

    def _house(self, name: str, process: EngineProcess, options: Mapping[str, Any]) -> None:
        """See EnginesPlacement. Who opens a session later has its record."""
        if "store" in options:
            self._order += 1
            options = {**options, "leased": self._order}
        super()._house(name, process, options)

    def carry(
        self, name: str, frame: frames.Bytes | Bulk | FileOrder, request: Pending, why: Problem | None = None
    ) -> None:
        """See Placement.carry. What comes for a session that moves waits."""
        with self._lock:  # also while it is sent: nothing may overtake the session on its way
            held = self._moving.get(name)
            if held is None:
                super().carry(name, frame, request, why)
            else:
                held.append(HeldFrame(frame, request, why))

    def stop(
        self, name: str, why: Problem, writer: int | None = None, seq: int | None = None,
        only: Future[frames.Bytes] | None = None,
    ) -> None:  # fmt: skip
        """See Placement.stop. Those that wait for a session that moves are not begun."""
        order = Order(0, 0, why, writer, seq)
        alone: object = only
        with self._lock:
            for held in self._moving.get(name, ()):
                if held.why is not None or alone not in (None, held.request):
                    continue
                head = None if isinstance(held.frame, FileOrder) else batch_head(held.frame)
                if head is not None and (alone is not None or order.means(0, max(0, head.writer), head.seq)):
                    held.why = why
            super().stop(name, why, writer, seq, only)

    def close(self, name: str) -> None:
        """See Placement.close."""
        with self._lock:
            waiting = self._moving.pop(name, ())
            super().close(name)
        for held in waiting:
            held.request.set_result(unknown(name))

    def move(self, name: str, node: str | None = None) -> str:
        """Let a session go to a process of that node, or of the one with most room; the node where it is
        then. What was submitted for it before is done first. Raises ProtocolError where it cannot, and the
        session stays; or where it takes long, and it moves when it can.
        """
        held: list[HeldFrame] = []
        with self._lock:
            home, number = self._homes.get(name, (None, 0))
            if home is None:
                raise ProtocolError.of("session-not-found", f"no session is named {names.own(name)!r}")
            target = self._target(name, home, node)
            if target is None:
                return self._where[home].node
            if name in self._moving:
                raise ProtocolError.of("session-busy", "the session moves already", retry_after=1)
            self._moving[name] = held
        arrived: Future[str] = Future()
        left = PendingFuture()
        left.add_done_callback(lambda _: self._arrive(name, (home, number), target, held, arrived))
        if not home.let_go(number, left):
            left.set_result(b"")
        try:
            return arrived.result(MOVE_SECONDS)
        except TimeoutError:
            raise ProtocolError.of(
                "session-busy",
                f"the session did not leave its node within {MOVE_SECONDS:g} s; it does when it can",
                retry_after=1,
            ) from None

    def _arrive(
        self, name: str, left: tuple[EngineProcess, int], target: EngineProcess, held: list[HeldFrame],
        arrived: Future[str],
    ) -> None:  # fmt: skip
        """A session that moves has left its process, or that has ended: then another has the session, or
        will have it.
        """
        with self._lock:
            if self._moving.get(name) is not held:
                arrived.set_exception(ProtocolError.of("session-not-found", "the session was deleted"))
                return
            home, _ = left
            if self._homes[name] == left and home.alive:
                self._rooms.leave(home, names.owner(name))
                self._house(name, self._entered(name, target), self._kept[name])
            at = self._where.get(self._homes[name][0]) if self._homes[name] != left else None
            self._go_on(name)
        if at is None:
            arrived.set_exception(
                ProtocolError.of("device-lost", "the engine process ended; try again", retry_after=1)
            )
        else:
            arrived.set_result(at.node)

    def _target(self, name: str, home: EngineProcess, node: str | None) -> EngineProcess | None:
        """Where a session goes that is to leave its process; None where it is there already. Called with the
        lock.
        """
        if name not in self._kept:
            raise ProtocolError.of(
                "invalid-data",
                f"session {names.own(name)!r} keeps no record (durability memory), so it cannot move",
            )
        if home in self._where and self._where[home].node == node:
            return None

        def fits(process: EngineProcess) -> bool:
            there = process is not home and node in (None, self._where[process].node)
            return self._takes(process) and there and process.kind == home.kind

        others = self._rooms.open_to(names.owner(name), fits)
        if others:
            return others[0]
        kind = "sessions" if len(self._each) == 1 else f"sessions on {home.kind}"
        if node is None:
            raise ProtocolError.of("device-lost", f"no other node takes {kind}", retry_after=1)
        raise ProtocolError.of("invalid-data", f"no node {node!r} takes {kind}")

    def _go_on(self, name: str) -> None:
        """Submit what came for a session while it moved. Called with the lock."""
        for held in self._moving.pop(name):
            super().carry(name, held.frame, held.request, held.why)

    # -- nodes -------------------------------------------------------------------------------------

    def nodes(self) -> list[NodeStatus]:
        """The engine processes, by node, and drained nodes that have none."""
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
            known = {host.node: host for host in self._hosts.values()}
            for node in self._drained - {status.node for status in found}:
                seen = known.get(node, NodeSeen("", node, "", device=next(iter(self._each))))
                found.append(NodeStatus(node, seen.machine, seen.device, 0, False, True, 0))
        return sorted(found)

    def drain(self, node: str, drained: bool = True) -> None:
        """Let the node get no more sessions, or let it again; it keeps those that it has, see `on`. Raises
        ProtocolError where there is no such node.
        """
        with self._lock:
            if node not in {host.node for host in self._hosts.values()} | self._drained:
                raise ProtocolError.of("invalid-data", f"the cluster has no node {node!r}")
            changed = self._drained | {node} if drained else self._drained - {node}
            self._files.write(_DRAINED, "".join(f"{each}\n" for each in sorted(changed)).encode())
            self._drained = changed
            self._change.notify_all()

    def on(self, node: str) -> list[str]:
        """The sessions on that node that keep a record."""
        with self._lock:
            there = {process for process, host in self._where.items() if host.node == node}
            return [name for name in self._kept if self._homes[name][0] in there]

    def shutdown(self) -> None:
        """See Placement.shutdown. The hosts stay: what they have is the next front's."""
        self._stopping.set()
        self._overseer.tell(None)
        super().shutdown()
