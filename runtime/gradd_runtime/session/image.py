"""A session as a snapshot, and a session of it again: everything that later requests can tell.

Plans, what was admitted and a profiler are not in it: they are made anew, and change no answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from gradd_engine.freezing import BadFrozen, Frozen, FrozenGraph, freeze, thaw, uncollected
from gradd_protocol.messages import Restored
from gradd_protocol.problems import ProtocolError
from gradd_protocol.program import Program, Sites

from ..store import RESERVED, BadSnapshot, Snapshot
from ..tensors import Marks
from .json_hooks import Hook, HookImage
from .series import SeriesImage
from .writers import Writer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradd_engine.tensor import Tensor

    from .json_batches import JsonDesk
    from .json_hooks import Hooks
    from .state import SessionState

#: where bytes lie among those of all answers: begin and end
Place = tuple[int, int]
#: bytes of a storage without a name that lie among those of others: a graph holds many small ones
_SMALL = 1 << 16
#: what a reader of the format takes for something else
_META = "__metadata__"


class WriterImage(msgspec.Struct, array_like=True):
    """A writer; `replies`: number of the batch, digest and reply."""

    id: int
    last: int
    ack: int
    failed: int | None
    position: int
    replies: list[tuple[int, Place, Place]]
    pinned: dict[str, int]


class SessionImage(msgspec.Struct, forbid_unknown_fields=True):
    """The JSON of a snapshot. Arrays and bytes are named by where they are in the file."""

    name: str
    limit: int
    position: int
    stream: tuple[int, int]
    graph: FrozenGraph
    #: by number of a storage: the tensor of the file that has its bytes, or where they are
    memory: list[str | Place]
    hooks: list[HookImage]
    #: how many its record had
    entries: int = 0
    counts: dict[str, int] = {}
    marks: Marks = Marks(0, 0, {}, {}, [])
    epoch: int = 0
    next: int = 1
    writers: list[WriterImage] = []
    seq: int = 0
    answers: list[tuple[str, Place, Place, int]] = []
    staged: list[tuple[str, str]] = []
    #: key, dtype, tensor of the file
    pins: list[tuple[str, str, str]] = []
    programs: list[tuple[Program, int]] = []
    restored: Restored | msgspec.UnsetType = msgspec.UNSET
    #: what its scripts logged, if anything
    series: list[SeriesImage] | msgspec.UnsetType = msgspec.UNSET
    #: by program: the lines of its steps, if writers told any
    sites: dict[str, Sites] | msgspec.UnsetType = msgspec.UNSET


_decoder = msgspec.json.Decoder(SessionImage)
_BYTES = f"{RESERVED}bytes"


class _Arrays:
    """The arrays of a snapshot as they are gathered."""

    def __init__(self) -> None:
        self.by_name: dict[str, Any] = {}
        self._bytes: list[Any] = []
        self._end = 0

    def add(self, array: Any) -> str:
        """The name in the file of an array that users do not see."""
        name = f"{RESERVED}{len(self.by_name)}"
        self.by_name[name] = array
        return name

    def place(self, data: Any) -> Place:
        """Where bytes (or an array of them) will be."""
        begin = self._end
        self._bytes.append(data)
        self._end += len(data)
        return begin, self._end

    def close(self) -> dict[str, Any]:
        """All arrays, by name."""
        self.by_name[_BYTES] = np.frombuffer(b"".join(self._bytes), np.uint8)
        return self.by_name


def take_image(session: SessionState, desk: JsonDesk | None, hooks: Hooks) -> Snapshot:
    """The whole state of a session; without a `desk` what its names hold and its scripts logged, and nothing
    of its clients. Its arrays are the memory of tensors: write them before anything runs.

    Raises CannotFreeze where a pass is under way, and ProtocolError for a session that is fenced.
    """
    if session.fenced is not None:
        raise ProtocolError(session.fenced)
    hung: set[str] = set()

    def called(hook: Any) -> str | None:
        if not isinstance(hook, Hook):
            return None
        hung.add(hook.name)
        return hook.name

    table, arrays = session.table, _Arrays()
    frozen = freeze(table.named if desk is None else {**table.ids, **table.named}, called)
    image = SessionImage(
        session.name,
        session.account.limit,
        session.position,
        (session.generator.seed, session.generator.step),
        frozen.graph,
        _memory(table.named, frozen, arrays),
        hooks=hooks.images(hung),
        series=session.curves.images() or msgspec.UNSET,
    )
    if desk is not None:
        _add_clients(image, session, desk, arrays)
    return Snapshot(msgspec.json.encode(image), arrays.close())


def _add_clients(image: SessionImage, session: SessionState, desk: JsonDesk, arrays: _Arrays) -> None:
    image.entries, image.counts, image.restored = session.entries, session.counts, session.restored
    image.marks = session.table.marks()
    image.epoch, image.next = session.writers.epoch, session.writers.next
    image.writers = [_writer(w, arrays) for w in session.writers]
    image.seq = desk.seq
    image.answers = [
        (key, arrays.place(digest), arrays.place(body), status)
        for key, digest, body, status in desk.answers()
    ]
    image.staged = [(key, arrays.add(a)) for key, a in session.staged.items()]
    image.pins = [(key, dtype, arrays.add(a)) for key, a, dtype in session.pins.items()]
    image.programs = list(session.programs.items())
    image.sites = session.programs.sites() or msgspec.UNSET


def _writer(w: Writer, arrays: _Arrays) -> WriterImage:
    replies = [(seq, arrays.place(digest), arrays.place(reply)) for seq, (digest, reply) in w.replies.items()]
    return WriterImage(w.id, w.last, w.ack, w.failed, w.position, replies, w.pinned)


def _memory(named: Mapping[str, Tensor], frozen: Frozen, arrays: _Arrays) -> list[str | Place]:
    """The name of each storage's array. Tensors with shared names, and their gradients, go by these; a view
    is copied there as long as copies take no more than all storages do.
    """
    rows, roots = frozen.graph.tensors, frozen.graph.roots
    names: list[str] = [""] * len(frozen.memory)
    room = sum(flat.nbytes for flat in frozen.memory)
    for name, t in sorted(named.items()):
        for entry, tensor, row in ((name, t, roots[name]), (f"{name}.grad", t._grad, rows[roots[name]].grad)):
            if tensor is None or entry == _META:
                continue
            storage = rows[row].storage
            array: Any = tensor.array
            whole = array.flags.c_contiguous and array.nbytes == frozen.memory[storage].nbytes
            if whole and not tensor._conj and not names[storage]:
                names[storage] = entry
                arrays.by_name[entry] = _here(array)
            elif tensor.nbytes <= room:
                room -= tensor.nbytes
                arrays.by_name[entry] = tensor.backend.to_numpy(tensor)
    found: list[str | Place] = []
    for name, flat in zip(names, frozen.memory, strict=True):
        found.append(name or (arrays.place if flat.nbytes < _SMALL else arrays.add)(_here(flat)))
    return found


def _here(array: Any) -> Any:
    """A backend's array as one of NumPy."""
    return array if isinstance(array, np.ndarray) else array.get()


def read_image(snapshot: Snapshot) -> SessionImage:
    """The JSON of a snapshot; BadSnapshot where it is not of this form."""
    try:
        with uncollected():
            return _decoder.decode(snapshot.state)
    except msgspec.ValidationError as error:
        raise BadSnapshot(f"the snapshot's state: {error}") from None


def restore(
    session: SessionState, desk: JsonDesk, hooks: Hooks, image: SessionImage, snapshot: Snapshot
) -> None:
    """Make a new session what another was. Raises BadSnapshot."""
    try:
        _restore(session, desk, hooks, image, snapshot.arrays)
    except (BadFrozen, ProtocolError, KeyError, IndexError, TypeError, ValueError) as error:
        session.close()
        raise BadSnapshot(f"the snapshot's state does not go together: {error}") from error


def _restore(
    session: SessionState, desk: JsonDesk, hooks: Hooks, image: SessionImage, arrays: Mapping[str, Any]
) -> None:
    octets = arrays[_BYTES]

    def part(at: Place) -> bytes:
        return octets[slice(*at)].tobytes()  # type: ignore[no-any-return]

    session.entries = image.entries
    session.counts.update(image.counts)
    session.restored = image.restored
    session.curves.restore(image.series or [])
    session.position = image.position
    session.generator.seed, session.generator.step = image.stream
    held = sum(storage.nbytes for storage in image.graph.storages)
    frozen = Frozen(image.graph, flat_memory(image, arrays, held))
    hang = hooks.restore(session, image.hooks)
    session.table.restore(thaw(frozen, session.backend, hang), image.marks)
    writers = []
    for w in image.writers:
        replies = {seq: (part(digest), part(reply)) for seq, digest, reply in w.replies}
        held = sum(len(reply) for _, reply in replies.values())
        writers.append(Writer(w.id, w.last, w.ack, w.failed, w.position, replies, w.pinned, held))
    session.writers.restore(image.epoch, image.next, writers)
    answers = [(key, part(digest), part(body), status) for key, digest, body, status in image.answers]
    desk.restore(session, image.seq, answers)
    for key, at in image.staged:
        session.staged.add(key, arrays[at])
    for key, dtype, at in image.pins:
        session.pins.add(key, arrays[at], dtype, None)
    session.programs.restore(image.programs, image.sites or {})
    session.settle()


def flat_memory(image: SessionImage, arrays: Mapping[str, Any], room: int) -> list[Any]:
    """The bytes of each storage, `room` in all. Raises BadSnapshot where they are more, or not there."""
    octets, found, taken = arrays[_BYTES], [], set()
    for at in image.memory:
        if isinstance(at, str):
            if at not in arrays or at in taken:
                raise BadSnapshot("a storage's tensor is not in the file, or another's")
            flat = arrays[at].reshape(-1).view(np.uint8)
            taken.add(at)
        else:
            begin, end = at
            if not 0 <= begin <= end <= len(octets):
                raise BadSnapshot("a storage's bytes are not there")
            flat = octets[begin:end]
        room -= flat.nbytes
        if room < 0:
            raise BadSnapshot("the storages have more bytes than they say")
        found.append(flat if isinstance(at, str) else flat.copy())
    return found
