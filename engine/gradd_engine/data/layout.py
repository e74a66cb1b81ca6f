"""Shapes and strides by PyTorch's layout rules, in one place: `infer` functions call these and nothing else
decides.

Source: https://github.com/pytorch/pytorch/wiki/Element-wise-op-output-layout and the broadcasting page
https://pytorch.org/docs/stable/notes/broadcasting.html
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .dtypes import DType

Shape = tuple[int, ...]


class Size(tuple[int, ...]):
    """A shape; prints as PyTorch's does, because messages quote it."""

    __slots__ = ()

    def numel(self) -> int:
        """Number of elements."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, key: Any) -> Any:
        found = tuple.__getitem__(self, key)
        return Size(found) if isinstance(key, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, other))


class Meta:
    """What `infer` says of one output: shape, dtype, strides (elements), offset (elements, views only).

    ``compute`` is the dtype the inputs are cast to before the kernel runs (None: as they are).
    """

    __slots__ = ("_contiguous", "_nbytes", "compute", "dtype", "offset", "room", "shape", "strides")

    def __init__(
        self,
        shape: Shape,
        dtype: DType,
        strides: Shape | None = None,
        offset: int = 0,
        compute: DType | None = None,
    ) -> None:
        self._contiguous = True if strides is None else None
        self._nbytes = -1
        self.shape = shape
        self.dtype = dtype
        self.strides = contiguous_strides(shape) if strides is None else strides
        self.offset = offset
        self.compute = compute
        #: bytes that a kernel may need beside inputs and outputs
        self.room = 0

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        found = self._nbytes
        if found < 0:
            found = self._nbytes = numel(self.shape) * self.dtype.itemsize
        return found

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        found = self._contiguous
        if found is None:
            found = self._contiguous = is_contiguous(self.shape, self.strides)
        return found


#: number of elements of a shape
numel: Callable[[Iterable[int]], int] = math.prod


def contiguous_strides(shape: Sequence[int]) -> Shape:
    """Row-major strides, in elements."""
    n = len(shape)
    if n == 1:
        return (1,)
    if n == 0:
        return ()
    out = [1] * n
    step = 1
    for i in range(n - 1, -1, -1):
        out[i] = step
        step *= shape[i] if shape[i] > 1 else 1
    return tuple(out)


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether elements lie in row-major order without gaps (dimensions of one element do not count)."""
    expected = 1
    for size, stride in zip(tuple(shape)[::-1], tuple(strides)[::-1], strict=True):
        if size != 1:
            if stride != expected:
                return 0 in shape
            expected *= size
    return True


def is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether elements fill a block of memory exactly once, in some order of dimensions."""
    if is_contiguous(shape, strides):
        return True
    expected = 1
    for stride, size in sorted((strides[i], shape[i]) for i in range(len(shape)) if shape[i] != 1):
        if stride != expected:
            return False
        expected *= size
    return True


def reach(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first of a tensor to behind its last, in memory."""
    return 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))


class MemoryFormat:
    """An order of dimensions in memory, by PyTorch's name (torch.memory_format)."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


contiguous_format = MemoryFormat("contiguous_format")
preserve_format = MemoryFormat("preserve_format")
channels_last = MemoryFormat("channels_last")
channels_last_3d = MemoryFormat("channels_last_3d")
_CHANNELS_LAST = (1, 3, 2, 0)
#: dimensions, fastest first
_ORDERS = {"channels_last": _CHANNELS_LAST, "channels_last_3d": (1, 4, 3, 2, 0)}


def format_name(function: str, given: Any) -> str | None:
    """The name of a memory format as ops take it, None for the input's own; TypeError in PyTorch's words."""
    if given is None or given is preserve_format:
        return None
    if not isinstance(given, MemoryFormat):
        raise TypeError(
            f"{function}(): argument 'memory_format' must be torch.memory_format, not {type(given).__name__}"
        )
    return given.name


def format_strides(shape: Sequence[int], name: str) -> Shape:
    """Strides of a dense tensor in that format; RuntimeError where it has another number of dimensions."""
    order = _ORDERS.get(name)
    if order is None:
        return contiguous_strides(shape)
    if len(shape) != len(order):
        raise RuntimeError(f"required rank {len(order)} tensor to use {name} format")
    return dense_strides(shape, order)


def has_format(shape: Sequence[int], strides: Sequence[int], name: str) -> bool:
    """Whether elements lie in that order without gaps."""
    order = _ORDERS.get(name)
    if order is None:
        return is_contiguous(shape, strides)
    return len(shape) == len(order) and _in_order(shape, strides, order)


def is_channels_last(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether a 4-D tensor lies as [N, H, W, C] in memory (torch.channels_last)."""
    return _in_order(shape, strides, _CHANNELS_LAST)


def _in_order(shape: Sequence[int], strides: Sequence[int], order: Sequence[int]) -> bool:
    expected = 1
    for d in order:
        if shape[d] != 1:
            if strides[d] != expected:
                return False
            expected *= shape[d]
    return True


def overlaps_itself(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether two indices can name one memory location (exact for expanded tensors, as PyTorch checks)."""
    if 0 not in strides or 0 in shape:
        return False
    return any(size > 1 and stride == 0 for size, stride in zip(shape, strides, strict=True))


def may_overlap(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the strides do not rule out that two indices name one memory location."""
    end = 0
    for stride, size in sorted((s, n) for n, s in zip(shape, strides, strict=True) if n > 1):
        if stride <= end:
            return True
        end += (size - 1) * stride
    return False


def dense_strides(shape: Sequence[int], order: Sequence[int]) -> Shape:
    """Strides of a dense tensor whose dimensions, fastest first, are `order` (0 after one of no elements, as
    in PyTorch).
    """
    out = [0] * len(shape)
    step = 1
    for d in order:
        out[d] = step
        step *= shape[d]
    return tuple(out)


def broadcast_shapes(a: Shape, b: Shape) -> Shape:
    """The broadcast shape; RuntimeError in PyTorch's words where sizes differ."""
    if a == b:
        return a
    n = max(len(a), len(b))
    out = [0] * n
    for i in range(1, n + 1):
        x = a[-i] if i <= len(a) else 1
        y = b[-i] if i <= len(b) else 1
        if x != y and x != 1 and y != 1:
            raise RuntimeError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton "
                f"dimension {n - i}"
            )
        out[-i] = y if x == 1 else x
    return tuple(out)


def broadcast_strides(shape: Shape, strides: Shape, target: Shape) -> Shape:
    """Strides of `shape` seen as `target` (0 where it repeats)."""
    lead = len(target) - len(shape)
    return (0,) * lead + tuple(
        0 if shape[i] == 1 and target[lead + i] != 1 else strides[i] for i in range(len(shape))
    )


def _fastest_first(shape: Shape, operands: list[Shape]) -> list[int]:
    """TensorIterator's order of dimensions: by the operands' strides, ties left as row-major."""
    perm = list(range(len(shape) - 1, -1, -1))

    def compare(a: int, b: int) -> int:
        for strides in operands:
            x, y = strides[a], strides[b]
            if x == 0 or y == 0:
                continue
            if x != y:
                return -1 if x < y else 1
            if shape[a] > shape[b]:
                return 1
        return 0

    for i in range(1, len(perm)):
        at = i
        for j in range(i - 1, -1, -1):
            c = compare(perm[j], perm[at])
            if c > 0:
                perm[j], perm[at] = perm[at], perm[j]
                at = j
            elif c < 0:
                break
    return perm


def elementwise_strides(shape: Shape, operands: Sequence[Any], numbers: bool = False) -> Shape:
    """Strides of an element-wise result of `operands` (tensors or metas), all broadcast to `shape`.

    `numbers`: a number is among the operands, which PyTorch takes for a tensor of another shape.
    """
    if len(shape) < 2:
        return contiguous_strides(shape)
    if not numbers and all(x.shape == shape for x in operands):
        first = operands[0].strides
        if all(is_contiguous(shape, x.strides) for x in operands):
            return contiguous_strides(shape)
        if len(shape) == 4 and all(is_channels_last(shape, x.strides) for x in operands):
            return dense_strides(shape, _CHANNELS_LAST)
        if all(x.strides == first for x in operands) and is_dense(shape, first):
            return tuple(first)
    order = _fastest_first(shape, [broadcast_strides(x.shape, x.strides, shape) for x in operands])
    if order == list(range(len(shape) - 1, -1, -1)):
        return contiguous_strides(shape)
    return dense_strides(shape, order)


def preserved_strides(x: Any, memory_format: str | None = None) -> Shape:
    """Strides of `empty_like(x)`: those of a format, or with None (torch.preserve_format) like those of x."""
    if memory_format is not None:
        return format_strides(x.shape, memory_format)
    if is_dense(x.shape, x.strides):
        return tuple(x.strides)
    return elementwise_strides(tuple(x.shape), [x])


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front; IndexError in PyTorch's words when out of range."""
    n = ndim or 1
    if not -n <= dim < n:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
        )
    return dim + n if dim < 0 else dim


def wrap_dims(dims: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Dimensions counted from the front, in the order given; all for None or an empty list."""
    if dims is None:
        return tuple(range(ndim))
    if isinstance(dims, int):
        return (wrap_dim(dims, ndim),)
    out = tuple(wrap_dim(d, ndim) for d in dims)
    if len(set(out)) != len(out):
        seen = next(d for d in out if out.count(d) > 1)
        raise RuntimeError(f"dim {seen} appears multiple times in the list of dims")
    return out or tuple(range(ndim))


def reduced_shape(shape: Sequence[int], dims: Sequence[int], keepdim: bool) -> Shape:
    """The shape after reducing `dims`."""
    gone = set(dims)
    if keepdim:
        return tuple(1 if i in gone else s for i, s in enumerate(shape))
    return tuple(s for i, s in enumerate(shape) if i not in gone)


def resolve_size(size: Sequence[int], count: int) -> Shape:
    """A size with at most one -1 filled in for `count` elements; RuntimeError in PyTorch's words."""
    shape = [int(s) for s in size]
    unknown = [i for i, s in enumerate(shape) if s == -1]
    if len(unknown) > 1:
        raise RuntimeError("only one dimension can be inferred")
    bad = next((i for i, s in enumerate(shape) if s < -1), None)
    if bad is not None:
        raise RuntimeError(f"invalid shape dimension {shape[bad]} at index {bad} of shape {shape}")
    known = numel([s for s in shape if s != -1])
    if unknown:
        if known == 0 and count == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {shape} because the unspecified dimension "
                "size -1 can be any value and is ambiguous"
            )
        if known == 0 or count % known:
            raise RuntimeError(f"shape '{shape}' is invalid for input of size {count}")
        shape[unknown[0]] = count // known
    elif known != count:
        raise RuntimeError(f"shape '{shape}' is invalid for input of size {count}")
    return tuple(shape)


def view_strides(shape: Sequence[int], strides: Sequence[int], new: Sequence[int]) -> Shape | None:
    """Strides under which the same memory reads as `new`, or None where a copy is needed."""
    if numel(shape) == 0:
        return tuple(strides) if tuple(shape) == tuple(new) else contiguous_strides(new)
    if not shape:
        return (1,) * len(new)
    out = [0] * len(new)
    at = len(new) - 1
    chunk = strides[-1]
    tensor_count = view_count = 1
    for d in range(len(shape) - 1, -1, -1):
        tensor_count *= shape[d]
        if d == 0 or (shape[d - 1] != 1 and strides[d - 1] != tensor_count * chunk):
            while at >= 0 and (view_count < tensor_count or new[at] == 1):
                out[at] = view_count * chunk
                view_count *= new[at]
                at -= 1
            if view_count != tensor_count:
                return None
            if d > 0:
                chunk = strides[d - 1]
                tensor_count = view_count = 1
    return tuple(out) if at == -1 else None
