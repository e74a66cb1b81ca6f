"""The process beside the front that talks to Ray: it sees to it that every node that has room for them has
its hosts, and tells where they are. `python -m gradd_server.placement.cluster.agent`, with an `AgentOrder` on
its input.

It is no part of the front because Ray ends a process that loses its node, replaces its signal handlers, and
takes long to import. It ends with its input.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import sys
import time
from typing import Any

import msgspec
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from gradd_server.placement.cluster.actor import HOSTS
from gradd_server.placement.cluster.links import Address
from gradd_server.placement.cluster.nodes import (
    AgentOrder,
    ClusterSeen,
    HostKind,
    HostShares,
    NodeSeen,
    kind_for,
)
from gradd_server.placement.cluster.ways import Ways

NAMESPACE = "gradd"
ANSWER_SECONDS = 2.0
"""Longest wait for the hosts to answer where they are."""

CALLS = 256
"""Of a host at a time: each connection that goes by calls has one that waits."""

logger = logging.getLogger("gradd.server")


class Cluster:
    """The cluster that this process is connected to."""

    def __init__(self, order: AgentOrder) -> None:
        self._order = order
        self._hosts: dict[str, Any] = {}
        """The actors, by name."""
        self._asked: dict[str, Any] = {}
        """What they were asked and have not answered."""
        self._told: dict[str, tuple[Address, int]] = {}
        self._ways: dict[str, Ways] = {}

    def look(self) -> ClusterSeen:
        """Start the hosts that are missing, and ask all where they are."""
        names = {
            f"host-{node['NodeID']}-{number}": (node, kind)
            for node in ray.nodes()
            if node["Alive"]
            for kind, count in [kind_for(node["Resources"], self._order.kinds)]
            for number in range(count)
        }
        for name in self._hosts.keys() - names.keys():
            del self._hosts[name]
            self._asked.pop(name, None)
            self._told.pop(name, None)
            self._ways.pop(name).close()
        for name, (node, kind) in names.items():
            if name not in self._hosts:
                actor = self._hosts[name] = self._started(name, node, kind.shares)
                self._ways[name] = Ways(lambda *given, actor=actor: ray.get(actor.way.remote(*given)))
            if name not in self._asked:
                self._asked[name] = self._hosts[name].where.remote()
        self._hear()
        return ClusterSeen([self._seen(name, node, kind) for name, (node, kind) in names.items()])

    def _started(self, name: str, node: dict[str, Any], shares: HostShares) -> Any:
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        return HOSTS.options(
            name=name, namespace=NAMESPACE, lifetime="detached", get_if_exists=True, max_restarts=-1,
            max_task_retries=0, max_concurrency=CALLS, num_cpus=shares.num_cpus, num_gpus=shares.num_gpus,
            memory=shares.memory or None, resources=shares.resources, scheduling_strategy=there,
        ).remote()  # fmt: skip

    def _hear(self) -> None:
        waiting = list(self._asked.values())
        ready, _ = (
            ray.wait(waiting, num_returns=len(waiting), timeout=ANSWER_SECONDS) if waiting else ([], [])
        )
        for name, asked in list(self._asked.items()):
            if asked not in ready:
                self._told.pop(name, None)  # it starts, or nobody hears of it
                continue
            del self._asked[name]
            try:
                self._told[name] = ray.get(asked)
            except ray.exceptions.RayError as error:
                logger.warning("%s does not answer: %s", name, type(error).__name__)
                self._told.pop(name, None)

    def _seen(self, name: str, node: dict[str, Any], kind: HostKind) -> NodeSeen:
        address, pid = self._told.get(name, (None, 0))
        way = address and Address("127.0.0.1", self._ways[name].port, address.secret)
        return NodeSeen(name, node["NodeID"], node["NodeManagerAddress"], address, pid, kind.device, way)


def main() -> int:
    """Look and tell until the input ends."""
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=AgentOrder)
    # What Ray and its libraries print is for the log; the lines are for the front.
    lines = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    cluster: Cluster | None = None
    while True:
        began = time.monotonic()
        try:
            if cluster is None:
                ray.init(
                    order.address or "auto", namespace=NAMESPACE, log_to_driver=False,
                    logging_level=logging.WARNING,
                )  # fmt: skip
                # Ray's own would end the process a moment after whoever sent the signal had it end by itself.
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                cluster = Cluster(order)
            seen = cluster.look()
        except Exception as error:
            seen = ClusterSeen([], f"{type(error).__name__}: {error}"[:1000])
            if cluster is None:
                ray.shutdown()
        lines.write(msgspec.json.encode(seen) + b"\n")
        lines.flush()
        left = order.interval - (time.monotonic() - began)
        if select.select([sys.stdin], [], [], max(0.05, left))[0] and not sys.stdin.buffer.readline():
            return 0


if __name__ == "__main__":
    raise SystemExit(main())
