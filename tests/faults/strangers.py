"""Files of strangers: sound snapshots with something changed in them, their checksum made anew. `python -m
tests.faults.strangers SEED COUNT` tries so many, prints each that goes wrong, and what came of all.

What a session began with must be refused in words, or be a session of which every tensor can be read, whose
backward passes end or raise as PyTorch's do, and that can be frozen again.
"""

from __future__ import annotations

import copy
import hashlib
import io
import json
import random
import signal
import sys
from collections import Counter
from contextlib import suppress
from types import FrameType
from typing import Any

import gradd_engine.assembly  # noqa: F401
import numpy as np
from gradd_engine.backends.array import NUMPY
from gradd_engine.data import OutOfQuota
from gradd_engine.data.state import ambient
from gradd_engine.freezing import CannotFreeze
from gradd_engine.schema import REGISTRY
from gradd_engine.tensor import Tensor
from gradd_protocol import dtypes, frames
from gradd_protocol import messages as m
from gradd_runtime.session import Session
from gradd_runtime.store import BadSnapshot, Snapshot, parts, read

from tests.ops import table

LIMIT = 64 << 20
SECONDS = 20
HOOK = {
    "tensor": "w",
    "steps": [{"op": "mul", "inputs": ["%g", 0.5], "outputs": ["%half"]}],
    "outputs": ["%half"],
}
SAMPLES = table.samples()
KEYS = sorted(SAMPLES)
WORDS = [*dtypes.BY_NAME, *sorted(REGISTRY), "OpNode", "AccumulateGrad", "CopySlices", "saved", "geometry",
         "tensor", "packed", "list", "tuple", "size", "slice", "...", "int", "float", "", "@1.1",
         "w.grad"]  # fmt: skip
NUMBERS = [
    0, 1, 2, 3, 7, 8, 64, 255, 1 << 16, (1 << 31) - 1, 1 << 40, (1 << 63) - 1, 1 << 63, -1, -2, -(1 << 63),
]  # fmt: skip


def submit(session: Session, message: m.Request, *buffers: Any) -> m.Reply:
    reply, _ = frames.decode_reply(session.submit(frames.join(frames.encode(message, buffers))))
    return reply


def text(body: Any) -> Any:
    return np.frombuffer(json.dumps(body).encode(), np.uint8)


def sound(rng: random.Random) -> Snapshot:
    """A session's snapshot: ops of the catalogue with what they saved, views, writes, gradients, a hook."""
    session = Session("sound", limit=LIMIT)
    while not session.table.named:
        with ambient(backend=NUMPY, generator=session.generator, account=session.account, grad=True):
            for k in range(rng.randint(1, 3)):
                with suppress(Exception):
                    _op(session, rng, k)
    submit(session, m.PutTensor("w", True), np.arange(3.0))
    submit(session, m.PutHook("h"), text(HOOK))
    steps = [
        {"op": "mul", "inputs": ["w", "w"], "outputs": ["q"]},
        {"op": "getitem", "inputs": ["q"], "attrs": {"index": [{"slice": [0, 2, None]}]}, "outputs": ["v"]},
        {"op": "mul_", "inputs": ["v", 2.0], "outputs": ["v"]},
        {"op": "sum", "inputs": ["q"], "outputs": ["loss"]},
    ]
    submit(session, m.JsonBatch(), text({"steps": steps}))
    if rng.random() < 0.5:
        submit(session, m.BackwardJson("loss"), text({"retain_graph": True}))
    return read(io.BytesIO(frames.join(session.freeze(alone=True))))


def _op(session: Session, rng: random.Random, k: int) -> None:
    key = rng.choice(KEYS)
    number = rng.randrange(len(SAMPLES[key]))
    sample = SAMPLES[key][number]
    specs = list(table.specs((sample.args, sample.attrs)))
    made = [
        table.ours(a, "contiguous", s.grad)
        for a, s in zip(table.arrays(key, number, sample), specs, strict=True)
    ]
    given = iter(made)
    args, attrs = table.swap(sample.args, given), table.swap(sample.attrs, given)
    found = (sample.fn or table.lookup(key))(*args, **attrs)
    outs = [t for t in (found if isinstance(found, (list, tuple)) else [found]) if isinstance(t, Tensor)]
    for i, t in enumerate(made):
        session.table.bind(f"in{k}_{i}", t)
    for i, t in enumerate(outs):
        session.table.bind(f"out{k}_{i}", t)


# -- changes -----------------------------------------------------------------------------------------


def _places(x: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where everything in JSON stands."""
    found = [at] if at else []
    items = x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ()
    for key, value in items:
        found += _places(value, (*at, key))
    return found


def _at(x: Any, place: tuple[Any, ...]) -> Any:
    for key in place:
        x = x[key]
    return x


def _other(rng: random.Random, old: Any) -> Any:
    if rng.random() < 0.1:
        return rng.choice([None, True, 1.5, "x", [], {}, [[]], -1])
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return rng.choice([old + 1, old - 1, rng.choice(NUMBERS), rng.randrange(20)])
    if isinstance(old, float):
        return rng.choice([0.0, -1.0, 1e308, old + 1])
    if isinstance(old, str):
        return rng.choice(WORDS)
    return rng.choice(NUMBERS)


def change(state: Any, rng: random.Random) -> None:
    """Change something in the JSON of a snapshot."""
    part = rng.choice(
        [state, state["graph"], state["graph"], state["graph"]["tensors"], state["graph"]["nodes"]]
    )
    places = _places(part) or _places(state)
    place = rng.choice(places)
    holder, key = _at(part, place[:-1]), place[-1]
    how = rng.randrange(8)
    if how == 0 and isinstance(holder, list):
        del holder[key]
    elif how == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif how == 2 and isinstance(holder, list):
        other = rng.randrange(len(holder))
        holder[key], holder[other] = holder[other], holder[key]
    elif how == 3:
        same = [p for p in places if isinstance(_at(part, p), type(holder[key]))]
        holder[key] = copy.deepcopy(_at(part, rng.choice(same)))
    else:
        holder[key] = _other(rng, holder[key])


def misdirect(state: Any, rng: random.Random) -> None:
    """Let a row name another row than it does, or be of another dtype."""
    tensors, nodes = state["graph"]["tensors"], state["graph"]["nodes"]
    row = rng.choice([rng.choice(tensors), rng.choice(nodes or tensors)])
    if isinstance(row[0], int):  # of a tensor: storage, counter, node, gradient, base, accumulator
        field = rng.choice([0, 1, 2, 7, 9, 10, 12])
        row[field] = rng.choice(list(dtypes.BY_NAME)) if field == 2 else rng.randrange(-1, len(tensors))
    elif row[3]:
        row[3][rng.randrange(len(row[3]))] = rng.randrange(-1, len(nodes))


def changed(good: Snapshot, rng: random.Random) -> bytes:
    """The file of a snapshot of a stranger."""
    state, arrays = json.loads(good.state), {name: np.array(a) for name, a in good.arrays.items()}
    how = rng.randrange(10)
    if how < 3:
        for _ in range(rng.choice([1, 1, 2, 3])):
            misdirect(state, rng)
    elif how < 7:
        for _ in range(rng.choice([1, 1, 1, 2, 5])):
            with suppress(LookupError, ValueError, TypeError):  # what came before changed where it looks
                change(state, rng)
    elif how == 7 and arrays:
        name = rng.choice(sorted(arrays))
        octets = arrays[name].reshape(-1).view(np.uint8)
        for _ in range(min(len(octets), 8)):
            octets[rng.randrange(len(octets))] = rng.randrange(256)
    elif how == 8 and arrays:
        name = rng.choice(sorted(arrays))
        array = arrays.pop(name)
        arrays[rng.choice([name, "other", "gradd/9"])] = array.reshape(-1)[: rng.randrange(array.size + 1)]
    file = bytearray(frames.join(list(parts(Snapshot(json.dumps(state).encode(), arrays)))))
    if how == 9:
        for _ in range(rng.randint(1, 4)):
            file[rng.randrange(len(file))] = rng.randrange(256)
        if rng.random() < 0.2:
            del file[rng.randrange(len(file)) :]
        if rng.random() < 0.8:
            file[-32:] = hashlib.blake2b(file[:-32], digest_size=32).digest()
    return bytes(file)


# -- what comes of them ------------------------------------------------------------------------------


def outcome(file: bytes) -> str:
    """`refused`, `sound`, or what is wrong."""
    try:
        session = Session.fork(io.BytesIO(file), "stranger", limit=LIMIT)
    except (BadSnapshot, OutOfQuota) as error:
        return "refused" if str(error) else "refused without a word"
    replies: list[m.Reply] = [submit(session, m.ListTensors()), submit(session, m.ListHooks())]
    names = list(session.table.named)
    for name in names:
        for read_one in (m.GetTensor(name), m.GetTensor(f"{name}.grad"), m.GetGraph(name)):
            replies.append(submit(session, read_one))
    for name in names:
        form = session.table.named[name]
        body = {"retain_graph": True}
        if form.numel() != 1 and form.numel() < 1000:
            body = {"gradient": name, **body}
        replies.append(submit(session, m.BackwardJson(name), text(body)))
        replies.append(submit(session, m.GetTensor(f"{name}.grad")))
    for reply in replies:
        if isinstance(reply, m.ProblemReply) and reply.problem.slug == "internal":
            return f"internal: {reply.problem.detail}"
        if isinstance(reply, m.JsonReply) and reply.status >= 500 and reply.status != 507:
            return f"status {reply.status}"
    with suppress(CannotFreeze):
        session.freeze()
    session.close()
    return "sound"


def _late(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"it took longer than {SECONDS} s")


def main(seed: int, count: int) -> int:
    """Try so many files; how many went wrong."""
    signal.signal(signal.SIGALRM, _late)
    neighbour = Session("neighbour")
    submit(neighbour, m.PutTensor("x", True), np.arange(5.0))
    before = frames.join(neighbour.freeze())
    came: Counter[str] = Counter()
    good = None
    for n in range(seed, seed + count):
        rng = random.Random(n)
        if good is None or n % 20 == 0:
            good = sound(random.Random(n // 20))
        print(n, end="\r", flush=True)
        file = changed(good, rng)
        signal.alarm(SECONDS)
        try:
            found = outcome(file)
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        signal.alarm(0)
        came[found if found in ("refused", "sound") else "wrong"] += 1
        if found not in ("refused", "sound"):
            print(f"{n}: {found[:300]}", flush=True)
    if frames.join(neighbour.freeze()) != before:
        came["wrong"] += 1
        print("a neighbour is another")
    print(json.dumps({"tried": count, **came}))
    return came["wrong"]


if __name__ == "__main__":
    sys.exit(min(1, main(int(sys.argv[1]), int(sys.argv[2]))))
