"""Control and bulk over HTTP, shared by the stream and http transports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
import numpy as np
from gradd_protocol import dtypes, frames
from gradd_protocol import messages as m
from gradd_protocol.problems import Problem
from msgspec import json

from .._exceptions import ConnectionFailed, error_of
from .base import Dropped
from .link import Link

if TYPE_CHECKING:
    from collections.abc import Sequence
    from http.client import HTTPResponse

OCTETS = "application/octet-stream"
_JSON = {"Content-Type": "application/json"}
_problem = json.Decoder(Problem)
_tensors = json.Decoder(dict[str, Any])


class Control:
    """One httpx client for one session's resource."""

    def __init__(self, url: str, session: str, token: str | None) -> None:
        self.base = url.rstrip("/")
        self.path = f"/v1/sessions/{quote(session, safe='')}"
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.client = httpx.Client(
            base_url=self.base,
            headers=self._headers,
            timeout=httpx.Timeout(None, connect=5.0),
            trust_env=False,
        )
        self._link = self.link()

    def link(self) -> Link:
        """A connection of its own to the daemon."""
        return Link(self.base, self._headers)

    def call(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        """One request; Dropped where the daemon is away, the problem's exception for an error status."""
        try:
            response = self.client.request(method, self.path + path, **kwargs)
        except httpx.HTTPError as e:
            raise Dropped(str(e)) from e
        if response.status_code >= 400:
            raise _refusal(response.status_code, response.content)
        return response

    def attach(self, resume: tuple[int, int] | None) -> m.Attached:
        """POST :attach (and create the session where it is new)."""
        body = m.Attach("gradd-python", *(resume or (None, None)))
        try:
            if resume is None:
                self.call("PUT", "")
            response = self.call("POST", ":attach", content=json.encode(body), headers=_JSON)
        except Dropped as e:
            raise ConnectionFailed(f"no gradd daemon answers at {self.base}: {e}") from e
        return json.decode(response.content, type=m.Attached)

    def request(
        self, message: m.Request, buffers: Sequence[frames.Array]
    ) -> tuple[m.Reply, list[frames.Array]]:
        """The REST form of a request outside the order of batches."""
        match message:
            case m.Stage():
                (array,) = buffers
                headers = {
                    "Content-Type": OCTETS,
                    "Gradd-Dtype": dtypes.of(array.dtype).name,
                    "Gradd-Shape": ",".join(map(str, array.shape)),
                }
                data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
                _checked(*self._link.call("PUT", f"{self.path}/uploads/{message.key}", data, headers))
                return m.Done(created=True), []
            case m.GetResult():
                return self._octets(f"/results/{message.key}", message.key)
            case m.GetTensor():
                return self._octets(f"/tensors/{quote(message.name, safe='@')}", message.name)
            case m.ListTensors():
                body = self.call("GET", "/tensors").content
                return m.Tensors(
                    json.decode(json.encode(_tensors.decode(body)["tensors"]), type=list[m.TensorInfo])
                ), []
            case m.Info():
                return m.SessionReply(json.decode(self.call("GET", "").content, type=m.SessionInfo)), []
            case m.Profile():
                text = json.encode({"on": message.on})
                answer = self.call("POST", ":profile", content=text, headers=_JSON)
                return json.decode(answer.content, type=m.Profiled), []
        raise TypeError(f"{type(message).__name__} is not a request of a client")

    def _octets(self, path: str, name: str) -> tuple[m.Reply, list[frames.Array]]:
        array = _checked(*self._link.call("GET", self.path + path, None, {"Accept": OCTETS}, _values))
        info = m.TensorInfo(
            name, None, list(array.shape), [], dtypes.of(array.dtype).name, False, True, 0, False
        )
        return m.TensorReply(info), [array]

    def delete(self) -> None:
        """DELETE the session."""
        self.call("DELETE", "")

    def close(self) -> None:
        """Close the connections."""
        self.client.close()
        self._link.close()


class Remote:
    """What the stream and http transports have in common: all but the batches goes over `Control`."""

    def __init__(self, url: str, session: str, token: str | None) -> None:
        self._control = Control(url, session, token)

    def request(
        self, message: m.Request, buffers: Sequence[frames.Array] = ()
    ) -> tuple[m.Reply, list[frames.Array]]:
        """See Transport.request."""
        return self._control.request(message, buffers)

    def delete(self) -> None:
        """See Transport.delete."""
        self._control.delete()

    def close(self) -> None:
        """See Transport.close."""
        self._drop()
        self._control.close()

    def _drop(self) -> None:
        """Give up the way that batches take."""
        raise NotImplementedError(f"{type(self).__name__} does not say how its batches travel")


def problem_of(status: int, body: bytes) -> Problem:
    """The problem in an error response; one that says no more than the status where it holds none."""
    try:
        return _problem.decode(body)
    except Exception:
        return Problem(type="/problems/unknown", title=f"HTTP {status}", status=status)


def _refusal(status: int, body: bytes) -> Exception:
    return error_of(problem_of(status, body), None, None)


def _checked(response: HTTPResponse, found: Any) -> Any:
    if response.status >= 400:
        raise _refusal(response.status, found)
    return found


def _values(response: HTTPResponse) -> frames.Array:
    """A tensor's octets, read into memory of its own."""
    dtype = dtypes.BY_NAME[response.headers["Gradd-Dtype"]].numpy
    array = np.empty([int(size) for size in response.headers["Gradd-Shape"].split(",") if size], dtype)
    view = array.reshape(-1).view(np.uint8).data
    while view:
        count = response.readinto(view)
        if not count:
            raise ConnectionError("the answer ended early")
        view = view[count:]
    response.read()  # the end of the body, so that the connection can be used again
    return array
