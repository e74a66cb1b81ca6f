"""Sessions for the tests of the record: one with every kind of request, and what two sessions are compared
by.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
from gradd_engine.data import collect
from gradd_engine.tensor.nodes import node_of
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.program import Step, Value
from gradd_runtime.session import Session
from gradd_runtime.store import Entry

from tests.congruence.graphs import graph
from tests.runtime.peer import BAD, FILL, Peer

LIMIT = 8 << 20
MUL = Step("mul", [0, 1], {})
DRAW = Step("rand", [], {"size": [4], "dtype": "float32"})
UPLOAD = Step("upload", [], {"shape": [3], "dtype": "float32"})
HUGE = Step("ones", [], {"size": [LIMIT], "dtype": "float32"})
PASS = {
    "steps": [
        {"op": "mul", "inputs": ["x", "z"], "outputs": ["y"], "attrs": {}},
        {"op": "sum", "inputs": ["y"], "outputs": ["loss"], "attrs": {}},
        {"op": "backward", "inputs": ["loss"], "outputs": [], "attrs": {}},
    ],
    "fetch": ["loss", "x.grad"],
}


class ListStore:
    """Keeps all entries in a list."""

    def __init__(self, kept: Iterable[Entry] = ()) -> None:
        self.kept = list(kept)

    def append(self, entry: Entry) -> None:
        self.kept.append(entry._replace(frame=bytes(entry.frame)))

    def entries(self) -> list[Entry]:
        return self.kept

    def probe(self) -> None:
        """There is always room."""

    def close(self) -> None:
        """Nothing is open."""


def opened(store: Any = None) -> Session:
    return Session("script", seed=5, limit=LIMIT, store=store or ListStore())


def every_kind() -> list[bytes]:
    """The frames of a session in which requests of every kind succeed, fail, are refused and come twice."""
    one = Peer(opened())
    text = frames.text_buffer
    data = np.arange(3, dtype=np.float32)
    one.put("x", np.array([1.0, 2.0], np.float32), requires_grad=True)
    one.put("z", np.array([3.0, 4.0], np.float32), requires_grad=True)
    one.ask(m.PutTensor("flag", True), [np.array([1, 2])])  # refused: integers have no gradients
    one.ask(m.PutJson("j"), [text(b'{"dtype": "float32", "shape": [2], "data": [5, 6]}')])
    one.batch(FILL, DRAW, keep=[0, 1], first=1, fetch=[1])
    one.batch(MUL, MUL, inputs=["x", "z"], keep=[2], first=3, bind={"y": 2, "late": "@1.1"})
    one.frame(one.sent[-1])  # sent again
    for again in range(2):
        one.ask(m.Stage("1.1"), [data + again])
    one.batch(UPLOAD, uploads=["1.9"])  # not there
    one.batch(UPLOAD, keep=[0], first=4, uploads=["1.1"], fetch=[0])
    one.batch(UPLOAD, keep=[0], first=5, uploads=[0], buffers=[data * 3])
    one.ask(m.PutHook("double"), [text(_hook())])
    for _ in range(3):
        one.json(PASS)
        one.json(PASS, idempotency_key="once")
    one.json({**PASS, "steps": [*PASS["steps"], {"op": "nonsense", "inputs": [], "outputs": ["q"]}]})
    one.ask(m.BackwardJson("y"), [text(b'{"gradient": "z", "retain_graph": true}')])
    one.ask(m.BackwardJson("nothing"), [text(b"{}")])
    one.ask(m.PutTensor("x.grad"), [np.array([7.0, 8.0], np.float32)])
    one.ask(m.PutTensor("x.grad"), [np.array([7.0], np.float32)])  # of another shape
    one.ask(m.Attach("second"))
    one.ask(m.Attach("second", resume=2, epoch=1))
    one.ask(m.JsonBatch(writer=2, epoch=1, seq=1), [text(json.dumps(PASS).encode())])
    one.frame(one.sent[-1])
    one.ask(m.JsonBatch(writer=2, epoch=1, seq=2), [text(b'{"steps": [{"op": "nonsense"}]}')])
    one.ask(m.JsonBatch(writer=2, epoch=1, seq=3, ack=1), [text(json.dumps(PASS).encode())])  # skipped
    one.batch(Step("mm", [0, 0], {}), inputs=["x"])
    one.batch(FILL, FILL, BAD, keep=[0], first=6)
    one.batch(DRAW, keep=[0], first=7, ack=one.seq - 2)  # skipped
    large = Step("rand", [], {"size": [300_000], "dtype": "float32"})
    reply = one.batch(large, DRAW, keep=[0], first=8, fetch=[0], state=["x", "y"])
    one.ask(m.GetResult(reply.results[0].pinned))
    one.batch(HUGE, DRAW, keep=[1], first=9)  # over the quota
    one.batch(DRAW, large, large, large, large, large, large, large, large, keep=list(range(9)), first=10)
    one.batch(free=[f"@1.{10 + k}" for k in range(9)])
    one.batch(Step("add_", [0, 0], {}), inputs=["@1.8"], free=["@1.1", "@1.8"], unbind=["late"])
    program = one.message(Step("mul", [0, Value("float")], {}), inputs=["x"], values=[2.0])
    for number in range(4):  # eager, then planned
        one.ask(msgspec.structs.replace(program, seq=one.seq + 1, values=[number + 0.5], keep=[1], first=20))
        one.seq += 1
    one.ask(m.GetTensor("x"))
    one.ask(m.DeleteTensor("j"))
    one.ask(m.DeleteTensor("z.grad"))
    one.ask(m.DeleteTensor("nothing"))
    one.ask(m.DeleteHook("double"))
    one.ask(m.PutHook("double"), [text(_hook())])
    one.ask(m.Info())
    one.batch(
        Step("manual_seed", [], {"seed": Value("int")}, outputs=0), DRAW, values=[11], keep=[0], first=30
    )
    one.ask(m.GetReply(1, one.seq))
    one.ask(m.Acquire())
    one.batch(FILL)  # its epoch is over
    one.ask(m.JsonBatch(writer=3, epoch=2, seq=1), [text(json.dumps(PASS).encode())])
    one.ask(m.Stage("3.1"), [data])
    return one.sent


def _hook() -> bytes:
    step = {"op": "mul", "inputs": ["%g", {"scalar": 2.0}], "outputs": ["%r"], "attrs": {}}
    return json.dumps({"tensor": "x", "steps": [step], "outputs": ["%r"]}).encode()


def told(reply: bytes) -> Any:
    """A reply without the counts of reads, and of bytes, some of which are free a moment later; and whether
    other kernels made the session again.
    """
    message, buffers = frames.decode_reply(reply)
    if isinstance(message, (m.Attached, m.SessionReply)):
        info = msgspec.structs.replace(
            message.session, bytes=0, messages=0, round_trips=0, restored=msgspec.UNSET
        )
        message = msgspec.structs.replace(message, session=info)
    found = getattr(message, "problem", None)
    if found is not None and found.slug == "quota-exceeded":
        message = msgspec.structs.replace(message, problem=msgspec.structs.replace(found, detail="", used=0))
    return message, [(b.dtype, b.shape, b.tobytes()) for b in buffers]


def bits(t: Any) -> Any:
    return (
        None if t is None else (t.array.dtype, tuple(t.shape), tuple(t.strides), t.array.tobytes(), t._vc.n)
    )


def portrait(session: Session) -> dict[str, Any]:
    """All that a session is, to the bit."""
    table = session.table
    tensors = {**table.ids, **table._named}
    homes: dict[int, str] = {}
    writers = session.writers
    found = {
        "rows": list(table.rows()),
        "calls": {name: list(table.calls(t)) for name, t in tensors.items()},
        "values": {name: bits(t) for name, t in tensors.items()},
        "gradients": {name: bits(t._grad) for name, t in tensors.items()},
        "memory": {name: homes.setdefault(id(t._storage), name) for name, t in tensors.items()},
        "table": (table._writer, table._bindings, table._seen, table._changed),
        "generator": (session.generator.seed, session.generator.step),
        "writers": (writers.epoch, writers._next, writers._writers),
        "pins": {key: (v.tobytes(), info) for key, (v, info) in session.pins._pins.items()},
        "staged": {key: a.tobytes() for key, a in session.staged._arrays.items()},
        "desk": (session.desk._keys, session.desk._seq, session.desk.bytes),
        "hooks": [d.describe() for d in session.hooks._declared.values()],
        "programs": (list(session.programs._bound), session.programs._bytes),
        "counts": (session.counts, session.position, session.entries),
        "limit": session.account.limit,
    }  # fmt: skip
    found["graphs"] = {name: graph(node_of(t)) for name, t in tensors.items()}
    collect()
    found["used"] = session.account.used
    return found


def differences(one: Session, other: Session, ignored: Sequence[str] = ()) -> list[str]:
    """In what two sessions differ."""
    a, b = portrait(one), portrait(other)
    return [key for key in a if key not in ignored and a[key] != b[key]]
