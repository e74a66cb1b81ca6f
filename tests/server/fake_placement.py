"""A placement that answers every message in a few lines, so that the front is tested alone and fast.

It stores tensors and numbers batches; it computes nothing. `hold()` stops it before the next frame,
`release()` lets it go.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import msgspec
import numpy as np
from gradd_protocol import frames, jsondata, messages, names
from gradd_protocol.frames import Array
from gradd_protocol.limits import DEFAULT
from gradd_protocol.messages import BatchReply, Done, JsonReply, ProblemReply, Result, TensorInfo
from gradd_protocol.problems import Problem, ProtocolError
from gradd_runtime.process import Bulk, Engines

#: what a batch of the program "held" waits for
RELEASED = threading.Event()

Answer = tuple[messages.Reply, list[frames.Buffer]]


def refuse(slug: str, detail: str = "", **members: Any) -> ProtocolError:
    return ProtocolError.of(slug, detail, **members)


class FakeSession:
    def __init__(self, name: str) -> None:
        self.name = name
        self.tensors: dict[str, Array] = {}
        self.staged: dict[str, Array] = {}
        self.results: dict[str, Array] = {}
        self.replies: dict[tuple[int, int], BatchReply] = {}
        self.applied: list[int] = []
        self.epoch = 1
        self.writers = 0
        self.position = 0

    def handle(self, message: messages.Request, buffers: list[Array]) -> Answer:
        method = getattr(self, f"on_{type(message).__name__.lower()}")
        answer: Answer = method(message, buffers)
        return answer

    def on_info(self, message: messages.Info, buffers: list[Array]) -> Answer:
        info = messages.SessionInfo(
            self.name, self.epoch, self.position, tensors=len(self.tensors), writers=self.writers
        )
        return messages.SessionReply(info), []

    def on_attach(self, message: messages.Attach, buffers: list[Array]) -> Answer:
        self.writers += 1
        reply, _ = self.on_info(messages.Info(), [])
        assert isinstance(reply, messages.SessionReply)
        return messages.Attached(self.writers, self.epoch, DEFAULT.window_batches, reply.session), []

    def on_acquire(self, message: messages.Acquire, buffers: list[Array]) -> Answer:
        self.epoch += 1
        return self.on_attach(messages.Attach(), [])

    def on_batch(self, message: messages.Batch, buffers: list[Array]) -> Answer:
        stored = self.replies.get((message.writer, message.seq))
        if stored is not None:
            return msgspec.structs.replace(stored, replayed=True), []
        if any(isinstance(key, str) and key not in self.staged for key in message.uploads):
            raise refuse("upload-missing")
        if message.program == "held":
            RELEASED.wait()
        self.position += 1
        self.applied.append(message.seq)
        problem = refuse("op-failed", "it failed", applied=0).problem if message.program == "fails" else None
        reply = BatchReply(seq=message.seq, position=self.position, problem=problem)
        self.replies[message.writer, message.seq] = reply
        return reply, []

    def fail(self, message: messages.Batch, why: Problem) -> Answer:
        self.position += 1
        reply = BatchReply(seq=message.seq, position=self.position, problem=why)
        self.replies[message.writer, message.seq] = reply
        return reply, []

    def on_jsonbatch(self, message: messages.JsonBatch, buffers: list[Array]) -> Answer:
        form = msgspec.json.decode(buffers[0].tobytes())
        self.position += 1
        results = {name: jsondata.encode_data(self.read(name)) for name in form.get("fetch", [])}
        body = {"seq": self.position, "position": self.position, "results": results}
        body["key"] = message.idempotency_key
        return self.json(200, body)

    def on_backwardjson(self, message: messages.BackwardJson, buffers: list[Array]) -> Answer:
        self.read(message.name)
        return self.json(200, {"seq": 1, "position": 1})

    def on_puttensor(self, message: messages.PutTensor, buffers: list[Array]) -> Answer:
        created = message.name not in self.tensors
        self.tensors[message.name] = buffers[0]
        return Done(created), []

    def on_putjson(self, message: messages.PutJson, buffers: list[Array]) -> Answer:
        created = message.name not in self.tensors
        self.tensors[message.name] = jsondata.decode_data(jsondata.decode_tensor(buffers[0].tobytes()))
        return Done(created), []

    def on_gettensor(self, message: messages.GetTensor, buffers: list[Array]) -> Answer:
        array = self.read(message.name)
        most = array.nbytes if message.most is None else message.most
        return messages.TensorReply(self.info(message.name, array)), [
            array if array.nbytes <= most else array.ravel()[:0]
        ]

    def on_gettensors(self, message: messages.GetTensors, buffers: list[Array]) -> Answer:
        found = [(n, None if n.endswith(".grad") else self.read(n)) for n in message.names]
        infos = [None if array is None else self.info(name, array) for name, array in found]
        if sum(array.size for _, array in found if array is not None) * 2 > DEFAULT.json_bytes:
            raise jsondata.too_large()
        return messages.TensorsReply(infos), [array for _, array in found if array is not None]

    def on_deletetensor(self, message: messages.DeleteTensor, buffers: list[Array]) -> Answer:
        self.read(message.name)
        del self.tensors[message.name]
        return Done(), []

    def on_listtensors(self, message: messages.ListTensors, buffers: list[Array]) -> Answer:
        return messages.Tensors([self.info(name, array) for name, array in self.tensors.items()]), []

    def on_stage(self, message: messages.Stage, buffers: list[Array]) -> Answer:
        created = message.key not in self.staged
        self.staged[message.key] = self.results[message.key] = buffers[0]
        return Done(created), []

    def on_getresult(self, message: messages.GetResult, buffers: list[Array]) -> Answer:
        if message.key not in self.results:
            raise refuse("result-not-found", message.key)
        array = self.results[message.key]
        info = self.info(message.key, array)
        if message.count is not None:
            array = array.reshape(-1).view(np.uint8)[message.begin : message.begin + message.count]
        return messages.TensorReply(info), [array]

    def on_getreply(self, message: messages.GetReply, buffers: list[Array]) -> Answer:
        stored = self.replies.get((message.writer, message.seq))
        if stored is None:
            raise refuse("batch-not-found", "it did not land")
        return msgspec.structs.replace(stored, replayed=True, results=[Result(absent=True)]), []

    def read(self, name: str) -> Array:
        if name not in self.tensors:
            raise refuse("tensor-not-found", f"no tensor is named {name!r}")
        return self.tensors[name]

    def json(self, status: int, body: Any) -> Answer:
        return JsonReply(status), [np.frombuffer(msgspec.json.encode(body), np.uint8)]

    def info(self, name: str, array: Array) -> TensorInfo:
        strides = [stride // array.itemsize for stride in array.strides]
        return TensorInfo(name, name, list(array.shape), strides, array.dtype.name, False, True, 0, False)


class FakePlacement:
    """The placement interface over `FakeSession`, one thread for all."""

    devices: tuple[str, ...] = ("cpu",)

    def __init__(self) -> None:
        self.sessions: dict[str, FakeSession] = {}
        self.options: dict[str, Mapping[str, Any]] = {}
        self.stopped: list[tuple[str, Problem, int | None, int | None]] = []
        self.broken = False
        self.asked = 0
        self._free = threading.Event()
        self._free.set()
        self._thread = ThreadPoolExecutor(1)

    def device_of(self, name: str) -> str | None:
        return str(self.options[name].get("device")) if name in self.options else None

    def node_of(self, name: str) -> str | None:
        return None

    def open(self, name: str, options: Mapping[str, Any]) -> None:
        self.sessions[name] = FakeSession(names.own(name))
        self.options[name] = options

    def submit(self, name: str, frame: frames.Bytes | Bulk, why: Problem | None = None) -> Future[bytes]:
        self.asked += 1
        return self._thread.submit(self._answer, name, frame, why)

    def carry(self, name: str, frame: frames.Bytes | Bulk, request: Any, why: Problem | None = None) -> None:
        def pass_on(done: Future[bytes]) -> None:
            if (error := done.exception()) is not None:
                request.set_exception(error)
            else:
                request.set_result(done.result())

        self.submit(name, frame, why).add_done_callback(pass_on)

    def stop(
        self, name: str, why: Problem, writer: int | None = None, seq: int | None = None,
        only: Future[frames.Bytes] | None = None,
    ) -> None:  # fmt: skip
        self.stopped.append((name, why, writer, seq))

    def close(self, name: str) -> None:
        del self.sessions[name]

    def engines(self) -> Engines:
        return Engines([])

    def abandon(self) -> None:
        self.release()

    def shutdown(self) -> None:
        self.release()
        self._thread.shutdown()

    def hold(self) -> None:
        self._free.clear()

    def release(self) -> None:
        self._free.set()

    def _answer(self, name: str, frame: frames.Bytes | Bulk, why: Problem | None) -> bytes:
        self._free.wait()
        if self.broken:
            raise RuntimeError("a secret of the engine")
        try:
            message, buffers = frames.decode_request(frame.map() if isinstance(frame, Bulk) else frame)
            session = self.sessions[name]
            reply, out = (
                session.fail(message, why)
                if why is not None and isinstance(message, messages.Batch)
                else session.handle(message, buffers)
            )
        except ProtocolError as error:
            reply, out = ProblemReply(error.problem), []
        return frames.join(frames.encode(reply, out))
