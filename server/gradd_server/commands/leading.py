"""`gradd serve --placement ray`: a front that leads, or waits to and passes connections on meanwhile."""

from __future__ import annotations

import importlib.util
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from typing import NamedTuple, Protocol

import msgspec
from gradd_protocol.version import VERSION
from gradd_runtime.process import PagingRules, Placement, announce
from gradd_runtime.store import Bucket, Files, Folder

from gradd_server.commands.exits import Unavailable
from gradd_server.daemon import url_of
from gradd_server.datadir import DataDir
from gradd_server.fronts.following import Follower, Unreachable
from gradd_server.fronts.leads import FrontAddress, Lead, Leads, this_machine
from gradd_server.placement.cluster.nodes import AgentOrder, HostKind, HostShares
from gradd_server.placement.cluster.overseer import Overseer
from gradd_server.placement.cluster.placement import LOOK_SECONDS, ClusterPlacement
from gradd_server.placement.cluster.tls import Tls
from gradd_server.placement.gpus import MOST_GPUS
from gradd_server.placement.link import EngineTask
from gradd_server.placement.watch import LOOKS
from gradd_server.settings import Settings
from gradd_server.telemetry.manager import ServiceManager

STOP_SECONDS = 5.0
"""Longest wait for engine processes to exit after the front finished or abandoned its work."""


class Serve(Protocol):
    """What serves over a placement until a signal, or until the lead is lost: whether all was finished."""

    def __call__(
        self, data: DataDir, listener: socket.socket, make: Callable[[], Placement], lead: Lead, /
    ) -> bool:
        """See Serve."""
        raise NotImplementedError


def lead_in_turn(
    settings: Settings, rules: PagingRules, data: DataDir, listener: socket.socket, manager: ServiceManager,
    serve: Serve,
) -> bool:  # fmt: skip
    """Serve whenever this front leads, until a signal; whether all work was finished. Raises Unavailable."""
    if importlib.util.find_spec("ray") is None:
        raise Unavailable("--placement ray needs ray: pip install 'gradd[server,ray]'")
    url = url_of(listener, settings.tls)
    own = FrontAddress(_reached(settings, listener, url), this_machine())

    def told(front: FrontAddress) -> None:
        text = f"gradd {VERSION} listens on {url} and passes connections on to {front.url}, which leads"
        announce(text, url=url, version=VERSION)
        manager.tell(READY=1, STATUS=f"Passes connections on to {front.url}")

    home = _home(settings, data)
    kinds = _kinds(settings)
    with closing(Overseer(AgentOrder(settings.ray_address, kinds, LOOK_SECONDS))) as overseer:
        while True:
            follower = Follower(Leads(home.leads), own, listener, settings.node_silence_seconds, told)
            try:
                lead = follower.run()
            except Unreachable as refused:
                raise Unavailable(str(refused)) from None
            if lead is None:
                return True
            make = partial(_placement, settings, rules, overseer, kinds, lead.number, home.files)
            with lead:
                done = serve(data, listener, make, lead)
            if not lead.lost:
                return done


class _Home(NamedTuple):
    """Where fronts tell one another of leads, and where the leading one keeps the rest."""

    leads: Files
    files: Files


def _home(settings: Settings, data: DataDir) -> _Home:
    """Raises Unavailable where an object store does not do."""
    if not settings.records:
        return _Home(Folder(data.path / "leads"), Folder(data.path))
    try:
        bucket = Bucket(settings.records)
        bucket.verify()
        return _Home(Bucket(f"{settings.records}/leads"), bucket)
    except OSError as refused:
        raise Unavailable(f"--records {settings.records}: {refused}") from None


def _reached(settings: Settings, listener: socket.socket, url: str) -> str:
    """Where other fronts reach this one."""
    if not settings.front_address:
        if listener.getsockname()[0] not in ("0.0.0.0", "::"):
            return url
        said = socket.gethostname()
    else:
        said = settings.front_address
    host = said if ":" in said.rpartition("]")[2] else f"{said}:{listener.getsockname()[1]}"
    return f"{'https' if settings.tls else 'http'}://{host}"


def _kinds(settings: Settings) -> list[HostKind]:
    """What hosts of each device are to be; those with a GPU first, which else would be taken for less."""
    shares, alone = HostShares.parse(settings.ray_share), len(settings.devices) == 1
    found = []
    for device in sorted(settings.devices, reverse=True):
        if device == "cpu":
            own = shares if alone else msgspec.structs.replace(shares, num_gpus=0.0)
            found.append(HostKind(device, own, settings.workers))
        else:
            asks = shares.num_gpus or not (alone and settings.ray_share)
            own = msgspec.structs.replace(shares, num_gpus=shares.num_gpus or 1.0) if asks else shares
            found.append(HostKind(device, own, MOST_GPUS))
    return found


def _placement(
    settings: Settings,
    rules: PagingRules,
    overseer: Overseer,
    kinds: Sequence[HostKind],
    lead: int,
    files: Files,
) -> ClusterPlacement:
    """Raises RuntimeError where no node runs engine processes, or Ray's certificates do not load."""
    try:
        tls = Tls.of(os.environ)
    except OSError as refused:
        raise RuntimeError(f"Ray's certificates (RAY_TLS_...): {refused}") from None
    task = EngineTask(
        "", settings.threads, (settings.engine_silence_seconds or 60.0) / LOOKS,
        (settings.process_bytes, settings.tenant_bytes, 0), rules,
    )  # fmt: skip
    return ClusterPlacement(
        overseer, {kind.device: kind.each for kind in kinds}, task, lead, files, STOP_SECONDS,
        settings.node_silence_seconds, settings.cancel_grace, settings.max_batch_seconds, tls,
    )  # fmt: skip
