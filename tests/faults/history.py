"""What may happen to a session, and what it then is: a state machine whose state is a plain dict of NumPy
arrays.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from gradd_engine.backends.array import NUMPY
from gradd_protocol import frames
from gradd_protocol import messages as m
from gradd_protocol.program import Program, Step, Value
from gradd_runtime.process import Hosted
from gradd_runtime.store import make_record
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

NAMES = st.sampled_from(["a", "b", "c", "d"])
NUMBERS = st.integers(-8, 8).map(float)
PICK = st.integers(0, 1 << 16)
KEYS = st.sampled_from(["k1", "k2"])
SINGULAR = Step("zeros", [], {"size": [2, 2], "dtype": "float64"})
#: elements of an upload that is a blob of the record
LARGE = 1 << 17


@dataclass
class Cell:
    """A tensor: names and ids that stand for one are one cell."""

    value: np.ndarray[Any, Any]
    grad: np.ndarray[Any, Any] | None = None
    leaf: bool = False


@dataclass
class Sender:
    """A writer, as it sees itself."""

    id: int
    epoch: int
    seq: int = 0
    ack: int = 0
    failed: int | None = None
    ids: int = 0
    uploads: int = 0
    #: seq -> frame, and what was answered
    sent: dict[int, tuple[bytes, Any]] = field(default_factory=dict)


class History(RuleBasedStateMachine):
    """One session. Every answer is compared as it comes; all tensors are when it was made again."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.made = 0
        self.names: dict[str, Cell] = {}
        self.ids: dict[str, Cell] = {}
        self.staged: dict[str, np.ndarray[Any, Any]] = {}
        self.keyed: dict[str, tuple[Any, Any]] = {}
        self.writers: list[Sender] = []
        self.batches = 0
        (self.home / "0").mkdir()
        make_record(self.home / "0" / "record.db")
        self.host = self.hosted()

    def teardown(self) -> None:
        self.compare()
        self.kill()
        self.host.close()
        shutil.rmtree(self.home)

    # -- the session ---------------------------------------------------------------------------------

    def hosted(self) -> Hosted:
        store = str(self.home / str(self.made) / "record.db")
        return Hosted("history", {"store": store, "durability": "process"}, NUMPY)

    def submit(self, frame: bytes, host: Hosted | None = None) -> bytes:
        host = host or self.host
        while not host.wake(frame):
            pass
        return frames.join(host.answer(memoryview(bytearray(frame))))

    def ask(self, message: m.Request, buffers: Any = ()) -> tuple[Any, list[Any]]:
        return frames.decode_reply(self.submit(frames.join(frames.encode(message, buffers))))

    def copied(self) -> Hosted:
        """The session of another process that has the files as they are now."""
        old = self.home / str(self.made)
        self.made += 1
        shutil.copytree(old, self.home / str(self.made))
        return self.hosted()

    # -- what the model says -------------------------------------------------------------------------

    def cell(self, pick: int, plain: bool = False) -> tuple[str, Cell] | None:
        known = [
            (name, cell)
            for name, cell in (*self.names.items(), *self.ids.items())
            if not (plain and cell.leaf) and cell.value.size == 3
        ]
        return known[pick % len(known)] if known else None

    def live(self, pick: int) -> Sender:
        known = [w for w in self.writers if w.epoch == self.writers[-1].epoch]
        return known[pick % len(known)]

    def compare(self) -> None:
        """All that can be read is as the model has it."""
        listed = self.ask(m.ListTensors())[0].tensors
        assert {t.id for t in listed} == {*self.ids} | self.own_ids()
        for name, cell in (*self.names.items(), *self.ids.items()):
            _, (values,) = self.ask(m.GetTensor(name))
            assert np.array_equal(values, cell.value), name
            reply, found = self.ask(m.GetTensor(f"{name}.grad"))
            if cell.grad is None:
                assert reply.problem.slug == "tensor-not-found"
            else:
                assert np.array_equal(found[0], cell.grad), name
        assert self.ask(m.Info())[0].session.batches == self.batches

    def own_ids(self) -> set[str]:
        """Names of tensors that no id stands for."""
        with_id = {id(cell) for cell in self.ids.values()}
        return {name for name, cell in self.names.items() if id(cell) not in with_id}

    # -- tensors -------------------------------------------------------------------------------------

    @initialize()
    def begin(self) -> None:
        self.attach()
        self.put("a", 2.0, grad=True, as_json=False)
        self.put("b", 3.0, grad=False, as_json=False)

    @rule(name=NAMES, number=NUMBERS, grad=st.booleans(), as_json=st.booleans())
    def put(self, name: str, number: float, grad: bool, as_json: bool) -> None:
        value = np.array([number, 1.0, 2.0])
        if as_json:
            form = {"data": value.tolist(), "dtype": "float64", "requires_grad": grad}
            reply, _ = self.ask(m.PutJson(name), [frames.text_buffer(json.dumps(form).encode())])
        else:
            reply, _ = self.ask(m.PutTensor(name, grad), [value])
        assert reply.created == (name not in self.names)
        self.names[name] = Cell(value, leaf=grad)

    @rule(name=NAMES)
    def delete(self, name: str) -> None:
        reply, _ = self.ask(m.DeleteTensor(name))
        assert isinstance(reply, m.Done) == (name in self.names), reply
        self.names.pop(name, None)

    # -- writers -------------------------------------------------------------------------------------

    @rule()
    def attach(self) -> None:
        reply, _ = self.ask(m.Attach("history"))
        self.writers.append(Sender(reply.writer, reply.epoch))
        assert len({(w.id, w.epoch) for w in self.writers}) == len(self.writers)

    @rule(pick=PICK)
    def resume(self, pick: int) -> None:
        writer = self.writers[pick % len(self.writers)]
        reply, _ = self.ask(m.Attach("history", writer.id, writer.epoch))
        if writer.epoch < self.writers[-1].epoch:
            assert reply.problem.slug == "writer-fenced"
        else:
            assert (reply.writer, reply.epoch) == (writer.id, writer.epoch)

    @rule()
    def acquire(self) -> None:
        reply, _ = self.ask(m.Acquire())
        assert reply.epoch == self.writers[-1].epoch + 1
        self.writers.append(Sender(reply.writer, reply.epoch))
        self.staged.clear()

    # -- batches -------------------------------------------------------------------------------------

    def send(self, writer: Sender, message: m.Request, buffers: Any, effect: Callable[[], Any]) -> Any:
        """Send a numbered batch that the session takes; what it is answered. `effect`: what it does to the
        model, and the value that it fetches.
        """
        frame = frames.join(frames.encode(message, buffers))
        return self.took(writer, frame, self.submit(frame), effect)

    def took(self, writer: Sender, frame: bytes, answer: bytes, effect: Callable[[], Any]) -> Any:
        reply, found = frames.decode_reply(answer)
        message = frames.decode_request(frame)[0]
        writer.seq += 1
        self.batches += 1
        if message.ack > writer.ack:  # type: ignore[union-attr]
            writer.ack = message.ack  # type: ignore[union-attr]
            writer.sent = {seq: what for seq, what in writer.sent.items() if seq > writer.ack}
        skipped = writer.failed is not None and writer.ack < writer.failed
        if not skipped:
            writer.failed = None
        writer.sent[writer.seq] = frame, _told(answer)
        assert not reply.replayed
        assert _skipped(reply) == skipped, reply
        if not skipped:
            fetched = effect()
            if isinstance(reply, m.JsonReply):
                assert reply.status == 200, frames.text_of(found[0])
                (result,) = json.loads(frames.text_of(found[0]))["results"].values()
                assert np.array_equal(result["data"], fetched)
            elif fetched is not None:
                assert np.array_equal(found[0], fetched)
        return reply

    def message(self, writer: Sender, *steps: Step, late: bool, **more: Any) -> m.Batch:
        """`late`: it was sent before its writer had read the last reply."""
        program = Program(len(more.get("inputs", ())), list(steps))
        return m.Batch(
            writer=writer.id, epoch=writer.epoch, seq=writer.seq + 1,
            ack=writer.ack if late else writer.seq, program=program.id(), definition=program, **more,
        )  # fmt: skip

    @rule(
        who=PICK, one=PICK, two=PICK, name=NAMES, bind=st.booleans(), late=st.booleans(),
        crash=st.integers(0, 7),
    )  # fmt: skip
    def compute(self, who: int, one: int, two: int, name: str, bind: bool, late: bool, crash: int) -> None:
        """A product that is kept under an id, and perhaps a name. Perhaps its sender does not hear of it."""
        left, right = self.cell(one, plain=True), self.cell(two, plain=True)
        if left is None or right is None:
            return
        writer = self.live(who)
        writer.ids += 1
        tensor = f"@{writer.id}.{writer.ids}"
        message = self.message(
            writer, Step("mul", [0, 1], {}), late=late, inputs=[left[0], right[0]], keep=[2],
            first=writer.ids, fetch=[2], bind={name: 2} if bind else {},
        )  # fmt: skip

        def effect() -> Any:
            made = Cell(left[1].value * right[1].value)
            self.ids[tensor] = made
            if bind:
                self.names[name] = made
            return made.value

        frame = frames.join(frames.encode(message))
        if crash == 0:  # it dies before it has recorded it
            new = self.copied()
            self.submit(frame)
        elif crash == 1:  # and after
            self.submit(frame)
            new = self.copied()
        else:
            self.took(writer, frame, self.submit(frame), effect)
            return
        self.host.close()
        self.host = new
        reply, found = frames.decode_reply(self.submit(frame))
        assert reply.replayed == (crash == 1)
        self.took(writer, frame, frames.join(frames.encode(_first(reply), found)), effect)

    @rule(who=PICK, what=PICK, number=NUMBERS, late=st.booleans())
    def add_in_place(self, who: int, what: int, number: float, late: bool) -> None:
        found = self.cell(what, plain=True)
        if found is None:
            return
        writer = self.live(who)
        step = Step("add_", [0, Value("float")], {})
        message = self.message(writer, step, late=late, inputs=[found[0]], values=[number], fetch=[found[0]])

        def effect() -> Any:
            found[1].value = found[1].value + number
            return found[1].value

        self.send(writer, message, (), effect)

    @rule(who=PICK, what=PICK, number=NUMBERS, late=st.booleans())
    def fail(self, who: int, what: int, number: float, late: bool) -> None:
        """Its last step fails, those before it stand."""
        found = self.cell(what, plain=True)
        writer = self.live(who)
        if found is None:
            return
        steps = Step("add_", [0, Value("float")], {}), SINGULAR, Step("inverse", [2], {})
        message = self.message(writer, *steps, late=late, inputs=[found[0]], values=[number])

        def effect() -> None:
            found[1].value = found[1].value + number
            writer.failed = writer.seq

        reply = self.send(writer, message, (), effect)
        assert reply.skipped or (reply.problem.step, reply.applied) == (2, 2)

    @rule(who=PICK, what=PICK)
    @precondition(lambda self: self.ids)
    def free(self, who: int, what: int) -> None:
        id = sorted(self.ids)[what % len(self.ids)]
        writer = self.live(who)
        message = self.message(writer, late=False, free=[id])
        self.send(writer, message, (), lambda: self.ids.pop(id) and None)

    @rule(who=PICK, number=NUMBERS, large=st.integers(0, 9))
    def stage(self, who: int, number: float, large: int) -> None:
        writer = self.live(who)
        writer.uploads += 1
        key = f"{writer.id}.{writer.uploads}"
        value = np.full(LARGE if not large else 3, number)
        assert isinstance(self.ask(m.Stage(key), [value])[0], m.Done)
        self.staged[key] = value

    @rule(what=PICK, missing=st.booleans())
    def upload(self, what: int, missing: bool) -> None:
        writer = self.writers[-1]
        own = [key for key in self.staged if key.startswith(f"{writer.id}.")]
        key = own[what % len(own)] if own and not missing else f"{writer.id}.999"
        value = self.staged.get(key, np.zeros(3))
        writer.ids += 1
        tensor = f"@{writer.id}.{writer.ids}"
        step = Step("upload", [], {"shape": list(value.shape), "dtype": "float64"})
        message = self.message(writer, step, late=False, keep=[0], first=writer.ids, uploads=[key])
        if key not in self.staged:
            reply, _ = self.ask(message)
            assert reply.problem.slug == "upload-missing"
            return

        def effect() -> None:
            self.ids[tensor] = Cell(self.staged.pop(key))

        self.send(writer, message, (), effect)

    # -- batches of JSON -----------------------------------------------------------------------------

    def accumulating(self, what: int) -> tuple[dict[str, Any], Callable[[], Any]] | None:
        """A pass over a leaf, and what it does."""
        leaves = [(name, cell) for name, cell in self.names.items() if cell.leaf]
        if not leaves:
            return None
        name, cell = leaves[what % len(leaves)]
        steps = [
            {"op": "mul", "inputs": [name, name], "outputs": ["%y"]},
            {"op": "sum", "inputs": ["%y"], "outputs": ["%s"]},
            {"op": "backward", "inputs": ["%s"]},
        ]

        def effect() -> Any:
            cell.grad = 2 * cell.value + (0 if cell.grad is None else cell.grad)
            return cell.grad

        return {"steps": steps, "fetch": [f"{name}.grad"]}, effect

    @rule(what=PICK, who=PICK, late=st.booleans())
    def numbered(self, what: int, who: int, late: bool) -> None:
        made = self.accumulating(what)
        if made is None:
            return
        writer = self.live(who)
        ack = writer.ack if late else writer.seq
        message = m.JsonBatch(writer=writer.id, epoch=writer.epoch, seq=writer.seq + 1, ack=ack)
        self.send(writer, message, [frames.text_buffer(json.dumps(made[0]).encode())], made[1])

    @rule(what=PICK, key=KEYS, again=st.booleans())
    def under_a_key(self, what: int, key: str, again: bool) -> None:
        made = self.accumulating(what)
        if made is None:
            return
        body, effect = made
        if again and key in self.keyed:
            body = self.keyed[key][0]
        reply, texts = self.ask(m.JsonBatch(key), [frames.text_buffer(json.dumps(body).encode())])
        text = b"".join(map(bytes, texts))
        if key not in self.keyed:
            self.batches += 1
            (result,) = json.loads(text)["results"].values()
            assert np.array_equal(result["data"], effect())
            self.keyed[key] = body, text
        elif self.keyed[key][0] == body:
            assert (reply.replayed, text) == (True, self.keyed[key][1])
        else:
            assert reply.problem.slug == "idempotency-conflict"

    # -- numbers -------------------------------------------------------------------------------------

    @rule(who=PICK, which=PICK)
    def send_again(self, who: int, which: int) -> None:
        writer = self.live(who)
        if writer.sent:
            seq = sorted(writer.sent)[which % len(writer.sent)]
            frame, told = writer.sent[seq]
            answer = self.submit(frame)
            assert _told(answer) == told
            assert frames.decode_reply(answer)[0].replayed

    @rule(who=PICK, by=st.sampled_from([-1, 0, 2, 7]))
    def another_number(self, who: int, by: int) -> None:
        """One that was acknowledged, one that another batch has, and gaps."""
        writer = self.live(who)
        seq = writer.ack if by < 0 else writer.seq + by
        if seq < 1:
            return
        program = Program(0, [Step("ones", [], {"size": [1], "dtype": "float32"})])
        number = {"writer": writer.id, "epoch": writer.epoch, "seq": seq, "ack": 0}
        reply, _ = self.ask(m.Batch(**number, program=program.id(), definition=program))
        expected = "reply-expired" if seq not in writer.sent else "sequence-conflict"
        assert reply.problem.slug == ("sequence-gap" if seq > writer.seq else expected)
        assert reply.problem.expected_seq == writer.seq + 1

    @rule(which=PICK)
    def fenced(self, which: int) -> None:
        old = [w for w in self.writers if w.epoch < self.writers[-1].epoch]
        if old:
            assert (
                self.ask(self.message(old[which % len(old)], late=False))[0].problem.slug == "writer-fenced"
            )

    # -- ends ----------------------------------------------------------------------------------------

    @rule()
    def kill(self) -> None:
        old, self.host = self.host, self.copied()
        old.close()
        self.compare()

    @rule(asleep=st.booleans(), close=st.booleans())
    def let_go(self, asleep: bool, close: bool) -> None:
        slept = asleep and self.host.sleep()
        if close or not slept:
            self.host.close()
            self.host = self.hosted()
        assert self.ask(m.Info())[0].session.asleep == slept
        self.compare()


def _told(answer: bytes) -> Any:
    """A reply, whether it was sent once or again."""
    reply, found = frames.decode_reply(answer)
    return _first(reply), [(a.dtype.name, a.shape, a.tobytes()) for a in found]


def _first(reply: Any) -> Any:
    return msgspec.structs.replace(reply, replayed=False)


def _skipped(reply: Any) -> bool:
    return reply.status == 424 if isinstance(reply, m.JsonReply) else bool(reply.skipped)
