"""The daemon as an ASGI app. All dependencies are passed in, so that a test can run two."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from fastapi import FastAPI
from gradd_protocol.version import VERSION
from gradd_runtime.process import InlinePlacement, Placement
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.types import Lifespan

from gradd_server import errors
from gradd_server.front import Front
from gradd_server.gate import PROBES, Gate
from gradd_server.keyring import Keyring
from gradd_server.placement.engines import EnginesPlacement
from gradd_server.routes import (
    about,
    batches,
    dashboard,
    hooks,
    nodes,
    reducing,
    sessions,
    shares,
    snapshots,
    tensors,
    watching,
)
from gradd_server.sessions import Sessions
from gradd_server.settings import Settings
from gradd_server.stores import Stores
from gradd_server.stream import StreamEndpoint
from gradd_server.telemetry.admin import AdminGate, metrics_route
from gradd_server.telemetry.checks import Checks

logger = logging.getLogger("gradd.server")

CULL_SECONDS = 5.0
"""Interval between checks for expired anonymous sessions."""

KEY_SECONDS = 1.0
"""How often the daemon looks whether the keys of open streams are still valid; each message looks too."""


def create_app(
    settings: Settings,
    placement: Placement,
    ops: Mapping[str, Any],
    clock: Callable[[], float] = time.monotonic,
    stores: Stores | None = None,
    keys: Keyring | None = None,
    checks: Mapping[str, Callable[[], str]] | None = None,
) -> Gate:
    """The app over `placement`, serving `ops` as its catalogue; `clock` (in seconds) expires sessions, and
    `stores` keeps them. It answers those who show one of `keys`; without any nobody, but for settings that
    ask for no authentication. `checks` are those of `Checks`, beside the one of the engine processes.
    """
    ring = (keys or Keyring()) if settings.auth else None
    registry = Sessions(placement, settings, clock, stores, None if ring is None else ring.shares)
    front = Front(settings, registry, ops, ring)
    own: dict[str, Callable[[], str]] = {}
    if isinstance(placement, (InlinePlacement, EnginesPlacement)):
        own["engines"] = placement.unwell
    front.checks = Checks({**own, **(checks or {})})

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        chores = [
            asyncio.create_task(_cull_for_ever(front.sessions)),
            asyncio.create_task(_watch_keys_for_ever(front)),
        ]
        if isinstance(placement, EnginesPlacement):
            placement.follow(asyncio.get_running_loop())
        await front.sessions.restore()
        if front.sessions.disk is not None:
            chores.append(asyncio.create_task(front.sessions.disk.watch()))
        try:
            yield
        finally:
            for chore in chores:
                chore.cancel()
            if isinstance(placement, EnginesPlacement):
                placement.leave()

    app = _bare(front, lifespan)
    app.router.routes += http_routes()
    app.router.routes.append(WebSocketRoute("/v1/sessions/{name}/stream", StreamEndpoint(front)))
    return Gate(app, front)


def create_admin(front: Front, private: bool) -> AdminGate:
    """The app of the admin listener; `private`: nobody else can reach it, so it asks for no key."""
    app = _bare(front)
    app.router.routes += [route for route in about.router.routes if getattr(route, "path", "") in PROBES]
    app.router.routes.append(metrics_route(front))
    return AdminGate(app, front, private)


def _bare(front: Front, lifespan: Lifespan[FastAPI] | None = None) -> FastAPI:
    app = FastAPI(
        title="gradd",
        version=VERSION,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.front = front
    errors.install(app)
    return app


def http_routes() -> list[BaseRoute]:
    """All routes except the stream."""
    fast = (about, sessions, nodes, snapshots, shares)
    return [
        *(route for part in fast for route in part.router.routes),
        *batches.routes,
        *tensors.routes,
        *reducing.routes,
        *hooks.routes,
        *watching.routes,
        *dashboard.routes,
    ]


async def _cull_for_ever(registry: Sessions) -> None:
    while True:
        await asyncio.sleep(CULL_SECONDS)
        try:
            await registry.cull()
        except Exception:
            logger.exception("culling sessions failed")


async def _watch_keys_for_ever(front: Front) -> None:
    while front.keys is not None:
        await asyncio.sleep(KEY_SECONDS)
        for stream in list(front.streams):
            stream.check()
