"""`gradd.function`: a Python function whose recording is cached.

The first call finds the tensors that the function reads, the second traces it, and later calls send the
program at once and apply its effect to the mirror as a whole.
"""

from __future__ import annotations

import functools
import logging
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from gradd_engine.data import mode
from gradd_engine.data.state import state
from gradd_engine.declare import separate_casts
from gradd_engine.tracing import AbstractInputs, Guards, InputSignature, TraceBackend, Unplannable

from .._session import current
from .._tensor import Tensor
from .guards import flatten, guards, named, watch
from .replay import Learned, Trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._program import CachedProgram
    from .._recording import Recorder
    from .._session import Session

logger = logging.getLogger("gradd.function")

#: signatures cached for a function, and states of tensors for each
LIMIT = 16


class RecordedFunction:
    """A function whose recording is cached; see `function`."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        functools.update_wrapper(self, fn)
        self._fn = fn
        self._names = named(fn)
        self._learned: OrderedDict[Any, Learned | None] = OrderedDict()

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, tree = flatten((args, kwargs))
        tensors = [x for x in leaves if isinstance(x, Tensor)]
        session: Session = tensors[0]._session if tensors else current()
        with session.lock:
            session.ready()
            recorder = session.recorder()
            if recorder.tape is not None:
                # Inside another function, whose trace includes it.
                return self._fn(*args, **kwargs)
            same = tuple(next(i for i, y in enumerate(tensors) if y is x) for x in tensors)
            names = self._names
            key = (
                tree,
                mode(),
                state.dtype,
                state.tf32,
                state.casting,
                same,
                *(_signature(x, names) for x in leaves),
                *guards(self._fn, names),
            )
            if key not in self._learned:
                return self._learn(key, session, recorder, leaves, args, kwargs)
            self._learned.move_to_end(key)
            learned = self._learned[key]
            if learned is None or learned.strays(leaves):
                return self._fn(*args, **kwargs)
            return self._again(learned, session, recorder, leaves, args, kwargs)

    def _learn(
        self, key: Any, session: Session, recorder: Recorder, leaves: list[Any], args: Any, kwargs: Any
    ) -> Any:
        """The first call with its signature: find the tensors that it reads."""
        if self._learned:
            self._say("is traced anew: shapes, dtypes or constants that it depends on are others")
        if len(recorder.building):
            recorder.flush()
        result, tape, _ = self._record(session, recorder, leaves, args, kwargs)
        _keep(self._learned, key, None)
        if tape.spoiled is not None:
            self._say(f"is recorded at each call: {tape.spoiled}")
        else:
            self._learned[key] = Learned(tape.tensors, leaves)
        return result

    def _again(
        self, learned: Learned, session: Session, recorder: Recorder, leaves: list[Any], args: Any,
        kwargs: Any,
    ) -> Any:  # fmt: skip
        """A call whose inputs are known: replay it, or trace it if their state is new."""
        tensors = learned.tensors(leaves)
        for t in tensors:
            recorder.settle(t)
            if t._id is None and t._out is None:
                session.refuse_lost(t)
        for other in session.recorders:
            if len(other.building):
                other.flush()
        try:
            found = InputSignature(tensors)
        except Unplannable:
            return self._fn(*args, **kwargs)
        if found.key in learned.replays:
            learned.replays.move_to_end(found.key)
            replay = learned.replays[found.key]
            if replay is None:
                return self._fn(*args, **kwargs)
            return replay.run(session, tensors, found, leaves)
        backend = TraceBackend(session.backend.device, Guards())
        mirrored = AbstractInputs(backend, found)
        result, tape, known = self._record(session, recorder, leaves, args, kwargs)
        if tape.spoiled is None and learned.forgets(tape.tensors, leaves):
            return result
        _keep(learned.replays, found.key, None)
        if [id(t) for t in tape.tensors] != [id(t) for t in tensors]:
            tape.spoil("it reads other tensors at each call")
        if tape.spoiled is None:
            try:
                learned.replays[found.key] = tape.replay(backend, mirrored, found, known)
                self._say("was traced")
            except Exception as error:
                # The recording is valid; only tracing failed, so later calls are recorded too.
                tape.spoil(str(error))
        if tape.spoiled is not None:
            self._say(f"is recorded at each call: {tape.spoiled}")
        return result

    def _record(
        self, session: Session, recorder: Recorder, leaves: list[Any], args: Any, kwargs: Any
    ) -> tuple[Any, Trace, CachedProgram]:
        """Run the function normally, with a tape, as its own batch."""
        recorder.tape = tape = Trace()
        try:
            with separate_casts():
                result = self._fn(*args, **kwargs)
        finally:
            recorder.tape = None
        built = recorder.building
        tape.end(built, result, leaves)
        known = session.outbox.program(built)
        recorder.flush()
        return result, tape, known

    def _say(self, what: str) -> None:
        logger.info("%s %s", getattr(self._fn, "__qualname__", self._fn), what)


def _signature(leaf: Any, names: tuple[str, ...]) -> Any:
    return (tuple(leaf.shape), leaf.dtype) if isinstance(leaf, Tensor) else watch(leaf, names)


def _keep(where: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    where[key] = value
    if len(where) > LIMIT:
        where.popitem(last=False)


def function(fn: Callable[..., Any]) -> Any:
    """Decorate a function of tensors, so that it is not recorded at every call.

    The first two calls run the Python code; later ones replay the recording as one batch, with the same
    results, gradients and errors. The function is traced again, and this is logged under ``gradd.function``,
    when it sees new shapes, dtypes or autograd state of tensors; when a Python constant changes in its
    arguments, its defaults, or the globals, closure variables and attributes that it names itself; when a
    Module changes between train and eval or gets other parameters, hooks, numbers, lists or dicts; or when an
    Optimizer gets other options, parameters or state. Other side effects (printing, appending to lists)
    happen only when the code runs. It is recorded at each call, as without the decorator, if it reads a value
    (``item()``, ``if x > 0``), makes tensors from Python data, or has more steps than a batch can hold.

    Modelled on jax.jit (https://docs.jax.dev/en/latest/jit-compilation.html) and torch.compile
    (https://pytorch.org/docs/stable/generated/torch.compile.html).
    """
    return RecordedFunction(fn)
