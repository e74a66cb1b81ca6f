"""The Ray actor that hosts engine processes on its node. Only a process of Ray's imports this."""

from __future__ import annotations

import os
from typing import Any

import ray

from gradd_server.placement.cluster.host import EngineHost
from gradd_server.placement.cluster.links import Address
from gradd_server.placement.cluster.tls import Tls
from gradd_server.placement.cluster.ways import WayEnds


class NodeHost:
    """An `EngineHost` for as long as the actor lives. Ray starts another in its place where it dies; what its
    processes held is in the sessions' records.
    """

    def __init__(self) -> None:
        self._host = EngineHost(ray.util.get_node_ip_address(), Tls.of(os.environ))
        self._ways = WayEnds(self._host.address.host, self._host.address.port)

    def where(self) -> tuple[Address, int]:
        """Its address, and the id of its process."""
        return self._host.address, os.getpid()

    def way(self, method: str, *given: Any) -> Any:
        """Call a method of its `WayEnds`."""
        return getattr(self._ways, method)(*given)


HOSTS = ray.remote(NodeHost)
"""The actor's class."""
