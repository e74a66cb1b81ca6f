"""What the front knows of the cluster, as the agent tells it: a line of JSON each time that it looked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from gradd_server.placement.cluster.links import Address


class NodeSeen(msgspec.Struct, frozen=True):
    """A host of engine processes, and the node where it is."""

    host: str
    """Its name, which no other has."""
    node: str
    """Ray's id of the node."""
    machine: str
    """The node's address."""
    address: Address | None = None
    """None while it does not answer."""
    pid: int = 0
    """Of the host."""
    device: str = "cpu"
    """What sessions run on there: ``cpu`` or ``cuda``."""
    way: Address | None = None
    """Where a way to it by Ray's calls begins, on the front's machine."""


class ClusterSeen(msgspec.Struct, frozen=True):
    """The hosts of the nodes that are alive."""

    hosts: list[NodeSeen]
    trouble: str = ""
    """Why they cannot be told, or what they were before."""


class HostShares(msgspec.Struct, frozen=True):
    """What a host asks Ray for, see `parse`."""

    num_cpus: float = 0.0
    num_gpus: float = 0.0
    memory: float = 0.0
    resources: dict[str, float] = {}

    @classmethod
    def parse(cls, text: str) -> HostShares:
        """Of ``num_cpus=2,num_gpus=0.5,memory=8e9,gradd=1``: amounts of Ray's own resources, and of others
        that some nodes have.
        """
        own: dict[str, float] = {}
        others: dict[str, float] = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, _, amount = part.partition("=")
            (own if name in ("num_cpus", "num_gpus", "memory") else others)[name] = float(amount)
        return cls(**own, resources=others)

    def fitting(self, has: Mapping[str, float], most: int) -> int:
        """How many hosts fit on a node that `has` these amounts by Ray's names, `most` of them; what others
        use of it is Ray's affair.
        """
        asked = {"CPU": self.num_cpus, "GPU": self.num_gpus, "memory": self.memory, **self.resources}
        # Amounts are added up as floats: ten times 0.1 fit into 1.
        fit = (int(has.get(name, 0.0) / amount + 1e-6) for name, amount in asked.items() if amount)
        return min(most, *fit, most)


class HostKind(msgspec.Struct, frozen=True):
    """Hosts of engine processes for that device."""

    device: str
    shares: HostShares
    each: int
    """Hosts of a node, where it has what so many ask for."""


def kind_for(has: Mapping[str, float], kinds: Sequence[HostKind]) -> tuple[HostKind, int]:
    """The first of the kinds that fits on a node that `has` these amounts, and how many hosts of it; none of
    the last where there is none.
    """
    for kind in kinds:
        if count := kind.shares.fitting(has, kind.each):
            return kind, count
    return kinds[-1], 0


class AgentOrder(msgspec.Struct, frozen=True):
    """What the agent is to do: its first line of input, as JSON."""

    address: str
    """Of the cluster, as in `ray.init`."""
    kinds: list[HostKind]
    """A node has hosts of the first kind that fits there."""
    interval: float
    """Seconds between two looks."""
