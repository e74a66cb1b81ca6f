"""Sparse tensors in coordinate format (torch.sparse_coo_tensor), and gradients of looked-up rows.

Source: https://docs.pytorch.org/docs/stable/sparse.html#sparse-coo-tensors
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradd_engine.data import dtypes
from gradd_engine.graph import no_grad
from gradd_engine.ops.shape.cast import to_dtype
from gradd_engine.schema import named

from .._tensor import Tensor, as_subclass
from .creation import as_tensor
from .facts import layout
from .functions import namespace
from .invariants import checking, wrong_indices
from .specified import Specified, zeros

sparse_coo = layout("sparse_coo")


class SparseTensor(Specified):
    """A sparse tensor in coordinate format. `_places` is one tensor, int64 [sparse dims, n]."""

    _kind = "Sparse"
    _sparse = True
    #: whether each place is there once, in order
    _sorted = True
    #: how many of the dimensions are sparse
    _dims = 0

    @property
    def is_sparse(self) -> bool:
        """True."""
        return True

    @property
    def layout(self) -> layout:
        """``torch.sparse_coo``."""
        return sparse_coo

    # -- what it is made of ------------------------------------------------------------------------

    def _find(self) -> tuple[Any, ...]:
        if self._lookups is not None:
            return (_rows(self._lookups),)
        return (_true(named.ne(Tensor.detach(self), 0), self._dims),)

    def _at(self, places: tuple[Any, ...]) -> Any:
        found = Tensor.__getitem__(self, tuple(places[0].unbind(0)))
        if self._sorted:
            return found
        # A place that is there several times has its value at the first of them.
        count = places[0].shape[1]
        numbers = namespace("")["arange"](count)
        first = namespace("")["full"](list(self.shape[: self._dims]), count)
        at = list(places[0].unbind(0))
        flat = _flat(places[0], self.shape[: self._dims])
        first = first.reshape(-1).index_reduce(0, flat, numbers, "amin").reshape(first.shape)
        kept = named.eq(first[tuple(at)], numbers)
        return named.where(kept.reshape([count, *[1] * self.dense_dim()]), found, 0)

    def _spread(self, values: Any, places: tuple[Any, ...]) -> Any:
        return _added(zeros(self.shape, values.dtype), places[0], values)

    def _with(self, dense: Any) -> Any:
        return sparse(dense, self._dims)

    def _like(self, made: Any, values: Any = None) -> Any:
        out = super()._like(made, values)
        out._sorted, out._lookups = self._sorted, self._lookups
        return out

    def zero_(self) -> Any:
        """Specify nothing any more (torch.Tensor.zero_)."""
        named.zero_(self)
        return self._anew((zeros([self._dims, 0], dtypes.int64),))

    def _anew(self, places: tuple[Any, ...] | None) -> Any:
        self._sorted = True
        return super()._anew(places)

    def _indices(self) -> Any:
        """The places as given, int64 [sparse dims, n]."""
        return self._where()[0]

    def _values(self) -> Any:
        """The values as given, at `_indices`: not what is read of any other tensor."""
        return self._what()

    def indices(self) -> Any:
        """The places, int64 [sparse dims, n]; RuntimeError unless it is coalesced."""
        self._want_coalesced("indices")
        return self._where()[0]

    def values(self) -> Any:
        """The values at the places, of which gradients lead back; RuntimeError unless it is coalesced."""
        self._want_coalesced("values")
        return self._at(self._where())

    def _want_coalesced(self, what: str) -> None:
        if not self._sorted:
            raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")

    def is_coalesced(self) -> bool:  # type: ignore[override]  # refused for others
        """Whether each place is there once, in order."""
        return self._sorted

    def coalesce(self) -> SparseTensor:
        """The same with each place once, in order, its values summed. Waits for the places."""
        if self._sorted:
            return self
        made = sparse(named.clone(self), self._dims)
        with no_grad():
            places = self._where()[0]
            once = named.ge(zeros(self.shape[: self._dims], dtypes.int64), 1)
            if places.shape[1]:
                once[tuple(places.unbind(0))] = True
            made._places = (_true(once, self._dims),)
        return made

    def _coalesced_(self, coalesced: bool) -> SparseTensor:
        """Take it as coalesced, or not."""
        self._sorted = coalesced
        return self

    def sparse_dim(self) -> int:
        """How many of its dimensions are sparse."""
        return self._dims

    def dense_dim(self) -> int:
        """How many of its dimensions are dense: the last."""
        return len(self.shape) - self._dims

    _dimI, _dimV = sparse_dim, dense_dim

    # -- what remains sparse -----------------------------------------------------------------------

    def _turned(self, made: Any, order: Iterable[int]) -> SparseTensor:
        """`made`, the dense tensor turned, with its places turned in the same way."""
        out = sparse(named.clone(made), self._dims)
        if self._places is not None and not self._sorted:
            out._sorted, out._places = False, (self._places[0][list(order)],)
            out._held = None if self._held is None else (self._held[0], out._vc.n)
        return out

    def t(self) -> Any:
        """The transpose, sparse."""
        return self._turned(named.t(self), (1, 0)) if len(self.shape) > 1 else self

    def transpose(self, dim0: int, dim1: int) -> Any:
        """Two sparse dimensions swapped (torch.Tensor.transpose)."""
        count = len(self.shape)
        order = list(range(count))
        order[dim0], order[dim1] = order[dim1], order[dim0]
        return self.permute(order)

    def permute(self, *axes: Any, dims: Any = None) -> Any:
        """Its sparse dimensions in another order (torch.Tensor.permute); RuntimeError where dense ones move
        among them.
        """
        axes = axes if dims is None else (dims,)
        order = [d % len(self.shape) for d in (axes[0] if len(axes) == 1 else axes)]
        made = named.permute(self, order)
        if any(d >= self._dims for d in order[: self._dims]):
            raise RuntimeError("transpose(): can't transpose sparse and dense dimensions of a sparse tensor")
        return self._turned(made, order[: self._dims])

    @property  # type: ignore[misc]  # only read here
    def T(self) -> Any:
        """The transpose, sparse."""
        return self.t()

    def unsqueeze(self, dim: int) -> Any:
        """With a dimension of size 1, sparse where it stands among sparse ones (torch.Tensor.unsqueeze)."""
        at = dim % (len(self.shape) + 1)
        return sparse(named.clone(named.unsqueeze(self, dim)), self._dims + (at <= self._dims))

    def __getitem__(self, key: Any) -> Any:
        """Of numbers a sparse tensor of what is there; of anything else a dense one."""
        found = Tensor.__getitem__(self, key)
        keys = key if isinstance(key, tuple) else (key,)
        left = self._dims - sum(isinstance(k, int) for k in keys[: self._dims])
        if not all(isinstance(k, int) or k == slice(None) for k in keys) or not left:
            return found
        return sparse(named.clone(found), left)

    def select(self, dim: int, index: int) -> Any:
        """What is at `index` of a dimension (torch.Tensor.select)."""
        before = [slice(None)] * (dim % len(self.shape))
        return self[(*before, index)]

    def index_select(self, dim: int, index: Any) -> Any:  # type: ignore[override]  # without `out`
        """The parts at `index` of a dimension, sparse (torch.Tensor.index_select)."""
        return sparse(named.index_select(self, dim, index), self._dims)

    def sum(  # type: ignore[override]  # without `out`
        self, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
    ) -> Any:
        """The sum over all, dense, or over `dim`: sparse unless no sparse dimension remains."""
        if dim is None:
            return named.sum(self, dtype=dtype)
        over = {d % len(self.shape) for d in ([dim] if isinstance(dim, int) else dim)}
        found = named.sum(self, sorted(over), keepdim, dtype=dtype)
        kept = self._dims - (0 if keepdim else len([d for d in over if d < self._dims]))
        return sparse(found, kept) if kept else found

    def sparse_resize_(self, size: Any, sparse_dim: int, dense_dim: int) -> Any:
        """Another size with the same places and values (torch.Tensor.sparse_resize_)."""
        if (sparse_dim, dense_dim) != (self._dims, self.dense_dim()):
            raise NotImplementedError("gradd resizes sparse tensors of as many sparse and dense dimensions")
        places, values = self._where(), self._what()
        with no_grad():
            self.data = _added(zeros(size, self.dtype), places[0], values)
            self._hold(values)
        return self

    def sparse_resize_and_clear_(self, size: Any, sparse_dim: int, dense_dim: int) -> Any:
        """Another size, and nothing specified (torch.Tensor.sparse_resize_and_clear_)."""
        with no_grad():
            self.data = zeros(size, self.dtype)
        self._dims = sparse_dim
        return self._anew(None)

    def resize_as_sparse_(self, the_template: Any) -> Any:
        """The size of another sparse tensor, and nothing specified (torch.Tensor.resize_as_sparse_)."""
        return self.sparse_resize_and_clear_(
            the_template.shape, the_template.sparse_dim(), the_template.dense_dim()
        )

    def _shown_parts(self) -> Iterable[tuple[str, Any]]:
        return (("indices", self._indices()), ("values", self._values()))

    def _parts(self) -> tuple[Any, ...]:
        return self._indices(), self._values().detach(), self.shape, self._sorted


def sparse(dense: Any, dims: int) -> SparseTensor:
    """A dense tensor that nobody else has as a sparse one, of so many sparse dimensions."""
    out = as_subclass(dense, SparseTensor)
    out._dims = dims
    Specified.there_are = True
    return out


def _true(mask: Any, dims: int) -> Any:
    """Where some of the last dimensions is True, int64 [dims, n]."""
    return (mask.flatten(dims).any(-1) if mask.ndim > dims else mask).nonzero().t()


def _flat(places: Any, size: Any) -> Any:
    """The number of each place in row-major order."""
    found = places[0]
    for row, n in zip(places[1:].unbind(0), size[1:], strict=True):
        found = found * n + row
    return found


def _added(dense: Any, places: Any, values: Any) -> Any:
    """`dense` with values added at places."""
    if not len(places):
        return dense + values.sum(0)
    return named.index_put(dense, list(places.unbind(0)), values, True)


# -- gradients of looked-up rows -------------------------------------------------------------------


def _rows(lookups: Any) -> Any:
    """The rows that lookups name, int64 [1, n]. Waits for them where one does not count."""
    found: list[Any] = [index.detach().reshape(-1) for index, _ in lookups]
    for i, (_, padding) in enumerate(lookups):
        if padding is not None:
            found[i] = found[i][found[i] != padding]
    if not found:
        return zeros([1, 0], dtypes.int64)
    rows: Any = to_dtype(namespace("")["cat"](found), dtypes.int64)
    return rows.reshape(1, -1)


def by_lookups(self: Any, lookups: Any, like: Any = None) -> None:
    """Become a sparse gradient: only these rows are specified, or None for what is not zero, in as many
    dimensions as those of `like`.
    """
    sparse(self, 1 if like is None else like._dims)._anew(None)._lookups = lookups
    self._sorted = not lookups


# -- constructor -----------------------------------------------------------------------------------


def sparse_coo_tensor(
    indices: Any = None,
    values: Any = None,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> SparseTensor:
    """A sparse tensor of `values` [n, *dense sizes] at the places `indices` [sparse dims, n], those at one
    place summed (torch.sparse_coo_tensor). Without a `size` it is read off the places. RuntimeError where the
    two do not fit.
    """
    if indices is None or values is None:
        if size is None:
            raise TypeError("sparse_coo_tensor() needs indices and values, or a size")
        out = sparse(zeros(size, dtype), len(size))
        out.requires_grad = requires_grad
        return out
    places: Any = to_dtype(as_tensor(indices), dtypes.int64)
    given: Any = as_tensor(values) if dtype is None else to_dtype(as_tensor(values), dtype)
    if requires_grad:
        given = given.detach()
    if places.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(places.shape)}")
    dims, count = places.shape
    if given.ndim < 1 or given.shape[0] != count:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {count}, nnz from values: "
            f"{given.shape[0] if given.ndim else 0}"
        )
    if size is None:
        largest = places.amax(1).tolist() if count else [-1] * dims
        size = [n + 1 for n in largest] + list(given.shape[1:])
    if len(size) != dims + given.ndim - 1:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = "
            f"{dims}, dense_dim = {given.ndim - 1}"
        )
    if checking(check_invariants):
        wrong_indices(places, size)
    out = sparse(_added(zeros(size, given.dtype), places, given), dims)
    out._places, out._sorted = (places,), bool(is_coalesced) or count < 2
    out._hold(given)
    out._built = True
    if requires_grad:
        out.requires_grad = True
    return out
