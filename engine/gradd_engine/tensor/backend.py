"""What tensors ask of a backend, and what a backend tells of the ops that ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from ..data import Device, Meta
    from ..schema import InferCache, Op
    from .tensor import Tensor


class Listener(Protocol):
    """Sees each outermost op after it ran (or, for a pass that raised midway, after it failed)."""

    # A protocol's members have no code; `...` stands where a type checker would miss what is returned.

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held from `before` until the op is recorded or refused: steps are recorded in the order they ran
        in.
        """
        ...

    def record(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], outputs: Any) -> Any:
        """`op` ran; `outputs` is a tensor, a tuple of tensors, or None. Returns what the caller gets."""
        ...

    def before(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        """`op` is about to run."""

    def knows(self, t: Tensor) -> bool:
        """Whether steps can name the tensor."""
        ...

    def failed(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        """`op` raised after it had already changed state."""

    def refused(self) -> None:
        """The op raised before it changed anything."""

    def lend(self) -> Callable[[], None]:
        """Makes the function that another thread calls to record as this one does, while this one waits."""
        ...

    def flush(self) -> None:
        """Run everything that was recorded; raises what went wrong."""


class Backend(Protocol):
    """The interface of numpy, cupy and meta."""

    # A protocol's members have no code; `...` stands where a type checker would miss what is returned.

    device: Device
    listener: Listener | None
    is_meta: bool
    #: how many levels of vmap it stands on (see `batching/level.py`)
    level: int
    tensor_class: type[Tensor]
    #: makes a `tensor_class`; the class itself may do something else when it is called: a client's takes
    #: what users give it
    made: Callable[..., Tensor]

    def infer(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """What `op` says of its outputs: a Meta, or a list of them."""
        ...

    def run(
        self, op: Op, metas: Sequence[Meta], inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> list[Tensor]:
        """Run `op`'s kernel; tensors with exactly the shapes, dtypes and strides of `metas`."""
        ...

    def run_plain(self, op: Op, known: InferCache, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Tensor:
        """`run` for a plain op and inputs of a geometry that is known."""
        ...

    def run_into(
        self, op: Op, target: Tensor, meta: Meta, inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> None:
        """Run `op`'s kernel and store its result in `target`'s memory, cast to its dtype."""
        ...

    def copy_into(self, target: Tensor, source: Tensor) -> None:
        """Copy elements; both have one shape and dtype."""

    def view(self, of: Tensor, meta: Meta) -> Tensor:
        """A tensor over the same storage and version counter."""
        ...

    def empty(self, meta: Meta) -> Tensor:
        """A tensor with memory of its own; contents undefined (never shown to users)."""
        ...

    def from_array(self, array: Any, dtype: Any = None) -> Tensor:
        """A tensor that takes over `array` (no copy)."""
        ...

    def to_numpy(self, t: Tensor) -> Any:
        """The values as a C-ordered NumPy array that shares nothing."""
        ...
