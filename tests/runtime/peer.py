"""A writer by hand: frames into a session, replies out, nothing hidden."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gradd_protocol import frames, names
from gradd_protocol import messages as m
from gradd_protocol.program import Program, Step
from gradd_runtime.process import Placement
from gradd_runtime.session import Session

from tests.waiting import PATIENCE


class Peer:
    """One writer of a session. `submit` takes a request frame and gives its reply frame."""

    def __init__(
        self, session: Session | None = None, submit: Callable[[bytes], bytes] | None = None
    ) -> None:
        self.session = session or Session("test")
        self.submit = submit or self.session.submit
        self.sent: list[bytes] = []
        self.replies: list[bytes] = []
        attached = self.ask(m.Attach("test"))[0]
        assert isinstance(attached, m.Attached)
        self.writer, self.epoch, self.seq, self.ack = attached.writer, attached.epoch, 0, 0

    def ask(self, message: m.Request, buffers: Sequence[Any] = ()) -> tuple[Any, list[Any]]:
        """Any request; its reply and buffers."""
        return self.frame(frames.join(frames.encode(message, buffers)))

    def frame(self, frame: bytes) -> tuple[Any, list[Any]]:
        """A request frame as it is."""
        self.sent.append(frame)
        self.replies.append(self.submit(frame))
        return frames.decode_reply(self.replies[-1])

    def message(self, *steps: Step, inputs: Sequence[str] = (), **more: Any) -> m.Batch:
        """The next batch of this writer; `more` overrides its fields."""
        program = Program(len(inputs), list(steps))
        fields = {
            "writer": self.writer, "epoch": self.epoch, "seq": self.seq + 1, "ack": self.ack,
            "program": program.id(), "definition": program, "inputs": list(inputs),
        }  # fmt: skip
        return m.Batch(**{**fields, **more})

    def batch(self, *steps: Step, buffers: Sequence[Any] = (), **more: Any) -> Any:
        """Send the next batch; counted, and acknowledged with the one after."""
        reply, self.arrays = self.ask(self.message(*steps, **more), buffers)
        if isinstance(reply, m.BatchReply):
            self.seq = max(self.seq, reply.seq)
            self.ack = self.seq
        return reply

    def put(self, name: str, data: Any, requires_grad: bool = False) -> None:
        """Bind a name to a new leaf."""
        reply, _ = self.ask(m.PutTensor(name, requires_grad), [np.asarray(data)])
        assert isinstance(reply, m.Done), reply

    def get(self, name: str) -> Any:
        """The values of a tensor; a Problem where there is none."""
        reply, arrays = self.ask(m.GetTensor(name))
        return reply.problem if isinstance(reply, m.ProblemReply) else arrays[0]

    def json(self, body: Any, **more: Any) -> tuple[int, Any]:
        """A batch in the JSON form: its status and answer."""
        text = body if isinstance(body, bytes) else json.dumps(body).encode()
        reply, buffers = self.ask(m.JsonBatch(**more), [frames.text_buffer(text)])
        if isinstance(reply, m.ProblemReply):
            return reply.problem.status, {"type": reply.problem.type, "detail": reply.problem.detail}
        return reply.status, json.loads(frames.text_of(buffers[0]))


FILL = Step("ones", [], {"size": [2], "dtype": "float32"})
BAD = Step("index", [0, [1]], {})


def housed(placement: Placement, tenant: str, session: str) -> Peer:
    """A writer of a new session in a placement."""
    key = names.keyed(tenant, session)
    placement.open(key, {})
    return Peer(submit=lambda frame: bytes(placement.submit(key, frame).result(PATIENCE)))
