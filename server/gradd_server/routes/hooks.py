"""Hooks, declared as programs that the session runs when a backward pass comes by."""

from __future__ import annotations

from gradd_protocol.messages import DeleteHook, GetHook, ListHooks, PutHook
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gradd_server.bodies import json_text
from gradd_server.replies import respond
from gradd_server.routes import front_of
from gradd_server.sessions import opened
from gradd_server.wire import wrapped


async def list_hooks(request: Request) -> Response:
    """List the session's hooks in the order in which they were declared."""
    front = front_of(request)
    entry = front.sessions.find(request.path_params["name"])
    return respond(*await front.sessions.ask(entry, ListHooks()))


async def put_hook(request: Request) -> Response:
    """Declare a hook: 201 where the name is new, 200 where it replaces another.

    A tensor's or its node's, run on the server by each pass that comes by: it may look at the gradient,
    replace it, and write to named tensors.
    """
    front = front_of(request)
    entry = front.sessions.find(request.path_params["name"])
    text = await json_text(request, front.settings.body_timeout)
    message = PutHook(request.path_params["hook"])
    return respond(*opened(await front.sessions.submit(entry, wrapped(message, text))))


async def get_hook(request: Request) -> Response:
    """Read a hook, and how often it ran."""
    front = front_of(request)
    entry = front.sessions.find(request.path_params["name"])
    return respond(*await front.sessions.ask(entry, GetHook(request.path_params["hook"])))


async def delete_hook(request: Request) -> Response:
    """Remove a hook; 204, also where there is none."""
    front = front_of(request)
    entry = front.sessions.find(request.path_params["name"])
    message = DeleteHook(request.path_params["hook"])
    return respond(*await front.sessions.ask(entry, message), done=204)


routes = [
    Route("/v1/sessions/{name}/hooks", list_hooks, methods=["GET"]),
    Route("/v1/sessions/{name}/hooks/{hook}", put_hook, methods=["PUT"]),
    Route("/v1/sessions/{name}/hooks/{hook}", get_hook, methods=["GET"]),
    Route("/v1/sessions/{name}/hooks/{hook}", delete_hook, methods=["DELETE"]),
]
