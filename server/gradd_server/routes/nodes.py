"""The nodes of a cluster: which there are, where sessions are, and how those move."""

from __future__ import annotations

import asyncio
import logging

import msgspec
from fastapi import APIRouter
from gradd_protocol import strictjson
from gradd_protocol.jsondata import invalid_json
from gradd_protocol.problems import ProtocolError
from starlette.requests import Request
from starlette.responses import Response

from gradd_server.bodies import OPTIONS_BYTES, json_text
from gradd_server.errors import Refused
from gradd_server.nodes import Drained, Moved, NodeList, NodeLoad
from gradd_server.options import MoveOptions
from gradd_server.placement.cluster.placement import ClusterPlacement
from gradd_server.replies import json_response
from gradd_server.routes import entry_of, front_of, key_of

logger = logging.getLogger("gradd.server")

router = APIRouter()

_move = msgspec.json.Decoder(MoveOptions)


def _cluster(request: Request) -> ClusterPlacement:
    placement = front_of(request).sessions.placement
    if not isinstance(placement, ClusterPlacement):
        raise Refused("invalid-data", "this daemon has no cluster: its sessions are on its own machine")
    return placement


def _for_operators(request: Request) -> ClusterPlacement:
    if key_of(request).role != "operator":
        raise Refused("forbidden", "the nodes of a cluster are for operators to see and to drain")
    return _cluster(request)


@router.get("/v1/nodes")
async def list_nodes(request: Request) -> Response:
    """The engine processes of the cluster, by node. For operators."""
    cluster = _for_operators(request)
    return json_response(NodeList([NodeLoad(*status) for status in cluster.nodes()]))


@router.post("/v1/nodes/{node}:drain")
async def drain(request: Request, node: str) -> Response:
    """Give the node no more sessions, and move those that it has. For operators.

    The answer comes when all have moved that can; what runs is finished first. Sessions without a record
    stay.
    """
    cluster = _for_operators(request)
    cluster.drain(node)
    moved = 0
    for name in cluster.on(node):
        try:
            await asyncio.to_thread(cluster.move, name)
        except ProtocolError as refused:
            logger.warning("session %s stays on node %s: %s", name, node, refused)
        else:
            moved += 1
    left = sum(status.sessions for status in cluster.nodes() if status.node == node)
    return json_response(Drained(moved, left))


@router.post("/v1/nodes/{node}:resume")
async def resume(request: Request, node: str) -> Response:
    """Let the node have sessions again; those that left it stay where they are. For operators."""
    _for_operators(request).drain(node, drained=False)
    return Response(status_code=204)


@router.post("/v1/sessions/{name}:move")
async def move(request: Request, name: str) -> Response:
    """Move the session to another node of the cluster.

    What was sent before is finished first; what comes meanwhile waits. Clients notice nothing.
    """
    front, entry = front_of(request), entry_of(request)
    cluster = _cluster(request)
    text = await json_text(request, front.settings.body_timeout, OPTIONS_BYTES)
    options = strictjson.decode(_move, text, invalid_json) if text else MoveOptions()
    return json_response(Moved(await asyncio.to_thread(cluster.move, entry.key, options.node)))
