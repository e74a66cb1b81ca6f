"""Control and bulk data over HTTP, shared by the stream and http transports."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import numpy as np
from gradd_engine.progress import Transfer
from gradd_protocol import advice, dtypes, frames
from gradd_protocol import messages as m
from msgspec import DecodeError, Struct, json

from .._aligned import empty
from .._exceptions import ConnectionFailed, GraddError, ServerError
from . import waits
from .base import PROXIES, Dropped, Glance, extensions_of
from .credentials import Credentials
from .link import Link, count_by
from .reaching import other_version, refusal, refused, unreachable

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Sequence
    from http.client import HTTPResponse

    from .base import Member

OCTETS = "application/octet-stream"
_T = TypeVar("_T")
_JSON = {"Content-Type": "application/json"}


class _Seen(Struct):
    """A session, of which the daemon may know no more than the name."""

    tenant: str
    name: str
    tensors: int = 0
    bytes: int = 0
    counts: dict[str, int] | None = None


class _Listed(Struct):
    """A session's tensors."""

    tensors: list[m.TensorInfo]


class _Live(Struct):
    """The part of the daemon's state that is read here."""

    tenant: str
    sessions: list[_Seen]


_live = json.Decoder(_Live)


class Control:
    """One session's resource. `silence` (s): see Link."""

    def __init__(self, url: str, session: str, token: str | None) -> None:
        self.credentials = Credentials(url, token)
        self.name = session
        self.path = f"/v1/sessions/{quote(session, safe='')}"
        self.silence = waits.silence()
        self._link = self.link()
        self._questions = self.link()
        self._lock = threading.Lock()

    @property
    def base(self) -> str:
        """The daemon's address."""
        return self.credentials.base

    def link(self) -> Link:
        """A separate connection to the daemon."""
        return Link(self.base, self.credentials.headers, self.silence, self.credentials)

    def prepare(self, beside: socket.socket) -> None:
        """Begin to open the connection for bulk, to where that socket is connected."""
        self._link.prepare(beside)

    def unprepare(self) -> None:
        """Do not: the daemon is near, where a connection that is not used costs more than opening it."""
        self._link.unprepare()

    def call(self, method: str, path: str, body: bytes | None = None, once: bool = False) -> bytes:
        """Send a request, with a JSON body if any; returns the body of the reply. Raises Dropped if the
        daemon is away, the problem's exception for an error status. `once`: see Link.
        """
        return self._answer(method, path, body, once)[1]

    def _answer(
        self, method: str, path: str, body: bytes | None = None, once: bool = False
    ) -> tuple[HTTPResponse, bytes]:
        """As `call`, also the head of the reply."""
        with self._lock:
            headers = None if body is None else _JSON
            response, text = self._questions.call(method, self.path + path, body, headers, once=once)
            return response, bytes(_checked(response, text))

    def ask(
        self, kind: type[_T], method: str, path: str, body: bytes | None = None, once: bool = False
    ) -> _T:  # fmt: skip
        """The body of the reply, as that kind. Raises as `call`, and ConnectionFailed where it is none."""
        text = self.call(method, path, body, once)
        try:
            return json.decode(text, type=kind)
        except DecodeError as e:
            raise ConnectionFailed(advice.unread(self.base, str(e))) from e

    def load(self, path: str, take: Callable[[HTTPResponse], object]) -> None:
        """GET what may be large; `take` reads the body. Raises as `call`."""
        _checked(*self._link.call("GET", self.path + path, None, None, take))

    def store(self, path: str, body: Any, headers: dict[str, str]) -> None:
        """PUT what may be large, once. Raises as `call`."""
        _checked(*self._link.call("PUT", self.path + path, body, headers, once=True))

    def attach(self, resume: tuple[int, int] | None) -> tuple[m.Attached, frozenset[str]]:
        """POST :attach (and create the session if it is new); also what the daemon takes besides what all
        do.
        """
        body = m.Attach("gradd-python", *(resume or (None, None)))
        self.credentials.refresh()
        try:
            if resume is None:
                self.call("PUT", "")
            response, text = self._answer("POST", ":attach", json.encode(body))
        except Dropped as e:
            if resume is not None:  # it was there
                raise ConnectionFailed(f"no gradd daemon answers at {self.credentials.whom}: {e}") from e
            raise unreachable(self.base, e, self.credentials.whom) from e
        except ServerError as e:
            if resume is not None or e.problem.status in PROXIES:
                raise
            raise refused(self.base, self.credentials.headers, e.problem.status, e) or e from e
        try:
            return json.decode(text, type=m.Attached), extensions_of(response.headers)
        except DecodeError as e:
            raise other_version(self.base, self.credentials.headers) from e

    def request(
        self, message: m.Request, buffers: Sequence[frames.Array]
    ) -> tuple[m.Reply, list[frames.Array]]:
        """The REST form of a request outside the order of batches."""
        match message:
            case m.Stage():
                self.stage(message.key, *buffers)()
                return m.Done(created=True), []
            case m.GetResult():
                return self._octets(f"/results/{message.key}", message.key)
            case m.GetTensor():
                return self._octets(f"/tensors/{quote(message.name, safe='@')}", message.name)
            case m.ListTensors():
                return m.Tensors(self.ask(_Listed, "GET", "/tensors").tensors), []
            case m.GetGraph():
                name = quote(message.name, safe="@")
                text = self.call("GET", f"/tensors/{name}/graph?max_nodes={message.max_nodes}")
                return m.JsonReply(), [np.frombuffer(text, np.uint8)]
            case m.Info():
                return m.SessionReply(self.ask(m.SessionInfo, "GET", "")), []
            case m.Acquire():
                return self.ask(m.Attached, "POST", ":acquire"), []
            case m.ProfileSwitch():
                text = json.encode({"on": message.on})
                return self.ask(m.Profiled, "POST", ":profile", text, once=True), []
        raise TypeError(f"{type(message).__name__} is not a request of a client")

    def stage(self, key: str, array: frames.Array) -> Callable[[], None]:
        """PUT an upload. See Transport.stage."""
        headers = {
            "Content-Type": OCTETS,
            "Gradd-Dtype": dtypes.of(array.dtype).name,
            "Gradd-Shape": ",".join(map(str, array.shape)),
        }
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        finish = self._link.begin("PUT", f"{self.path}/uploads/{key}", data, headers)
        return lambda: _checked(*finish()) and None

    def reduce(self, mean: bool, members: Sequence[Member]) -> None:
        """POST :reduce. See Transport.reduce."""
        body = json.encode({"op": "mean" if mean else "sum", "members": [each._asdict() for each in members]})
        with self._lock:
            _checked(*self._questions.call("POST", "/v1/sessions:reduce", body, _JSON))

    def _octets(self, path: str, name: str) -> tuple[m.Reply, list[frames.Array]]:
        array = _checked(*self._link.call("GET", self.path + path, None, {"Accept": OCTETS}, _values))
        info = m.TensorInfo(
            name, None, list(array.shape), [], dtypes.of(array.dtype).name, False, True, 0, False
        )
        return m.TensorReply(info), [array]

    def delete(self, within: float | None = None) -> None:
        """DELETE the session. See Transport.delete."""
        self._beside("DELETE", self.path, None, within, last=True)

    def cancel(self, writer: int, seq: int) -> None:
        """POST :cancel. See Transport.cancel."""
        body = json.encode({"writer": writer, "seq": seq})
        self._beside("POST", self.path + ":cancel", body, waits.CLOSE)

    def glance(self) -> Glance | None:
        """The session in GET /v1/live. See Transport.glance."""
        link = Link(self.base, self.credentials.headers, waits.CLOSE, self.credentials)
        try:
            live = _live.decode(_checked(*link.call("GET", "/v1/live", once=True)))
        except (Dropped, DecodeError, GraddError):
            return None
        finally:
            link.close()
        for each in live.sessions:
            if (each.tenant, each.name) == (live.tenant, self.name) and each.counts is not None:
                counts = each.counts
                return Glance(each.tensors, each.bytes, counts.get("planned", 0), counts.get("eager", 0))
        return None

    def _beside(
        self, method: str, path: str, body: bytes | None, within: float | None, last: bool = False
    ) -> None:
        """A request on a separate connection: another thread may be waiting on the others. Where it is the
        `last`, on one of theirs that is idle.
        """
        silence = self.silence if within is None else min(within, self.silence)
        link = Link(self.base, self.credentials.headers, silence, self.credentials)
        try:
            if last:
                link.take_over(self._link)
                link.take_over(self._questions)
            _checked(*link.call(method, path, body, None if body is None else _JSON))
        finally:
            link.close()

    def close(self) -> None:
        """Close the connections."""
        self._questions.close()
        self._link.close()


def _checked(response: HTTPResponse, found: Any) -> Any:
    if response.status >= 400:
        raise refusal(response.status, response.headers, found)
    return found


def _values(response: HTTPResponse) -> frames.Array:
    """A tensor's bytes, read into new memory."""
    dtype = dtypes.BY_NAME[response.headers["Gradd-Dtype"]].numpy
    array = empty([int(size) for size in response.headers["Gradd-Shape"].split(",") if size], dtype)
    view = array.reshape(-1).view(np.uint8).data
    with Transfer("downloading", len(view)) as transfer:
        count_by(transfer, response)
        while view:
            count = response.readinto(view)
            if not count:
                raise ConnectionError("the answer ended early")
            view = view[count:]
        response.read()  # up to the end of the body, so that the connection can be reused
    return array
