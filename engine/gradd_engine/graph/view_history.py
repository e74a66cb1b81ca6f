"""Views that autograd follows: marking them, refreshing their history, and CopySlices.

Source: https://pytorch.org/docs/stable/tensor_view.html and the notes on in-place correctness in autograd
mechanics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..data import ambient, is_dense, overlaps_itself, state
from ..schema import REGISTRY, named
from ..tensor import FREED, SAVED, Edge, Node, Tensor, TensorMeta, detached, edge_of, move_retainer
from . import recording as graph
from .op_node import OpNode, conj

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..data import DType

SHARED = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory "
    "location. Please clone() the tensor before performing the operation."
)
NO_GRAD = "no_grad"
INFERENCE = "inference"
MULTI_VIEW = "multi"
CUSTOM = "function"


def creation_error(t: Tensor, *, indirect: bool = False) -> str:
    """Why a view may not be written to; `indirect`: its base was written to, or another view of it."""
    what = "its base or another view of its base has been" if indirect else "is being"
    name = "" if t._fn is None else t._fn.name().removesuffix("0").removesuffix("Backward")
    output = name and f"Output {t._nr} of {name}"
    mode, after, block = "no_grad", "with grad mode enabled", "no_grad"
    if t._creation == INFERENCE:
        mode, after, block = "inference", "in normal mode", "inference_mode"
    if t._creation in (NO_GRAD, INFERENCE) or t._fn is None:
        prefix = f"{output} is a view of a view which" if output else "A view"
        message = f"{prefix} was created in {mode} mode and {what} modified inplace {after}."
    else:
        message = f"{output} is a view and {what} modified inplace."
    if t._creation == CUSTOM:
        return (
            f"{message} This view was created inside a custom Function (or because an input was returned "
            "as-is) and the autograd logic to handle view+inplace would override the custom backward "
            "associated with the custom Function, leading to incorrect gradients. This behavior is "
            "forbidden. You can fix this by cloning the output of the custom Function."
        )
    if t._creation == MULTI_VIEW:
        return (
            f"{message} This view is the output of a function that returns multiple views. Such functions do "
            "not allow the output views to be modified inplace. You should replace the inplace operation by "
            "an out-of-place one."
        )
    return (
        f"{message} Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
        f"your code by moving both the view and the inplace either both inside the {block} block (if you "
        "don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked)."
    )


def refresh(view: Tensor) -> None:
    """Rebuild a view's node after its base (or another view of it) changed in place."""
    base = view._base
    assert base is not None
    if view._fn is None and not base.requires_grad:
        return
    if view._creation is not None:
        raise RuntimeError(creation_error(view, indirect=True))
    before = view._view_version
    view._view_version = view._vc.n
    if view.dtype.category < 2:
        return
    old, nr = view._fn, view._nr
    _rebuilt(view, base)
    if view._fn is None:
        view._fn, view._nr, view._view_version = old, nr, before
        # PyTorch fails an assertion of its own.
        raise RuntimeError(
            "A view has lost its history: its base was detached by detach_() and modified inplace since, and "
            "the view shows it in another dtype or conjugated. Take the view anew, or use detach() instead."
        )
    move_retainer(old, nr, view._fn, view._nr)


def _rebuilt(view: Tensor, base: Tensor) -> None:
    """Give `view` a node over the base as it is now."""
    _placed(view, base, view, view._conj)


def _placed(t: Tensor, base: Tensor, at: Any, turned: bool) -> None:
    """Give `t` the node of the view of `base` that has the geometry of `at`, and is conjugated or not."""
    geometry = {"size": list(at.shape), "stride": list(at.strides), "storage_offset": at.offset}
    if at.dtype is not base.dtype or turned is not base._conj:
        with ambient(depth=1, grad=True):
            made = _seen(base, at.dtype, base._conj, base._storage.nbytes)  # type: ignore[union-attr]
            made = named.as_strided(made, *geometry.values())
            made = named.conj(made) if turned is not made._conj else made
        t._fn, t._nr = made._fn, made._nr
    else:
        graph.record(REGISTRY["as_strided"], (base,), geometry, [t], due=True)


def check_part(base: Edge | None, view: TensorMeta) -> None:
    """RuntimeError where a pass goes on to the base of a view that was written, and elements of the view
    share memory: PyTorch copies their gradient into that of the base, once the written op has run.
    """
    if base is not None and overlaps_itself(view.shape, view.strides):
        task = state.task
        if task is None or task.needed is None or base.node in task.needed:
            raise RuntimeError(SHARED)


class CopySlices(Node):
    """The history of a tensor of which a view was written: the view's part goes through `fn`, the rest
    straight on.
    """

    _name = "torch::autograd::CopySlices"

    def __init__(self, base: Tensor, view: Tensor, fn: OpNode) -> None:
        super().__init__()
        self.fn: OpNode | None = fn
        self.base = TensorMeta(base)
        self.view = TensorMeta(view)
        self.backend = base.backend
        edge = edge_of(base)
        self.edges = (edge, *fn.edges[1:])

    def _slot(self, slot: int) -> Any:
        """Shape and dtype of the base, then of the written op's other inputs."""
        if slot == 0:
            return self.base.shape, self.base.dtype
        return None if self.fn is None else self.fn._slot(slot)

    def verify(self) -> None:
        """What the written op would raise, and what storing its gradient would."""
        self._written().verify()
        check_part(self.edges[0], self.view)

    def _written(self) -> OpNode:
        """The written op's node; RuntimeError where it was freed, or elements of the base share memory."""
        if self.fn is None:
            raise RuntimeError(FREED)
        if overlaps_itself(self.base.shape, self.base.strides):
            raise RuntimeError(SHARED)
        return self.fn

    def freed(self) -> bool:
        """Whether the written op's node is gone."""
        return self.fn is None

    def outdated(self) -> bool:
        """As of the written op's node."""
        return self.fn is not None and self.fn.outdated()

    def release(self) -> None:
        """Drop what the written op saved, and the op: as in PyTorch also where it saved nothing."""
        if self.fn is not None:
            self.fn.release()
            self.fn = None

    def waits(self, at: str) -> bool:
        """As for any node; packed tensors of the written op wait for their unpack hooks."""
        if at == SAVED:
            return self.fn is not None and self.fn.waits(at)
        return super().waits(at)

    def unpacked(self) -> list[Any]:
        """What the hooks of the written op's saved tensors give."""
        return self._written().unpacked()

    def fill(self, found: Sequence[Any] | None) -> None:
        """Take what was unpacked, for the next `apply`."""
        self._written().fill(found)

    def claim(self, out: Tensor) -> None:
        """Make `out`, which the written op saved of the view that it wrote, a view of the base as it left it.

        Its gradient would else go to the op alone, past the rest of the base.
        """
        base, view = self.base, self.view
        if view.dtype is base.dtype and view.conj is base.conj:
            whole = detached(out)
            whole._shape, whole.strides, whole.offset = base.shape, base.strides, base.offset
        else:
            with ambient(depth=1, grad=False):
                memory = named.zeros([base.offset + _reach(base) + 1], dtype=base.dtype)
                whole = named.as_strided(memory, list(base.shape), list(base.strides), base.offset)
            whole = detached(whole)
            whole._conj = base.conj
        whole._fn, whole._nr = self, 0
        # The view says where it lies: what hooks unpacked has memory of its own.
        _placed(out, whole, view, view.conj)

    def apply(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """Split the gradient into the written part and the rest."""
        fn = self._written()
        (g,) = grads
        if g is None:
            return [None] * len(self.edges)
        base, view = self.base, self.view
        unit = base.dtype.itemsize
        dense = is_dense(base.shape, base.strides)
        whole, start = (_with_strides(g, base.strides), 0) if dense else self._spread(g)
        turned = view.conj is not base.conj and view.dtype.is_complex
        whole = _seen(whole, view.dtype, base.conj, whole.numel() * unit)
        begin = (base.offset - start) * unit // view.dtype.itemsize
        place = list(view.shape), list(view.strides), view.offset - begin
        part = named.as_strided(whole, *place)
        part = conj(part) if turned else part
        old = fn.wants, fn.inputs
        fn.whole = self
        fn.wants = (self.edges[0] is not None, *old[0][1:])
        fn.inputs = [view, *old[1][1:]]
        try:
            found = fn.apply([part])
        finally:
            fn.wants, fn.inputs = old
            fn.whole = None
        first, *rest = found
        if self.edges[0] is None:
            return [None, *rest]
        if first is None:
            first = named.zeros_like(part)
        check_part(self.edges[0], view)
        back = named.as_strided_scatter(whole, conj(first) if turned else first, *place)
        flat = not dense or (back.dtype is not base.dtype and not base.dtype.is_complex)
        back = _kept(back, base)
        if flat:
            back = named.as_strided(back, list(base.shape), list(base.strides), start)
        return [back, *rest]

    def _spread(self, g: Tensor) -> tuple[Any, int]:
        """A gradient of a base with gaps in memory like the base's, gaps and the view included; where it
        begins.
        """
        base, view = self.base, self.view
        ours, theirs = base.dtype.itemsize, view.dtype.itemsize
        first = view.offset * theirs // ours - base.offset
        last = (view.offset + _reach(view)) * theirs // ours - base.offset
        start = max(0, -first)
        end = max(_reach(base), last) + 1
        size, stride = list(base.shape), list(base.strides)
        return named.as_strided_backward(g, [start + end], [1], size, stride, start), start


def _seen(whole: Tensor, dtype: DType, conjugated: bool, nbytes: int) -> Any:
    """The memory of `whole`, of `nbytes`, in elements of a view's dtype: parts of complex numbers, or pairs
    of real ones.
    """
    if whole.dtype is dtype or whole.dtype.is_complex is dtype.is_complex:
        return whole
    if dtype.is_complex:
        pairs = nbytes // dtype.itemsize
        return named.complex_pairs(named.as_strided(whole, [pairs, 2], [2, 1], 0))
    if conjugated:
        whole = named.conj(whole)
    return named.real_parts(named.clone(whole) if whole._conj else whole)


def _kept(back: Any, base: TensorMeta) -> Any:
    """Inverse of `_seen`."""
    if back.dtype is base.dtype:
        return back
    if not base.dtype.is_complex:
        return named.real_parts(back)
    whole = named.complex_pairs(back.contiguous())
    return conj(whole) if base.conj else whole


def _reach(meta: TensorMeta) -> int:
    """Elements from the first to the last in memory."""
    return sum((n - 1) * s for n, s in zip(meta.shape, meta.strides, strict=True)) if meta.numel() else 0


def _with_strides(g: Tensor, strides: tuple[int, ...]) -> Any:
    """`g` laid out in memory with `strides`, offset 0."""
    if g.strides == strides and g.offset == 0:
        return g

    return named.to_layout(g, list(strides))
