"""The HTTP routes: `about` and `sessions` use FastAPI; `batches` and `tensors`, which stream, Starlette."""

from __future__ import annotations

from starlette.requests import Request

from gradd_server.front import Front


def front_of(request: Request) -> Front:
    """The front of the daemon that serves `request`."""
    front = request.app.state.front
    assert isinstance(front, Front)
    return front
