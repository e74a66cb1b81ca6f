"""Hooks, declared as programs that the session runs during backward passes."""

from __future__ import annotations

from gradd_protocol.messages import DeleteHook, GetHook, ListHooks, PutHook
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gradd_server.bodies import json_frame
from gradd_server.replies import respond
from gradd_server.routes import entry_of, front_of
from gradd_server.sessions import opened


async def list_hooks(request: Request) -> Response:
    """List the session's hooks in order of declaration."""
    front = front_of(request)
    entry = entry_of(request)
    return respond(*await front.sessions.ask(entry, ListHooks()))


async def put_hook(request: Request) -> Response:
    """Declare a hook: 201 if the name is new, 200 if it replaces another.

    The server runs it when a backward pass reaches its tensor or node: it may read the gradient, replace it,
    and write to named tensors.
    """
    front = front_of(request)
    entry = entry_of(request)
    frame = await json_frame(request, PutHook(request.path_params["hook"]), front.settings.body_timeout)
    return respond(*opened(await front.sessions.submit(entry, frame)))


async def get_hook(request: Request) -> Response:
    """Read a hook, and how often it ran."""
    front = front_of(request)
    entry = entry_of(request)
    return respond(*await front.sessions.ask(entry, GetHook(request.path_params["hook"])))


async def delete_hook(request: Request) -> Response:
    """Remove a hook; 204 even if there is none."""
    front = front_of(request)
    entry = entry_of(request)
    message = DeleteHook(request.path_params["hook"])
    return respond(*await front.sessions.ask(entry, message), done=204)


routes = [
    Route("/v1/sessions/{name}/hooks", list_hooks, methods=["GET"]),
    Route("/v1/sessions/{name}/hooks/{hook}", put_hook, methods=["PUT"]),
    Route("/v1/sessions/{name}/hooks/{hook}", get_hook, methods=["GET"]),
    Route("/v1/sessions/{name}/hooks/{hook}", delete_hook, methods=["DELETE"]),
]
