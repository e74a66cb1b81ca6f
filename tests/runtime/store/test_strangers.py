"""What a stranger may write into the file of a snapshot: it is refused in words, before anything is made."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_engine.data import OutOfQuota
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.fields import Logged
from gradd_runtime.session import Session
from gradd_runtime.store import BadSnapshot, Snapshot, most_bytes, parts, read

from tests.faults.strangers import HOOK, submit, text

LIMIT = 8 << 20
STEPS = [
    {"op": "mul", "inputs": ["w", "w"], "outputs": ["q"]},
    {"op": "getitem", "inputs": ["q"], "attrs": {"index": [{"slice": [0, 2, None]}]}, "outputs": ["v"]},
    {"op": "mul_", "inputs": ["v", 2.0], "outputs": ["v"]},
    {"op": "sum", "inputs": ["q"], "outputs": ["loss"]},
    {"op": "gt", "inputs": ["w", 0.5], "outputs": ["mask"]},
]
Edit = Callable[[Any, Any], object]
#: places in rows, see rows.py
DTYPE, SHAPE, STRIDES, OFFSET, FLAGS, FN, GRAD, BASE, VERSION, ACCUMULATOR = 2, 3, 4, 5, 6, 7, 9, 10, 11, 12
KIND, ORDER, WIDTH, EDGES, DATA, MORE = range(6)
ATTRS, INPUTS, WANTS, SAVED = 3, 4, 5, 6


def file_of(snapshot: Snapshot) -> bytes:
    return frames.join(list(parts(snapshot)))


@pytest.fixture(scope="module")
def good() -> Snapshot:
    session = Session("good", limit=LIMIT)
    submit(session, m.PutTensor("w", True), np.arange(3.0))
    submit(session, m.PutHook("h"), text(HOOK))
    submit(session, m.JsonBatch(), text({"steps": STEPS}))
    submit(session, m.BackwardJson("loss"), text({"retain_graph": True}))
    session.curves.take([Logged("loss", 0.5), Logged("loss", "NaN", 7)], session.table)
    return read(io.BytesIO(file_of(read(io.BytesIO(frames.join(session.freeze(alone=True)))))))


def node(graph: Any, kind: str, op: str = "") -> Any:
    """The first node of a kind."""
    return next(n for n in graph["nodes"] if n[KIND] == kind and (not op or n[DATA][0] == op))


def tensor(state: Any, name: str) -> Any:
    return state["graph"]["tensors"][state["graph"]["roots"][name]]


def put(row: Any, place: int, value: Any) -> None:
    row[place] = value


def ring(state: Any, graph: Any) -> None:
    """Two ops behind each other."""
    numbers = [i for i, n in enumerate(graph["nodes"]) if n[KIND] == "OpNode"]
    for one, other in zip(numbers, reversed(numbers), strict=True):
        graph["nodes"][one][EDGES][:2] = [other, 0]


def same_memory(state: Any, graph: Any) -> None:
    """A small file that would take much memory."""
    for _ in range(1000):
        state["memory"].append([0, 16])
        graph["storages"].append([1 << 20, "uint8", [1 << 20], [1]])


def deep(state: Any, graph: Any) -> None:
    value: Any = 1
    for _ in range(200):
        value = ["list", value]
    put(graph["nodes"][0], MORE, {"metadata": ["dict", ["k", value]]})


def saved(graph: Any) -> Any:
    """The name and value of what a product keeps."""
    return node(graph, "OpNode", "mul")[DATA][SAVED][0]


def slices(graph: Any) -> Any:
    """What a written view has."""
    return node(graph, "CopySlices")[DATA]


def shaped(row: Any, shape: list[int]) -> None:
    """Let a tensor have a shape whose elements share one place."""
    row[SHAPE], row[STRIDES] = shape, [0] * len(shape)


#: what follows a curve's name: one point, too many, and more than there are steps for those to come
POINT, POINTS = [1, 1, [0], [0.5], [0, 0.5]], [1, 4096, [1] * 4096, [1] * 4096, [1, 1]]
ENDLESS = [1 << 62, 1 << 63, [0, 1], [0.5, 0.5], [1, 0.5]]
WRONG = [["dim", None], ["keepdim", "x"], ["dtype", None]]
ATTACKS: dict[str, tuple[str, Edit]] = {
    "outside": ("outside of its storage", lambda s, g: put(tensor(s, "w"), OFFSET, 1)),
    "long": ("outside of its storage", lambda s, g: put(tensor(s, "w"), SHAPE, [4])),
    "strides": ("outside of its storage", lambda s, g: put(tensor(s, "w"), STRIDES, [2])),
    "backwards": ("stride", lambda s, g: put(tensor(s, "w"), STRIDES, [-1])),
    "negative size": ("size", lambda s, g: put(tensor(s, "w"), SHAPE, [-3])),
    "huge": ("too large", lambda s, g: shaped(tensor(s, "w"), [1 << 40] * 2)),
    "dimensions": ("do not fit", lambda s, g: shaped(tensor(s, "w"), [1] * 65)),
    "ragged": ("do not fit", lambda s, g: put(tensor(s, "w"), STRIDES, [])),
    "dtype": ("no dtype", lambda s, g: put(tensor(s, "w"), DTYPE, "object")),
    "integers": ("has no gradient", lambda s, g: put(tensor(s, "w"), DTYPE, "int64")),
    "bools": ("neither 0 nor 1", lambda s, g: put(tensor(s, "q"), DTYPE, "bool")),
    "conjugate": ("not complex", lambda s, g: put(tensor(s, "w"), FLAGS, 5)),
    "flags": ("flags", lambda s, g: put(tensor(s, "w"), FLAGS, 8)),
    "storage": ("storage", lambda s, g: put(tensor(s, "w"), 0, 99)),
    "counter": ("counter", lambda s, g: put(tensor(s, "w"), 1, -1)),
    "own gradient": ("own gradient", lambda s, g: put(tensor(s, "w"), GRAD, g["roots"]["w"])),
    "gradient": ("another shape", lambda s, g: put(tensor(s, "w"), GRAD, g["roots"]["loss"])),
    "gradient's dtype": ("another dtype", lambda s, g: put(tensor(s, "w"), GRAD, g["roots"]["mask"])),
    "own base": ("base of a view", lambda s, g: put(tensor(s, "q"), BASE, g["roots"]["q"])),
    "base": ("other memory", lambda s, g: put(tensor(s, "v"), BASE, g["roots"]["w"])),
    "view's version": ("version", lambda s, g: put(tensor(s, "v"), VERSION, -1)),
    "accumulator": ("another's", lambda s, g: put(tensor(s, "q"), ACCUMULATOR, tensor(s, "w")[ACCUMULATOR])),
    "made by a leaf": ("leaf's node", lambda s, g: put(tensor(s, "q"), FN, tensor(s, "w")[ACCUMULATOR])),
    "made by nobody": ("number of a node", lambda s, g: put(tensor(s, "q"), FN, 99)),
    "circle": ("circle", ring),
    "no edge": ("edges", lambda s, g: node(g, "OpNode", "sum")[EDGES].clear()),
    "half an edge": ("has no output", lambda s, g: node(g, "OpNode", "sum")[EDGES].pop()),
    "edge": ("number of a node", lambda s, g: put(node(g, "OpNode", "sum")[EDGES], 0, 99)),
    "output": ("an output", lambda s, g: put(node(g, "OpNode", "sum")[EDGES], 1, 1)),
    "width": ("outputs", lambda s, g: put(node(g, "OpNode", "sum"), WIDTH, 2)),
    "place": ("place in the order", lambda s, g: put(node(g, "OpNode", "sum"), ORDER, 99)),
    "kind": ("no kind of node", lambda s, g: put(node(g, "OpNode", "sum"), KIND, "Node")),
    "op": ("no op", lambda s, g: put(node(g, "OpNode", "sum")[DATA], 0, "system")),
    "another op": ("sigmoid has", lambda s, g: put(node(g, "OpNode", "sum")[DATA], 0, "sigmoid")),
    "attribute": ("no attribute", lambda s, g: node(g, "OpNode", "sum")[DATA][ATTRS].append(["x", 1])),
    "lacking attribute": ("lacks", lambda s, g: node(g, "OpNode", "sum")[DATA][ATTRS].clear()),
    "attribute's class": ("keepdim", lambda s, g: put(node(g, "OpNode", "sum")[DATA], ATTRS, WRONG)),
    "inputs": ("other inputs", lambda s, g: node(g, "OpNode", "sum")[DATA][INPUTS].clear()),
    "wants": ("other inputs", lambda s, g: node(g, "OpNode", "sum")[DATA][WANTS].clear()),
    "geometry": ("number of a geometry", lambda s, g: put(node(g, "OpNode", "sum")[DATA][INPUTS], 0, 99)),
    "keeps nothing": ("keeps", lambda s, g: node(g, "OpNode", "mul")[DATA][SAVED].clear()),
    "keeps another": ("another", lambda s, g: put(saved(g), 1, ["geometry", 0])),
    "keeps none": ("number of a tensor", lambda s, g: put(saved(g)[1], 1, 99)),
    "tag": ("tag", lambda s, g: put(saved(g), 1, ["code", "x"])),
    "deep": ("too deep", deep),
    "written view": ("is a AccumulateGrad", lambda s, g: put(slices(g), 0, tensor(s, "w")[ACCUMULATOR])),
    "order": ("places in the order", lambda s, g: g.update(order=1 << 40)),
    "format": ("format", lambda s, g: g.update(format=9)),
    "version": ("version", lambda s, g: put(g["counters"], 0, [-1, False])),
    "level": ("level", lambda s, g: g["levels"].append([1 << 40, True])),
    "storages": ("storages", lambda s, g: g["storages"].pop()),
    "storage's bytes": ("have more bytes|other bytes", lambda s, g: put(g["storages"][0], 0, 8)),
    "one tensor twice": ("or another's", lambda s, g: put(s["memory"], 1, s["memory"][0])),
    "no such tensor": ("not in the file", lambda s, g: put(s["memory"], 0, "nobody")),
    "no such bytes": ("are not there", lambda s, g: put(s["memory"], 0, [0, 1 << 40])),
    "name": ("not a name", lambda s, g: g["roots"].update({"../x": 0})),
    "name of a gradient": ("not a name", lambda s, g: g["roots"].update({"x.grad": 0})),
    "root": ("number of a tensor", lambda s, g: g["roots"].update(w=99)),
    "stream": ("stream", lambda s, g: s.update(stream=[-1, 0])),
    "position": ("position", lambda s, g: s.update(position=-1)),
    "hook's name": ("not a name", lambda s, g: put(s["hooks"][0], 0, "a/b")),
    "hook's program": ("program|slot", lambda s, g: s["hooks"][0][3].update(inputs=3)),
    "hook's op": ("that none may have", lambda s, g: s["hooks"][0][3]["steps"][0].update(op="system")),
    "hook's results": ("does not make", lambda s, g: put(s["hooks"][0], 7, [99])),
    "two hooks": ("two of one name", lambda s, g: s["hooks"].append(s["hooks"][0])),
    "hook's words": ("tensor", lambda s, g: put(s["hooks"][0], 1, {"tensor": 5})),
    "curve's stride": ("state", lambda s, g: put(s["series"][0], 1, 0)),
    "curve's long stride": ("state", lambda s, g: put(s["series"], 0, ["a", 1 << 64, *POINT[1:]])),
    "curve's count": ("points that it says", lambda s, g: put(s["series"][0], 2, 9)),
    "curve's values": ("points that it says", lambda s, g: s["series"][0][4].pop()),
    "curve's step": ("state", lambda s, g: put(s["series"][0][3], 0, 1 << 63)),
    "curve's name": ("state", lambda s, g: put(s["series"][0], 0, "")),
    "endless curve": ("state", lambda s, g: put(s["series"], 0, ["a", *ENDLESS])),
    "long curve": ("points that it says", lambda s, g: put(s["series"], 0, ["a", *POINTS])),
    "curves": ("more than 64", lambda s, g: s["series"].extend([f"c{n}", *POINT] for n in range(64))),
    "unknown member": ("state", lambda s, g: s.update(code="x")),
    "missing member": ("state", lambda s, g: s.pop("position")),
}  # fmt: skip


def attacked(good: Snapshot, edit: Edit) -> bytes:
    state = json.loads(good.state)
    edit(state, state["graph"])
    return file_of(Snapshot(json.dumps(state).encode(), good.arrays))


@pytest.mark.parametrize("name", ATTACKS)
def test_is_refused(good: Snapshot, name: str) -> None:
    words, edit = ATTACKS[name]
    with pytest.raises(BadSnapshot, match=words):
        Session.fork(io.BytesIO(attacked(good, edit)), "stranger", limit=LIMIT)


def test_the_sound_one_is_not(good: Snapshot) -> None:
    session = Session.fork(io.BytesIO(attacked(good, lambda s, g: None)), "other", limit=LIMIT)
    reply = submit(session, m.BackwardJson("loss"), text({"retain_graph": True}))
    assert isinstance(reply, m.JsonReply)
    assert reply.status == 200
    grad = session.table.named["w"]._grad
    assert grad is not None
    assert NUMPY.to_numpy(grad).tolist() == [0.0, 4.0, 4.0]  # the hook halves each pass
    (curve,) = session.curves.images()
    assert (curve.name, curve.count, curve.steps, curve.values) == ("loss", 2, [0, 7], [0.5, "NaN"])
    assert file_of(read(io.BytesIO(frames.join(session.freeze(alone=True)))))


def test_little_that_would_take_much_is_over_the_quota(good: Snapshot) -> None:
    for edit in (
        same_memory,
        lambda s, g: put(g["nodes"][0], MORE, {"metadata": ["list", *[[]] * 2_000_000]}),
    ):
        with pytest.raises(OutOfQuota):
            Session.fork(io.BytesIO(attacked(good, edit)), "stranger", limit=LIMIT)
    with pytest.raises(OutOfQuota):
        Session.fork(io.BytesIO(file_of(good)), "stranger", limit=10)
    sparse = io.BytesIO()
    sparse.seek = lambda *at: most_bytes(LIMIT) + 1  # type: ignore[method-assign]
    with pytest.raises(OutOfQuota):
        Session.fork(sparse, "stranger", limit=LIMIT)
