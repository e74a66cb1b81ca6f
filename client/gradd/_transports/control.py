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

from .._exceptions import ConnectionFailed, ServerError, error_of
from .base import Dropped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SLICE = 1 << 20
_problem = json.Decoder(Problem)
_tensors = json.Decoder(dict[str, Any])


def slices(view: memoryview) -> Iterator[Any]:
    """A body in pieces: httpx copies the rest of a bytes body at every send, a generator it does not."""
    for at in range(0, len(view), _SLICE):
        yield view[at : at + _SLICE]


class Control:
    """One httpx client for one session's resource."""

    def __init__(self, url: str, session: str, token: str | None) -> None:
        self.base = url.rstrip("/")
        self.path = f"/v1/sessions/{quote(session, safe='')}"
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.client = httpx.Client(
            base_url=self.base, headers=headers, timeout=httpx.Timeout(None, connect=5.0), trust_env=False
        )

    def call(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        """One request; Dropped where the daemon is away, the problem's exception for an error status."""
        try:
            response = self.client.request(method, self.path + path, **kwargs)
        except httpx.HTTPError as e:
            raise Dropped(str(e)) from e
        if response.status_code >= 400:
            raise error_of(read_problem(response), None, None)
        return response

    def attach(self, resume: tuple[int, int] | None) -> m.Attached:
        """POST :attach (and create the session where it is new)."""
        body = m.Attach("gradd-python", *(resume or (None, None)))
        try:
            if resume is None:
                self.call("PUT", "")
            response = self.call(
                "POST", ":attach", content=json.encode(body), headers={"Content-Type": "application/json"}
            )
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
                data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
                headers = {
                    "Content-Type": "application/octet-stream",
                    "Content-Length": str(data.nbytes),
                    "Gradd-Dtype": dtypes.of(array.dtype).name,
                    "Gradd-Shape": ",".join(map(str, array.shape)),
                }
                self.call("PUT", f"/uploads/{message.key}", content=slices(data), headers=headers)
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
        raise TypeError(f"{type(message).__name__} is not a request of a client")

    def _octets(self, path: str, name: str) -> tuple[m.Reply, list[frames.Array]]:
        """A tensor as raw octets, read into memory of its own."""
        try:
            with self.client.stream(
                "GET", self.path + path, headers={"Accept": "application/octet-stream"}
            ) as response:
                if response.status_code >= 400:
                    response.read()
                    raise error_of(read_problem(response), None, None)
                dtype = dtypes.BY_NAME[response.headers["Gradd-Dtype"]].numpy
                shape = [int(s) for s in response.headers["Gradd-Shape"].split(",") if s]
                array = np.empty(shape, dtype)
                view = array.reshape(-1).view(np.uint8).data
                at = 0
                for chunk in response.iter_raw():
                    view[at : at + len(chunk)] = chunk
                    at += len(chunk)
        except httpx.HTTPError as e:
            raise Dropped(str(e)) from e
        info = m.TensorInfo(name, None, shape, [], response.headers["Gradd-Dtype"], False, True, 0, False)
        return m.TensorReply(info), [array]

    def delete(self) -> None:
        """DELETE the session."""
        self.call("DELETE", "")

    def close(self) -> None:
        """Close the connections."""
        self.client.close()


def read_problem(response: httpx.Response) -> Problem:
    """The problem in an error response; ServerError where it holds none."""
    try:
        return _problem.decode(response.content)
    except Exception:
        raise ServerError(
            Problem(
                type="/problems/unknown", title=f"HTTP {response.status_code}", status=response.status_code
            )
        ) from None
