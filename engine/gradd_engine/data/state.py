"""What is ambient in one thread: gradient mode, forward-mode levels, nesting of ops, default backend, random
stream, memory account.
"""

from __future__ import annotations

import threading
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from .dtypes import DType
    from .memory import Account, Ledger
    from .rng import RandomStream


T = TypeVar("T")

#: `_State.below` where every forward-mode level is visible
EVERY = 1 << 30
#: not empty once this process has made a level of vmap, or has cast automatically: to ask a thread whether it
#: does so now takes longer than this
REROUTED: list[bool] = []


class _State(threading.local):
    #: whether operations are recorded for backward
    grad: bool = True
    #: forward-mode levels of at least this depth are hidden
    below: int = EVERY
    #: the levels that this thread has entered, outermost first (see `forward_ad`)
    entered: tuple[Any, ...] = ()
    #: None outside inference mode; inside, where nothing is recorded, what the gradient mode is said to be
    inference: bool | None = None
    #: whether to warn where a .grad is not laid out as its tensor
    layout_policy: bool = True
    #: what set_multithreading_enabled was given; passes run in one thread either way
    multithreading: bool = True
    #: the default floating dtype (dtypes gives the first one): of the process, unless the thread has its own
    dtype: DType
    depth: int = 0
    #: where tensors are made that have no tensor inputs (see `default_backend`)
    backend: Any = None
    generator: RandomStream | None = None
    account: Account | None = None
    #: nested passes under way in this thread
    passes: int = 0
    #: what ops' costs are charged to (see `cost`)
    ledger: Ledger | None = None
    #: checks that a device has not answered yet; None where each is waited for
    doubts: Any = None
    #: the pass that is running
    task: Any = None
    #: a function transform runs a function
    transform: bool = False
    #: Functions run as they are where something is mapped: their methods see batched tensors (gradcheck)
    direct: bool = False
    #: the node that a Function is about to give its outputs
    function: Any = None
    #: the hooks (pack, unpack) of saved tensors
    packing: tuple[Callable[..., Any], Callable[..., Any]] | None = None
    #: what applied before each pair of hooks that was entered: (packing, watcher)
    packings: tuple[tuple[Any, Any], ...] = ()
    #: told of the nodes that ops make (anomaly.Watcher)
    watcher: Any = None
    #: why saved-tensor hooks may not be entered
    unpackable: str | None = None
    #: backward passes look for NaN, and nodes remember where they were made
    anomaly: bool = False
    check_nan: bool = True
    #: the levels of vmap that are open, the innermost last (see `batching/level.py`)
    vmaps: tuple[Any, ...] = ()
    #: gives what an op gives without running it, where it knows that; else NotImplemented (a client's trail)
    trail: Any = None
    #: how inputs of ops are cast (`declare/autocast.py`); None where they are not
    casting: Any = None
    #: whether a device may round the operands of products of float32 to TF32: of the process, unless the
    #: thread has its own
    tf32: bool = False


state = _State()


#: how a step is recorded: for backward or not, or in inference mode
Mode = bool | Literal["inference"]


def mode() -> Mode:
    """The thread's mode, as a recorded step carries it."""
    return state.grad if state.inference is None else "inference"


def set_mode(value: Mode) -> None:
    """Run what follows in the mode of a recorded step."""
    state.grad, state.inference = value is True, None if value != "inference" else False


def set_tf32(allowed: bool) -> None:
    """Whether a device may round the operands of products of float32 to TF32; for all threads."""
    type(state).tf32 = allowed
    if "tf32" in vars(state):
        state.tf32 = allowed


#: a context in which infinities and NaNs are results, not warnings
_quiet = Context()
_quiet.run(np.seterr, all="ignore")
#: makes a context to `run` one kernel in: a context is entered once at a time, and a copy costs nothing
quiet_copy = _quiet.copy


def quietly(fn: Callable[..., T], *args: Any) -> T:
    """Call `fn` with NumPy's floating-point warnings off; several times faster than np.errstate."""
    return quiet_copy().run(fn, *args)


def apart(new: dict[str, Any], fn: Callable[..., T], *args: Any) -> T:
    """Call `fn` quietly with attributes of the thread's state, and leave that as it was: whatever `fn` sets
    besides is undone as well.
    """
    own = vars(state)
    before = own.copy()
    own.update(new)
    try:
        return quiet_copy().run(fn, *args)
    finally:
        own.clear()
        own.update(before)


def elsewhere(fn: Callable[[], T], *begin: Callable[[], None]) -> T:
    """Run ``fn()`` in a thread of its own with the state of this one, which waits; `begin` is called there
    first. What `fn` raises is raised here.
    """
    given, context = {**vars(state), "trail": None}, copy_context()
    found: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            vars(state).update(given)
            for each in begin:
                each()
            found.append(context.run(fn))
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="gradd-pass", daemon=True)
    thread.start()
    # An interrupt has to wait: the two share a state.
    while thread.is_alive():
        try:
            thread.join()
        except BaseException as error:
            raised.append(error)
    try:
        if raised:
            raise raised[0]
    finally:
        raised.clear()  # its traceback holds this frame
    return found[0]


#: what callbacks may set for themselves: restored after each
_OF_CALLABLES = (
    "anomaly", "check_nan", "grad", "inference", "packing", "packings", "task", "unpackable", "watcher",
)  # fmt: skip


def as_it_is(**new: Any) -> ambient:
    """Context for user callbacks within a pass: the thread's state is restored afterwards."""
    return ambient(**{name: getattr(state, name) for name in _OF_CALLABLES} | new)


class ambient:
    """Context manager that sets attributes of the thread's state and restores them, also after exceptions:
    what others set meanwhile, or set for all threads, does not reach what runs in it.
    """

    __slots__ = ("_new", "_old")

    def __init__(self, **new: Any) -> None:
        self._new = new
        self._old: dict[str, Any] = {}

    def __enter__(self) -> None:
        own = vars(state)
        self._old = {k: own[k] for k in own.keys() & self._new.keys()}
        own.update(self._new)

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        own = vars(state)
        for k in own.keys() & self._new.keys() - self._old.keys():
            del own[k]
        own.update(self._old)
