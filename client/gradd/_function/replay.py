"""Traces and replays of functions: the program is sent, and its effect applied to the mirror."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gradd_engine.backends.meta import MetaStorage
from gradd_engine.data import ambient, numel, set_mode
from gradd_engine.data.state import state
from gradd_engine.declare import written
from gradd_engine.tensor import locate, next_priority
from gradd_engine.tracing import (
    AbstractInputs,
    Commit,
    InputSignature,
    TraceBackend,
    TraceFailed,
    TraceOutputs,
)
from gradd_protocol.values import encode_scalars

from .._program import Builder, Grad, RuntimeSlot
from .._recording import Tape
from .._tensor import Tensor
from .guards import constant, flatten, unflatten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._program import CachedProgram
    from .._session import Session


#: how often a function may read other tensors than before, as when an optimizer creates its state
PATIENCE = 3


class Trace(Tape):
    """A call of a function: its steps, and the structure of its result."""

    def __init__(self) -> None:
        super().__init__()
        self.built: Builder | None = None
        #: the inputs of the program
        self.tensors: list[Any] = []
        #: the structure of its result, and where each leaf comes from
        self.tree: Any = None
        self.result: list[tuple[str, Any]] = []

    def end(self, built: Builder, result: Any, leaves: list[Any]) -> None:
        """The function returned; `built` has its steps, whose outputs still have their slots."""
        self.built, self.tensors = built, built.tensors
        found, self.tree = flatten(result)
        place = {id(x): i for i, x in enumerate(leaves) if isinstance(x, Tensor)}
        for x in found:
            if isinstance(x, Tensor) and x._out is not None and x._out[0] is built:
                self.result.append(("slot", x._out[1]))
            elif id(x) in place:
                self.result.append(("argument", place[id(x)]))
            elif isinstance(x, Tensor) or constant(x):
                self.result.append(("same", x))
            else:
                self.spoil(f"it returns a {type(x).__name__}")

    def replay(
        self, backend: TraceBackend, mirrored: AbstractInputs, found: InputSignature, known: CachedProgram
    ) -> Replay:
        """Run the steps on the mirrors of the inputs. Raises what the engine raises, including
        TraceFailed.
        """
        assert self.built is not None
        outs = self.run(backend, mirrored.inputs)
        mirrored.check(found)
        wanted = {what: outs[what] for kind, what in self.result if kind == "slot"}
        ending = TraceOutputs(mirrored, wanted)
        ending.settle({})
        return Replay(known, self.built, ending, self.result, self.tree, self._quiet(), self.drawn)

    def _quiet(self) -> list[int]:
        """The inputs that are written to without raising their version."""
        found = {
            id(t._storage)
            for op, _, raw, _, _ in self.entries
            if not isinstance(op, str) and op.effects.unversioned
            for t in written(op, raw)
        }
        return [i for i, t in enumerate(self.tensors) if id(t._storage) in found]

    def run(self, backend: TraceBackend, inputs: Sequence[Any]) -> list[Any]:
        """Run the steps on traced inputs; returns the tensors of all output slots."""
        assert self.built is not None
        outs: list[Any] = []
        here = {"grad": state.grad, "inference": state.inference}
        with ambient(backend=backend, account=None, generator=None, **here):
            for (op, args, raw, attrs, how), site in zip(self.entries, self.built.sites, strict=True):
                set_mode(how)
                if isinstance(op, str):
                    outs.append(_slot(args[0], inputs, outs)._grad)
                    continue
                given = tuple(_fill(a, r, inputs, outs) for a, r in zip(args, raw, strict=True))
                since = next_priority()
                found = op.run(given, attrs)
                made = () if found is None else found if isinstance(found, tuple) else (found,)
                for t in made:
                    locate(t, site, since)
                outs += made
        return outs


def _slot(a: int, inputs: Sequence[Any], outs: list[Any]) -> Any:
    return outs[a] if a >= 0 else inputs[-a - 1]


def _fill(a: Any, raw: Any, inputs: Sequence[Any], outs: list[Any]) -> Any:
    if a is None or isinstance(a, RuntimeSlot):
        return raw
    if isinstance(a, Grad):
        return _slot(a.of, inputs, outs)._grad
    if isinstance(a, int):
        return _slot(a, inputs, outs)
    return [_fill(e, r, inputs, outs) for e, r in zip(a, raw, strict=True)]


class _Nothing:
    """A mirror's memory: storages without bytes."""

    values: Sequence[Any] = ()

    def start(self, window: int) -> int:
        """There are no windows: the values of a traced function are constants."""
        raise TraceFailed("a window in a traced function")

    def storage(self, of: Any) -> Any:
        """A separate block."""
        return MetaStorage(numel(of.shape) * of.dtype.itemsize)


class Replay:
    """A traced call: its program, its effect on the mirror, and the structure of its result."""

    def __init__(
        self,
        known: CachedProgram,
        built: Builder,
        ending: TraceOutputs,
        result: list[tuple[str, Any]],
        tree: Any,
        quiet: list[int],
        drawn: int,
    ) -> None:
        self._known = known
        self._drawn = drawn
        self._sites = built.sites
        self._values = built.values
        self._encoded = encode_scalars(built.values)
        self._slots = len(built.outputs)
        self._ending = ending
        self._result = result
        self._tree = tree
        self._quiet = quiet

    def run(self, session: Session, tensors: list[Any], found: InputSignature, leaves: list[Any]) -> Any:
        """Apply the effect and send the batch; returns the call's result."""
        began = perf_counter()
        ending = self._ending
        commit = Commit(ending, found, _Nothing(), session.backend)
        commit.make()
        for i, _, bump in ending.changed:
            found.tensors[i]._storage.writes += bump  # type: ignore[union-attr]
        for i in self._quiet:
            tensors[i]._storage.writes += 1
        built = Builder()
        built.began, built.known = began, self._known
        built.steps, built.sites, built.values = self._known.steps, self._sites, self._values
        built.encoded = self._encoded
        built.inputs, built.tensors = [t._id for t in tensors], tensors
        built.outputs = [None] * self._slots
        for slot, t in ending.wanted.items():
            made: Any = commit.tensors[id(t)]
            if made._id is None and made._out is None:
                made._out = (built, slot)
                built.outputs[slot] = weakref.ref(made)
        made_by = {slot: commit.tensors[id(t)] for slot, t in ending.wanted.items()}
        result = [
            made_by[what] if kind == "slot" else leaves[what] if kind == "argument" else what
            for kind, what in self._result
        ]
        session.stream.advance(self._drawn)
        session.send(built, [])
        return unflatten(self._tree, result)


class Learned:
    """What is known of calls with one signature: the tensors that they read, and traces by the tensors'
    state.
    """

    def __init__(self, tensors: list[Any], leaves: list[Any]) -> None:
        self._patience = PATIENCE
        self._learn(tensors, leaves)

    def _learn(self, tensors: list[Any], leaves: list[Any]) -> None:
        place = {id(x): i for i, x in reversed(list(enumerate(leaves))) if isinstance(x, Tensor)}
        #: for each input of the program: an argument's position, or a tensor from elsewhere
        self.sources: list[tuple[str, Any]] = [
            ("argument", place[id(t)]) if id(t) in place else ("same", t) for t in tensors
        ]
        self.replays: OrderedDict[Any, Replay | None] = OrderedDict()

    def forgets(self, tensors: list[Any], leaves: list[Any]) -> bool:
        """Whether to learn anew, since a call read other tensors than before, and not too often yet."""
        same = [id(t) for t in tensors] == [id(t) for t in self.tensors(leaves)]
        if same or not self._patience:
            return False
        self._patience -= 1
        self._learn(tensors, leaves)
        return True

    def strays(self, leaves: list[Any]) -> bool:
        """Whether an argument is a tensor that the function read from elsewhere."""
        known = {id(what) for kind, what in self.sources if kind == "same"}
        return any(id(x) in known for x in leaves)

    def tensors(self, leaves: list[Any]) -> list[Any]:
        """The inputs of the program for these arguments."""
        return [leaves[what] if kind == "argument" else what for kind, what in self.sources]
