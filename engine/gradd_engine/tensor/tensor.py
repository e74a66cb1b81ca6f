"""Tensor, the memory and the version counter that it shares with its views, and the interface of backends.

Operators and methods are attached by the op declarations (`declare/`); this file holds what a tensor *is*.
Behaviour after https://pytorch.org/docs/stable/tensors.html and `torch.autograd`.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import msgspec

from ..data import (
    Lease,
    MemoryFormat,
    Size,
    contiguous_format,
    has_format,
    numel,
    read_only,
    state,
    warn,
    wrap_dim,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from ..data import Account, Device, DType, Meta
    from ..schema import InferCache, Op
    from .listener import Listener
    from .nodes import AccumulateGrad, Edge, Node


class Storage:
    """One block of memory: ``flat`` is its bytes (made on first use), ``nbytes`` its size, counted in an
    account.
    """

    __slots__ = ("__weakref__", "_flat", "_lease", "array", "nbytes")

    def __init__(self, array: Any, nbytes: int, account: Account | None) -> None:
        self.array = array
        self.nbytes = nbytes
        self._flat: Any = None
        self._lease = None if account is None else Lease(account, nbytes)

    @property
    def flat(self) -> Any:
        """The memory as a 1-D array of bytes, in address order; shared, not copied."""
        if self._flat is None:
            self._flat = flat_bytes(self.array)
        return self._flat


def flat_bytes(a: Any) -> Any:
    """The memory of a backend's array as bytes, in address order; shared, not copied."""
    if not a.flags.c_contiguous:
        turned = a.transpose(sorted(range(a.ndim), key=lambda i: (-a.strides[i], -a.shape[i])))
        # with gaps between its elements it lies in a flat array of the backend's
        a = turned if turned.flags.c_contiguous else _root(a)
    return a.reshape(-1).view("uint8")


def _root(a: Any) -> Any:
    while a.base is not None:
        a = a.base
    return a


class VersionCounter(msgspec.Struct, eq=False):
    """Counts in-place changes; shared by a tensor, its views and its detach()ed aliases."""

    #: its tensors were made in inference mode: their versions are not tracked
    inference: ClassVar[bool] = False
    n: int = 0


class InferenceCounter(VersionCounter):
    """What tensors made in inference mode share instead; by it they are known as such."""

    inference: ClassVar[bool] = True


def new_counter() -> VersionCounter:
    """The counter of a tensor with memory of its own, made now."""
    return VersionCounter() if state.inference is None else InferenceCounter()


class Backend(Protocol):
    """The interface of numpy, cupy and meta."""

    device: Device
    listener: Listener | None
    is_meta: bool
    #: whether it runs kernels at once, on arrays
    eager: bool
    #: how many levels of vmap it stands on (see `batching/level.py`)
    level: int
    tensor_class: type[Tensor]
    #: makes a `tensor_class` (`Tensor._made`)
    made: Callable[..., Tensor]

    def infer(self, op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """What `op` says of its outputs: a Meta, or a list of them."""

    def run(
        self, op: Op, metas: Sequence[Meta], inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> list[Tensor]:
        """Run `op`'s kernel; tensors with exactly the shapes, dtypes and strides of `metas`."""

    def run_plain(self, op: Op, known: InferCache, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Tensor:
        """`run` for a plain op and inputs of a geometry that is known."""

    def run_into(
        self, op: Op, target: Tensor, meta: Meta, inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> None:
        """Run `op`'s kernel and store its result in `target`'s memory, cast to its dtype."""

    def copy_into(self, target: Tensor, source: Tensor) -> None:
        """Copy elements; both have one shape and dtype."""

    def view(self, of: Tensor, meta: Meta) -> Tensor:
        """A tensor over the same storage and version counter."""

    def empty(self, meta: Meta) -> Tensor:
        """A tensor with memory of its own; contents undefined (never shown to users)."""

    def from_array(self, array: Any, dtype: Any = None) -> Tensor:
        """A tensor that takes over `array` (no copy)."""

    def to_numpy(self, t: Tensor) -> Any:
        """The values as a C-ordered NumPy array that shares nothing."""


class Tensor:
    """An n-dimensional array with autograd state.

    Attributes: ``shape`` (Size), ``strides`` and ``offset`` (elements), ``dtype``, ``array`` (the backend's
    array, None on meta), ``backend``. Everything autograd needs is a class default until it is set, so plain
    tensors stay small.
    """

    backend: Backend
    _storage: Storage | None
    # Stored apart from what users see, `shape` and `dtype`, which they may not assign.
    _shape: Size
    _dtype: DType
    strides: tuple[int, ...]
    offset: int
    array: Any
    _vc: VersionCounter

    _requires_grad: bool = False
    _fn: Node | None = None
    _nr: int = 0
    _grad: Tensor | None = None
    _acc: weakref.ref[AccumulateGrad] | None = None
    _base: Tensor | None = None
    _creation: str | None = None
    _view_version: int = 0
    _hooks: list[Any] | None = None
    _post_hooks: list[Any] | None = None
    _retains: bool = False
    #: the sequence number at which detach_() took its history; 0 where it did not
    _cut: int = 0
    #: of a stand-in for a gradient edge: gives the edge (see edges.py)
    _stands: Callable[[], Edge | None] | None = None
    #: dtype of .grad: ... for the tensor's own, None for any
    _grad_dtype: Any = ...
    #: of a gradient that looked-up rows of a table alone gave: the indices, each with the row
    #: that does not count. Only a mirror says so (`_by_lookups`).
    _lookups: tuple[tuple[Tensor, int | None], ...] | None = None
    #: it specifies some of its elements alone, as only a mirror can
    _sparse: ClassVar[bool] = False
    #: what a token tensor stands for
    _holds: Any = None
    #: by forward-mode level (tangents.Level); None where there is none whatever it is a view of
    _tangents: dict[Any, Tensor | None] | None = None
    #: the memory holds the conjugates of the values (`conjugate`)
    _conj: bool = False
    __hash__ = object.__hash__
    #: tells NumPy to leave ``array + tensor`` to the tensor
    __array_priority__: ClassVar[int] = 1000

    @classmethod
    def _made(
        cls, backend: Backend, storage: Storage | None, shape: tuple[int, ...], strides: tuple[int, ...],
        offset: int, dtype: DType, array: Any, version: VersionCounter | None = None,
    ) -> Self:  # fmt: skip
        """A tensor of this class. Not by calling the class: that takes longer, and a client's takes what
        users give it.
        """
        t = object.__new__(cls)
        t.backend = backend
        t._storage = storage
        t._shape = shape if shape.__class__ is Size else Size(shape)
        t.strides = strides
        t.offset = offset
        t._dtype = dtype
        t.array = array
        if version is None:
            # As `new_counter`, without the call: every result comes by here.
            version = VersionCounter() if state.inference is None else InferenceCounter()
        t._vc = version
        return t

    # -- geometry ----------------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The sizes of the dimensions."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    def dim(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    def ndimension(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    def numel(self) -> int:
        """Number of elements."""
        return numel(self._shape)

    def nelement(self) -> int:
        """Number of elements."""
        return numel(self._shape)

    def element_size(self) -> int:
        """Bytes an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements (not of the storage)."""
        return numel(self._shape) * self._dtype.itemsize

    def size(self, dim: int | None = None) -> Any:
        """The shape, or one dimension of it."""
        return self.shape if dim is None else self.shape[wrap_dim(dim, len(self.shape))]

    def stride(self, dim: int | None = None) -> Any:
        """The strides in elements, or one of them."""
        return self.strides if dim is None else self.strides[wrap_dim(dim, len(self.shape))]

    def storage_offset(self) -> int:
        """Offset into the storage, in elements."""
        return self.offset

    def is_contiguous(self, memory_format: MemoryFormat = contiguous_format) -> bool:
        """Whether elements lie in row-major order, or in that of a memory format, without gaps."""
        return has_format(self.shape, self.strides, memory_format.name)

    def is_floating_point(self) -> bool:
        """Whether dtype is real floating point."""
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        """Whether dtype is complex."""
        return self.dtype.is_complex

    def is_conj(self) -> bool:
        """Whether this is a conjugate that was not computed yet (torch.Tensor.is_conj)."""
        return self._conj

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        first: int = self.shape[0]
        return first

    @property
    def device(self) -> Device:
        """The backend's device."""
        return self.backend.device

    # -- autograd state ----------------------------------------------------------------------------

    @property
    def grad_fn(self) -> Node | None:
        """The node that made this tensor, None for leaves; rebuilt for a view whose base changed in place.

        Over a session the node is known to the server from then on (`edges.look`). The engine itself asks
        `_node`.
        """
        fn = self._shown()
        if fn is not None:
            self._look(fn)
        return fn

    def _shown(self) -> Node | None:
        """`_node` for a user who looks. A view that gets its first node by that may be written to from then
        on, so a session is told.
        """
        base = self._base
        if base is not None and self._fn is None and self._view_version != self._vc.n and base.requires_grad:
            self._renew()
        return self._node()

    def _node(self) -> Node | None:
        """`grad_fn`, without telling anybody."""
        if self._base is not None and self._view_version != self._vc.n:
            self._refresh()
        fn = self._fn
        if fn is not None and fn.folded:
            fn = self._fn = fn.unfold()
        return fn

    @property
    def requires_grad(self) -> bool:
        """Whether gradients flow to this tensor; a view's also do where its base's do."""
        return (
            self._requires_grad
            or self._fn is not None
            or (self._base is not None and self._base.requires_grad)
        )

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        self._set_requires_grad(value, "attribute")

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("cannot delete requires_grad")

    @property
    def is_leaf(self) -> bool:
        """True when no graph leads to this tensor; RuntimeError for a view that may not be rebuilt."""
        return self._shown() is None

    @property
    def _leaf(self) -> bool:
        """`is_leaf` without rebuilding: a view whose base got a graph counts before."""
        if self._fn is not None:
            return False
        base = self._base
        return base is None or self._view_version == self._vc.n or not base.requires_grad

    @property
    def output_nr(self) -> int:
        """Which output of grad_fn this is."""
        return self._nr

    @property
    def _version(self) -> int:
        if self._vc.inference:
            raise RuntimeError("Inference tensors do not track version counter.")
        return self._vc.n

    def is_inference(self) -> bool:
        """Whether this was made in inference mode (torch.Tensor.is_inference)."""
        return self._vc.inference

    def _is_view(self) -> bool:
        return self._base is not None

    @property
    def retains_grad(self) -> bool:
        """Whether retain_grad() was called while this was no leaf."""
        return self._retains

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient; warns on a non-leaf that does not retain its own (UserWarning, as in
        PyTorch).
        """
        if self._grad is None and self._fn is not None and not self._retains:
            warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
                "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
                "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. "
                "If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor "
                "instead. See github.com/pytorch/pytorch/pull/30531 for more information.",
                UserWarning,
            )
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        self._set_grad(value)

    @grad.deleter
    def grad(self) -> None:
        self._set_grad(None)

    @property
    def grad_dtype(self) -> DType | None:
        """The dtype that .grad has: the tensor's unless it was set; None allows any
        (torch.Tensor.grad_dtype).
        """
        if self._node() is not None:
            raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
        found: DType | None = self.dtype if self._grad_dtype is ... else self._grad_dtype
        return found

    @grad_dtype.setter
    def grad_dtype(self, value: DType | None) -> None:
        self._set_grad_dtype(value)

    # -- hooks -------------------------------------------------------------------------------------

    # Attached by `gradd_engine.assembly`, so that this module needs none of the rooms above it.
    _refresh: ClassVar[Callable[[Tensor], None]]
    _look: ClassVar[Callable[[Tensor, Node], None]]
    _renew: ClassVar[Callable[[Tensor], None]]
    _set_requires_grad: ClassVar[Callable[[Tensor, bool, str], None]]
    _set_grad: ClassVar[Callable[[Tensor, Any], None]]
    _set_grad_dtype: ClassVar[Callable[[Tensor, DType | None], None]]
    register_hook: ClassVar[Callable[..., Any]]
    register_post_accumulate_grad_hook: ClassVar[Callable[..., Any]]

    def _by_lookups(self, lookups: Any, like: Tensor | None = None) -> None:
        """Become sparse, in as many dimensions as `like`, or in rows, and note what rows this gradient came
        by: None where these have to be looked for. A client's tensors do, numbers have no use for it.
        """

    def __repr__(self) -> str:
        tail = (
            f", grad_fn=<{self._fn.short_name()}>"
            if self._fn
            else ", requires_grad=True"
            if self._requires_grad
            else ""
        )
        body = "..." if self.array is None else repr(self.array)
        return f"tensor({body}, dtype={self.dtype}{tail})"


read_only(Tensor, "shape", "dtype", "device", "ndim", "nbytes")
read_only(Tensor, "grad_fn", "is_leaf", "output_nr", "retains_grad", "_version")
