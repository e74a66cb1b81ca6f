"""Bad input to a real daemon: the right problem at once, and the session goes on."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from typing import Any

import gradd
import pytest
from gradd_protocol import frames
from gradd_protocol.limits import DEFAULT as LIMITS
from gradd_protocol.messages import Attach, Attached, Batch, BatchReply, ProblemReply, Reply
from gradd_protocol.program import Program, Step
from websockets.sync.client import connect

from tests.bearer import bearer
from tests.waiting import PATIENCE

Answer = tuple[int, str, dict[str, Any]]
JSON = {"Content-Type": "application/json"}
FRAME = {"Content-Type": "application/vnd.gradd.frame"}
OCTETS = {"Content-Type": "application/octet-stream", "Gradd-Dtype": "uint8"}
PATH = "/v1/sessions/bad-input"


class Daemon:
    """Plain HTTP, which sends what is bad as it is."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._host = url.removeprefix("http://")

    def __call__(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> Answer:
        """Status, media type and JSON of the reply; the body is sent last, unless Content-Length is given."""
        connection = http.client.HTTPConnection(self._host, timeout=PATIENCE)
        connection.putrequest(method, path)
        for header, value in {
            "Content-Length": str(len(body)),
            **bearer(self.url),
            **(headers or {}),
        }.items():
            connection.putheader(header, value)
        connection.endheaders(body or None)
        try:
            reply = connection.getresponse()
            text = reply.read()
            return reply.status, reply.headers.get_content_type(), json.loads(text or b"null")
        finally:
            connection.close()

    def batch(self, *steps: dict[str, Any], fetch: tuple[str, ...] = ()) -> Answer:
        return self("POST", f"{PATH}/batches", json.dumps({"steps": steps, "fetch": fetch}).encode(), JSON)

    def put(self, session: str, name: str, **form: Any) -> None:
        status, _, _ = self("PUT", f"{session}/tensors/{name}", json.dumps(form).encode(), JSON)
        assert status == 201


def step(op: str, inputs: list[Any], outputs: list[str], **attrs: Any) -> dict[str, Any]:
    return {"op": op, "inputs": inputs, "outputs": outputs, "attrs": attrs}


@pytest.fixture(scope="module")
def ask(daemon: str) -> Iterator[Daemon]:
    ask = Daemon(daemon)
    for session in (PATH, f"{PATH}-other"):
        assert ask("PUT", session)[0] == 201
    ask.put(PATH, "w", data=[1.0, 2.0], dtype="float32", requires_grad=True)
    ask.put(PATH, "d", data=[1.0, 2.0], dtype="float64")
    ask.put(PATH, "v", data=[1.0, 2.0, 3.0], dtype="float32")
    ask.put(f"{PATH}-other", "foreign", data=1.0, dtype="float32")
    yield ask
    for session in (PATH, f"{PATH}-other"):
        assert ask("DELETE", session)[0] == 204


@pytest.fixture(autouse=True)
def goes_on(ask: Daemon) -> Iterator[None]:
    """The session holds what it held and computes."""
    held = ask("GET", f"{PATH}/tensors")[2]
    yield
    assert ask.batch(step("mul", ["d", 3.0], ["%p"]), fetch=("%p",))[2]["results"]["%p"]["data"] == [3.0, 6.0]
    assert ask("GET", f"{PATH}/tensors")[2] == held


def refused(ask: Daemon, slug: str, status: int, *request: Any, send: Any = None) -> dict[str, Any]:
    """Send, and check the problem. It takes no longer than a thousand requests that are answered; the
    quickest of a few counts: other work may slow one down.
    """
    refusals, answers = [], []
    for _ in range(5):
        began = time.perf_counter()
        got, media, body = (send or ask)(*request)
        refusals.append(time.perf_counter() - began)
        assert (got, media, body["type"]) == (status, "application/problem+json", f"/problems/{slug}"), body
        assert body["status"] == status
        began = time.perf_counter()
        assert ask("GET", PATH)[0] == 200
        answers.append(time.perf_counter() - began)
        if min(refusals) < 1000 * min(answers):
            return dict(body)
    raise AssertionError(f"refused in {min(refusals):.1f} s, where an answer takes {min(answers):.3f} s")


SUM = step("sum", ["%q"], ["%y"])
SQUARE = step("mul", ["w", "w"], ["%q"])
BACKWARD = {"op": "backward", "inputs": ["%y"]}
BATCHES: dict[str, tuple[str, int, list[dict[str, Any]]]] = {
    "unknown op": ("op-not-found", 404, [step("frobnicate", ["w"], ["%y"])]),
    "wrong arity": ("invalid-op", 422, [step("mul", ["w"], ["%y"])]),
    "unknown tensor": ("tensor-not-found", 404, [step("neg", ["gone"], ["%y"])]),
    "another session's tensor": ("tensor-not-found", 404, [step("neg", ["foreign"], ["%y"])]),
    "another writer's tensor": ("tensor-not-found", 404, [step("neg", ["@9.9"], ["%y"])]),
    "shape mismatch": ("invalid-op", 422, [step("add", ["w", "v"], ["%y"])]),
    "dtype mismatch": ("invalid-op", 422, [step("dot", ["w", "d"], ["%y"])]),
    "backward of many": ("invalid-op", 422, [step("mul", ["w", "w"], ["%y"]), BACKWARD]),
    "backward twice": ("op-failed", 422, [SQUARE, SUM, BACKWARD, BACKWARD]),
    "memory beyond the cap": ("quota-exceeded", 507, [step("zeros", [], ["%y"], size=[10**14])]),
}


@pytest.mark.parametrize(("slug", "status", "steps"), BATCHES.values(), ids=BATCHES)
def test_batch(ask: Daemon, slug: str, status: int, steps: list[dict[str, Any]]) -> None:
    refused(ask, slug, status, *steps, send=ask.batch)
    ask("DELETE", f"{PATH}/tensors/w.grad")  # backward once stands


REQUESTS: dict[str, tuple[str, int, str, str, bytes, dict[str, str]]] = {
    "JSON cut short": ("invalid-json", 400, "POST", "/batches", b'{"steps": [', JSON),
    "no frame": ("malformed-frame", 400, "POST", "/batches", b"no frame at all", FRAME),
    "frame of a wrong length": ("malformed-frame", 400, "POST", "/batches", b"\xff" * 64, FRAME),
    "JSON over its limit": (
        "body-too-large", 413, "POST", "/batches", b"",
        {**JSON, "Content-Length": str(LIMITS.json_bytes + 1)},
    ),
    "upload over its limit": (
        "body-too-large", 413, "PUT", "/tensors/z", b"",
        {**OCTETS, "Gradd-Shape": str(2 << 30), "Content-Length": str(2 << 30)},
    ),
    "upload of another size": (
        "invalid-data", 422, "PUT", "/tensors/z", b"1234", {**OCTETS, "Gradd-Shape": "5"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("slug", "status", "method", "path", "body", "headers"), REQUESTS.values(), ids=REQUESTS
)
def test_request(
    ask: Daemon, slug: str, status: int, method: str, path: str, body: bytes, headers: dict[str, str]
) -> None:
    refused(ask, slug, status, method, PATH + path, body, headers)


@pytest.mark.parametrize("name", ["a%2Fb", "..", "a..b", "%2e%2e", "a" * 4096], ids=lambda name: name[:8])
@pytest.mark.parametrize("method", ["PUT", "GET", "DELETE"])
def test_session_name(ask: Daemon, method: str, name: str) -> None:
    refused(ask, "invalid-name", 400, method, f"/v1/sessions/{name}")


def test_session_name_with_a_slash_is_another_path(ask: Daemon) -> None:
    refused(ask, "not-found", 404, "PUT", "/v1/sessions/a/b")


def test_bad_frames_on_the_stream(ask: Daemon) -> None:
    url = f"{ask.url.replace('http', 'ws')}{PATH}/stream"
    with connect(
        url, subprotocols=["gradd.v1"], compression=None, proxy=None, additional_headers=bearer(ask.url)
    ) as stream:

        def exchange(frame: bytes) -> Reply:
            stream.send(frame)
            return frames.decode_reply(stream.recv(timeout=PATIENCE, decode=False))[0]

        attached = exchange(frames.join(frames.encode(Attach())))
        assert isinstance(attached, Attached)
        refusal = exchange(b"no frame at all")
        assert isinstance(refusal, ProblemReply)
        assert refusal.problem.slug == "malformed-frame"
        program = Program(0, [Step("frobnicate", [])])
        batch = Batch(
            writer=attached.writer,
            epoch=attached.epoch,
            seq=1,
            ack=0,
            program=program.id(),
            definition=program,
        )
        refusal = exchange(frames.join(frames.encode(batch)))
        assert isinstance(refusal, BatchReply)
        assert refusal.problem is not None
        assert (refusal.problem.slug, refusal.problem.status) == ("op-not-found", 404)


MISTAKES: dict[str, tuple[type[Exception], str, Any]] = {
    "shapes": (RuntimeError, "must match the size", lambda w: w + gradd.zeros(3)),
    "dtypes": (RuntimeError, "same dtype", lambda w: w.dot(gradd.zeros(2, dtype=gradd.float64))),
    "backward of many": (RuntimeError, "only for scalar outputs", lambda w: (w * w).backward()),
    "memory": (RuntimeError, "out of memory", lambda w: gradd.zeros(10**14).sum().item()),
    "arity": (TypeError, "missing 1 required", lambda w: gradd.mul(w)),
    "unknown op": (AttributeError, "frobnicate", lambda w: w.frobnicate()),
}


@pytest.mark.parametrize("transport", ["stream", "http"])
@pytest.mark.parametrize(("error", "message", "mistake"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_the_sdk(
    ask: Daemon, transport: str, error: type[Exception], message: str, mistake: Any
) -> None:
    with gradd.connect(ask.url, transport=transport):
        w = gradd.tensor([1.0, 2.0], requires_grad=True)
        with pytest.raises(error, match=message):
            mistake(w)
        (w * w).sum().backward()
        assert w.grad is not None
        assert w.grad.tolist() == [2.0, 4.0]
