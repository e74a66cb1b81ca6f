"""The HTTP routes: `about` and `sessions` use FastAPI; `batches` and `tensors`, which stream, Starlette."""

from __future__ import annotations

from starlette.requests import Request

from gradd_server.front import Front
from gradd_server.keys import Key
from gradd_server.open_session import OpenSession
from gradd_server.traffic import Load


def front_of(request: Request) -> Front:
    """The front of the daemon that serves `request`."""
    front = request.app.state.front
    assert isinstance(front, Front)
    return front


def key_of(request: Request) -> Key:
    """Whose request it is: the gate has seen to it that there is somebody."""
    key = request.scope["key"]
    assert isinstance(key, Key)
    return key


def load_of(request: Request) -> Load:
    """What the request holds."""
    load = request.scope["load"]
    assert isinstance(load, Load)
    return load


def entry_of(request: Request) -> OpenSession:
    """The session that the path names, of the tenant who asks. Raises Refused: 400, 404."""
    return front_of(request).sessions.find(key_of(request).tenant, request.path_params["name"])
