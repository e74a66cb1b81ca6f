"""What nodes keep for their backward: tensors with the version they had, or their geometry alone."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from ..data import state
from .nodes import AccumulateGrad, Edge, carry, detached, edge_of
from .tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..data import DType, Size
    from .nodes import Node

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have "
    "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
    "if you need to access saved tensors after calling backward."
)

#: not empty once detach_() took a tensor's history in this process: passes look for such tensors
CUT: list[bool] = []


class TensorMeta:
    """The geometry of an input, for rules that need no values."""

    __slots__ = ("conj", "dtype", "offset", "shape", "strides")

    def __init__(self, t: Tensor) -> None:
        self.shape: Size = t._shape
        self.dtype: DType = t._dtype
        self.strides = t.strides
        self.offset = t.offset
        self.conj = t._conj

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def numel(self) -> int:
        """Number of elements."""
        return self.shape.numel()


class Saved:
    """A tensor kept for backward with the version it had; an output is kept without its node, to make no
    cycle.
    """

    __slots__ = ("is_output", "nr", "source", "tensor", "version")

    def __init__(self, t: Tensor, is_output: bool, nr: int = 0) -> None:
        if t._vc.inference:
            raise RuntimeError(
                "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
                "inference mode in computation tracked by autograd. To work around this, you can make a "
                "clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of "
                "`torch.inference_mode()`."
            )
        self.tensor = detached(t) if is_output else t
        self.source = weakref.ref(t)
        self.is_output = is_output
        self.nr = nr
        self.version = t._vc.n

    def check(self, owner: Node) -> None:
        """RuntimeError where the value changed since it was saved (semantics of torch's version counters), or
        lost its history.
        """
        t = self.tensor
        if t._cut > owner.priority:
            raise RuntimeError(
                "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is "
                "not supported, please use out-of-place `.detach()` instead"
            )
        if t._vc.n == self.version:
            return
        # Reading grad_fn rebuilds it, or refuses to, where the base of a view changed.
        source, nr = (owner, self.nr) if self.is_output else (t.grad_fn, t._nr)
        what = f"[{t.dtype.value_type} {list(t.shape)}]"
        if source is not None:
            name = (
                source.name().removesuffix("0").replace("Backward", "")
                if "::" not in source.name()
                else source.name()
            )
            what += f", which is output {nr} of {name},"
        hint = (
            "the backtrace further above shows the operation that failed to compute its gradient. The "
            "variable in question was changed in there or anywhere later. Good luck!"
            if state.anomaly
            else "enable anomaly detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True, check_nan=False)."
        )
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace "
            f"operation: {what} is at version {t._vc.n}; expected version {self.version} instead. "
            f"Hint: {hint}"
        )

    def changed(self, owner: Node) -> bool:
        """Whether `check` would raise."""
        return self.tensor._vc.n != self.version or self.tensor._cut > owner.priority

    def unpack(self, owner: Node) -> Tensor:
        """The tensor, with its history."""
        if self.tensor._vc.n != self.version or (CUT and self.tensor._cut):
            self.check(owner)
        return self.opened(owner)

    def opened(self, owner: Node, history: bool = False) -> Tensor:
        """`unpack` without the check; `history`: an output has its own also where nothing is recorded."""
        if not self.is_output or not (history or state.grad):
            return self.tensor
        out = carry(self.tensor, detached(self.tensor))
        out._fn, out._nr = owner, self.nr
        if owner.whole is not None:
            owner.whole.claim(out)
        return out


class Packed:
    """A saved tensor that is packed: `box` is what the pack hook gave, `unpack` the hook that turns it back.

    In a process without the hook (a server) the client has both. `edge` says where the tensor's gradient
    goes, so that what is unpacked has its history; `stand_in` stands for it where user code is given what was
    unpacked.
    """

    __slots__ = ("_edge", "_nr", "box", "found", "stand_in", "unpack")

    def __init__(self, entry: Saved) -> None:
        self.box: Any = None
        self.unpack: Callable[[Any], Any] | None = None
        #: of an output its number alone: the node would hold itself
        self._nr = entry.nr if entry.is_output else None
        self._edge = None if entry.is_output else edge_of(entry.tensor)
        self.stand_in: Tensor | None = None
        #: what was unpacked for the run of the node that comes next
        self.found: Tensor | None = None

    def edge(self, owner: Node) -> Edge | None:
        """Where the gradient of `owner`'s packed tensor goes."""
        return self._edge if self._nr is None else Edge(owner, self._nr)

    def open(self) -> Tensor:
        """What was packed; TypeError where the hook gives no tensor."""
        assert self.unpack is not None
        found = self.unpack(self.box)
        if not isinstance(found, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(found).__name__}"
            )
        return found

    def dressed(self, owner: Node) -> Tensor:
        """What was unpacked, with the history of what was packed."""
        found = self.found
        if found is None:
            raise RuntimeError("a saved tensor is packed, and the hook that unpacks it is in another process")
        edge = self.edge(owner)
        if not state.grad or edge is None:
            return found
        out = detached(found)
        if isinstance(edge.node, AccumulateGrad):
            out._requires_grad, out._acc = True, weakref.ref(edge.node)
        else:
            out._fn, out._nr = edge.node, edge.nr
            if edge.node is owner and owner.whole is not None:
                owner.whole.claim(out)
        return out


def places(saved: dict[str, Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Where a node's saved tensors stand, in order: container, key, entry."""
    for key, entry in saved.items():
        if isinstance(entry, (Saved, Packed)):
            yield saved, key, entry
        elif isinstance(entry, list):
            for i, one in enumerate(entry):
                if isinstance(one, (Saved, Packed)):
                    yield entry, i, one


def saved_value(entry: Any, node: Node) -> Any:
    """A saved entry as a user sees it: the very tensor where it is still there."""
    if isinstance(entry, list):
        return [saved_value(e, node) for e in entry]
    if isinstance(entry, Packed):
        return entry.open()
    if not isinstance(entry, Saved):
        return entry
    entry.check(node)
    found = entry.source()
    return entry.unpack(node) if found is None or entry.is_output else found


def check_saved(entry: Any, node: Node) -> None:
    """`Saved.check` for all of a (nested) entry."""
    if isinstance(entry, Saved):
        entry.check(node)
    elif isinstance(entry, list):
        for e in entry:
            check_saved(e, node)
