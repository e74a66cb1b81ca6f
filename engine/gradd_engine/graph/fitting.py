"""Gradients made to fit the tensor they are for: conjugates, dtypes, shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..schema import named
from ..tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..data import DType
    from ..tensor import Edge, Node, TensorMeta


def conj(x: Any) -> Any:
    """Conjugate of a tensor or number; real values are returned as they are."""
    if isinstance(x, Tensor):
        return named.conj_physical(x) if x._dtype.is_complex else x
    return x.conjugate() if isinstance(x, complex) else x


def cast_gradient(g: Tensor, dtype: DType) -> Tensor:
    """A gradient in the dtype of the tensor it is for; the real part where that is real."""
    if g.dtype is dtype:
        return g
    if g.dtype.is_complex and not dtype.is_complex:
        g = named.real(g)
        if g.dtype is dtype:
            return g
    out: Tensor = named.to_copy(g, dtype)
    return out


def unbroadcast(g: Tensor | None, meta: TensorMeta | None) -> Tensor | None:
    """A gradient in the shape and dtype of the input it is for: broadcasting and promotion are undone here
    alone.
    """
    if g is None or meta is None:
        return None if meta is None else g
    if g._shape != meta.shape:
        g = named.sum_to_size(g, list(meta.shape))
    if g._dtype is not meta.dtype:
        g = cast_gradient(g, meta.dtype)
    return g


def expandable(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether `shape` broadcasts to `to`."""
    return len(shape) <= len(to) and all(
        n in (1, m) for n, m in zip(reversed(shape), reversed(to), strict=False)
    )


def all_shaped(node: Node, found: Sequence[Any]) -> Sequence[Any]:
    """`shaped` of what `node` gives the nodes behind it."""
    if all(e is None or e.node.shapes is None for e in node.edges):
        return found
    return [
        g if e is None or g is None else shaped(e, g, at, node)
        for at, (e, g) in enumerate(zip(node.edges, found, strict=False))
    ]


def shaped(edge: Edge, g: Tensor, at: int, node: Node | None = None) -> Tensor:
    """A gradient in the shape that the output had when its node was made, where the tensor was turned in
    place since without autograd: RuntimeError where it cannot be, naming the `node` that gives it.
    """
    shape = None if edge.node.shapes is None else edge.node.shapes.get(edge.nr)
    if shape is None or g.shape == shape:
        return g
    if not expandable(shape, g.shape):
        who = "" if node is None else f"Function {node.short_name()} returned an "
        raise RuntimeError(
            f"{who}invalid gradient at index {at} - got {list(g.shape)} but expected shape compatible with "
            f"{list(shape)}"
        )
    out: Tensor = named.sum_to_size(g, list(shape))
    return out
