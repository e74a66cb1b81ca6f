"""What `GET /v1/status` says, for `gradd top`."""

from __future__ import annotations

import time

from gradd_protocol import names
from gradd_protocol.version import VERSION
from gradd_runtime.process import Durations, Figures, TenantFigures

from gradd_server.answers import ActiveSession, DaemonStatus, EngineLoad, TenantLoad
from gradd_server.front import Front
from gradd_server.telemetry.survey import Seen


async def status_of(front: Front) -> DaemonStatus:
    """What the daemon does at the moment."""
    survey = await front.surveyor.look()
    ready = not (front.draining.is_set() or any((await front.checks.faults()).values()))
    told = [seen.figures for seen in survey.processes if seen.figures is not None]
    recent = sorted((session for figures in told for session in figures.recent), key=lambda s: s.idle)
    return DaemonStatus(
        version=VERSION,
        ready=ready,
        uptime_seconds=time.time() - front.counts.began,
        connections=front.connections(),
        streams=len(front.streams),
        unanswered=front.unanswered - 1,  # without this request
        traffic_bytes=front.traffic.used,
        restarts=survey.restarts,
        lost=survey.lost,
        engines=[engine_load(seen) for seen in survey.processes],
        tenants=tenant_loads(told),
        sessions=[
            ActiveSession(names.owner(s.key), names.own(s.key), s.tensors, s.bytes, s.idle, s.counts)
            for s in recent
        ],
    )


def engine_load(seen: Seen) -> EngineLoad:
    """An engine process, by what it told last."""
    known = seen.figures or Figures({}, {}, {}, Durations(), Durations(), Durations())
    return EngineLoad(
        seen.pid, seen.up, seen.answered, seen.waiting, seen.resident, known.sessions, known.tensors,
        known.bytes, known.quota, known.counts, known.execution.seconds, seen.node,
    )  # fmt: skip


def tenant_loads(told: list[Figures]) -> list[TenantLoad]:
    """The tenants of all engine processes, by name."""
    found: dict[str, TenantFigures] = {}
    for figures in told:
        for name, more in figures.tenants.items():
            sums = found.setdefault(name, TenantFigures())
            sums.sessions += more.sessions
            sums.bytes += more.bytes
            sums.batches += more.batches
            sums.seconds += more.seconds
    return [TenantLoad(name, t.sessions, t.bytes, t.batches, t.seconds) for name, t in sorted(found.items())]
