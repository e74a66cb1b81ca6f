"""What `GET /v1/live` says, for the dashboard: `GET /v1/status`, as far as the asker may see it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from gradd_protocol.version import VERSION
from gradd_runtime.process import SessionFigures

from gradd_server.answers import LiveSession, LiveState
from gradd_server.front import Front
from gradd_server.keys import Key
from gradd_server.open_session import OpenSession
from gradd_server.shares import Share
from gradd_server.telemetry.status import engine_load, tenant_loads

MOST_SESSIONS = 500
"""Sessions in one state; those with figures are among them."""


async def live_state(front: Front, key: Key) -> LiveState:
    """The daemon at the moment, for whoever shows `key`."""
    survey = await front.surveyor.recent()
    told = [seen.figures for seen in survey.processes if seen.figures is not None]
    figures = {session.key: session for one in told for session in one.recent}
    rules = key.role == "operator"
    entries = list(front.sessions) if rules else front.sessions.of(key.tenant)
    if reads := isinstance(key, Share):
        entries = [entry for entry in entries if entry.name == key.session]
    shown = sorted(entries, key=lambda entry: _rank(figures.get(entry.key)))[:MOST_SESSIONS]
    return LiveState(
        version=VERSION,
        tenant=key.tenant,
        role="reader" if reads else key.role,
        ready=not front.draining.is_set(),
        uptime_seconds=time.time() - front.counts.began,
        engines=[engine_load(seen) for seen in survey.processes] if rules else [],
        tenants=[load for load in tenant_loads(told) if rules or (load.tenant == key.tenant and not reads)],
        sessions=list(_sessions(shown, figures)),
        more=len(entries) - len(shown),
    )


def _rank(figures: SessionFigures | None) -> float:
    return float("inf") if figures is None else figures.idle


def _sessions(entries: Iterable[OpenSession], figures: dict[str, SessionFigures]) -> Iterator[LiveSession]:
    for entry in entries:
        known = figures.get(entry.key)
        if known is None:
            yield LiveSession(entry.tenant, entry.name, entry.streams)
        else:
            yield LiveSession(
                entry.tenant, entry.name, entry.streams, known.tensors, known.bytes, known.idle, known.counts
            )
