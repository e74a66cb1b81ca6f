"""What a notebook shows of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradd_engine.progress import size

from .. import _notebook

if TYPE_CHECKING:
    from .core import Core


def html_of(session: Core) -> str:
    """Name, daemon, memory and counts. Nothing is sent with it that was recorded, and a daemon that computes
    is not waited for.
    """
    wire = session.wire
    state = "closed" if session._closed else "ended" if wire.ended is not None else "open"
    facts = {"daemon": session.url, "device": session.backend.device, "state": state}
    glance = None if state != "open" or wire.presence.away else wire.transport.glance()
    counts = wire.counts
    rows = [
        ("sent by this client", f"{counts['batches']} batches, {counts['steps']} steps"),
        ("round trips", counts["round_trips"]),
    ]
    if glance is not None:
        ran = glance.planned + glance.eager
        hits = f"{glance.planned} of {ran} batches ({glance.planned / ran:.0%})" if ran else "none yet"
        rows = [("memory", f"{glance.tensors} tensors, {size(glance.bytes)}"), ("plan hits", hits), *rows]
    return _notebook.shown(session.name, facts, _notebook.table(rows))
