"""Sparse tensors in coordinate format (torch.sparse_coo_tensor), each a dense tensor that knows its places.

Values and gradients are PyTorch's. Memory and time are those of the dense tensor, and a gradient with respect
to a sparse leaf is dense. Source: https://docs.pytorch.org/docs/stable/sparse.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from gradd_engine.data import dtypes
from gradd_engine.graph import no_grad
from gradd_engine.ops.shape.cast import to_dtype
from gradd_engine.schema import named

from .._tensor import Tensor, as_subclass
from .creation import as_tensor
from .facts import layout
from .functions import namespace

sparse_coo = layout("sparse_coo")


class SparseTensor(Tensor):
    """A dense tensor of which some elements are specified, and the others zero."""

    _by_users = False
    _printed = "torch.Tensor"

    #: the places, int64 [sparse dims, n], and the values there as given; None where nobody asked yet
    _given: tuple[Any, Any] | None = None
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

    def _specified(self) -> tuple[Any, Any]:
        if self._given is None:
            with no_grad():
                nonzero = self.detach_dense() != 0
                if self.dense_dim():
                    nonzero = nonzero.flatten(self._dims).any(-1)
                places = nonzero.nonzero().t()
            self._given = places, self._at(places)
        return self._given

    def _at(self, places: Any) -> Any:
        return self.to_dense()[tuple(places.unbind(0))]

    def detach_dense(self) -> Any:
        """The dense tensor, without history."""
        return Tensor.detach(self)

    def _indices(self) -> Any:
        """The places as given, int64 [sparse dims, n]."""
        return self._specified()[0]

    def _values(self) -> Any:
        """The values as given, at `_indices`: not what is read of any other tensor."""
        return self._specified()[1]

    def indices(self) -> Any:
        """The places, int64 [sparse dims, n]; RuntimeError unless it is coalesced."""
        self._want_coalesced("indices")
        return self._specified()[0]

    def values(self) -> Any:
        """The values at the places, of which gradients lead back; RuntimeError unless it is coalesced."""
        self._want_coalesced("values")
        return self._at(self._specified()[0])

    def _want_coalesced(self, what: str) -> None:
        if not self._sorted:
            raise RuntimeError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")

    def is_coalesced(self) -> bool:
        """Whether each place is there once, in order."""
        return self._sorted

    def coalesce(self) -> SparseTensor:
        """The same with each place once, in order, its values summed. Waits for the places."""
        if self._sorted:
            return self
        with no_grad():
            places = self._indices()
            once = namespace("")["zeros"](list(self.shape[: self._dims]), dtype=dtypes.bool_)
            if places.shape[1]:
                once[tuple(places.unbind(0))] = True
            found = once.nonzero().t()
        made = sparse(self.to_dense(), self._dims)
        made._given = found, made._at(found)
        return made

    def sparse_dim(self) -> int:
        """How many of its dimensions are sparse."""
        return self._dims

    def dense_dim(self) -> int:
        """How many of its dimensions are dense: the last."""
        return len(self.shape) - self._dims

    def _nnz(self) -> int:
        """How many places are specified."""
        return int(self._specified()[0].shape[1])

    # -- what remains sparse -----------------------------------------------------------------------

    def to_dense(self, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
        """A dense tensor of its values (torch.Tensor.to_dense)."""
        found = self.clone_dense()
        return found if dtype is None else to_dtype(found, dtype)

    def clone_dense(self) -> Any:
        """A dense copy, with history."""
        return named.clone(self)

    def to_sparse(self, *args: Any, **kwargs: Any) -> SparseTensor:
        """Itself."""
        return self

    def _like(self, made: Any, turned: Callable[[Any], Any] = lambda places: places) -> SparseTensor:
        """`made`, a new dense tensor, as a sparse one with the same places, or these `turned`."""
        out = sparse(made if made is not self else self.clone_dense(), self._dims)
        if self._given is not None:
            places = turned(self._given[0])
            out._given = places, out._at(places) if self._sorted else self._given[1].to(made.dtype)
        out._sorted = self._sorted
        return out

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """As `Tensor.to`, and sparse."""
        found = super().to(*args, **kwargs)
        return self if found is self else self._like(found)

    def detach(self) -> Any:
        """As `Tensor.detach`, and sparse."""
        return self._like(Tensor.detach(self))

    def clone(self, **options: Any) -> Any:
        """As `Tensor.clone`, and sparse."""
        return self._like(self.clone_dense())

    def t(self) -> Any:
        """The transpose, sparse."""
        return self._turned(named.t(self))

    def transpose(self, dim0: int, dim1: int) -> Any:
        """The transpose, sparse where it has two dimensions."""
        found = named.transpose(self, dim0, dim1)
        swapped = {dim0 % 2, dim1 % 2} == {0, 1}
        return self._turned(found) if len(self.shape) == self._dims == 2 and swapped else found

    @property  # type: ignore[misc]  # only read here
    def T(self) -> Any:
        """The transpose, sparse."""
        return self.t()

    def _turned(self, found: Any) -> SparseTensor:
        made = sparse(named.clone(found), self._dims)
        if not self._sorted:
            made._sorted, made._given = False, (self._indices().flip(0), self._specified()[1])
        return made

    def __mul__(self, other: Any) -> Any:
        return self._like(named.mul(self, other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._like(named.div(self, other))

    def __neg__(self) -> Any:
        return self._like(named.neg(self))

    def __add__(self, other: Any) -> Any:
        found = named.add(self, other)
        return sparse(found, self._dims) if isinstance(other, SparseTensor) else found

    def numpy(self, *, force: bool = False) -> NoReturn:
        """Raise TypeError, as PyTorch does."""
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

    def tolist(self) -> Any:
        """The dense values as nested lists."""
        return self.to_dense().tolist()

    def item(self) -> Any:
        """The only element; RuntimeError unless there is exactly one."""
        return self.to_dense().item()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        """Raise NotImplementedError."""
        raise NotImplementedError("gradd does not save sparse tensors: save to_dense() of it")

    def __repr__(self) -> str:
        places, values = self._specified()
        fn = self.grad_fn
        history = ", requires_grad=True" if self.requires_grad and fn is None else ""
        if fn is not None:
            history = f",\n       grad_fn=<{fn.name().removeprefix('torch::autograd::')}>"
        return (
            f"tensor(indices={_indented(places, 15)},\n       values={_indented(values.detach(), 14)},\n"
            f"       size={tuple(self.shape)}, nnz={self._nnz()}, layout=torch.sparse_coo{history})"
        )

    __str__ = __repr__


def _cast(name: str, dtype: Any) -> Callable[..., Any]:
    def cast(self: Any) -> Any:
        return self.to(dtype)

    cast.__name__ = cast.__qualname__ = name
    cast.__doc__ = f"As {dtype!r}, sparse."
    return cast


for _name, _dtype in {
    "half": dtypes.float16, "bfloat16": dtypes.bfloat16, "float": dtypes.float32, "double": dtypes.float64,
    "int": dtypes.int32, "long": dtypes.int64,
}.items():  # fmt: skip
    setattr(SparseTensor, _name, _cast(_name, _dtype))


def _indented(t: Any, by: int) -> str:
    if not t.numel():
        return f"tensor([], size={tuple(t.shape)})"
    return str(t).replace("\n", "\n" + " " * by)


def sparse(dense: Any, dims: int) -> SparseTensor:
    """A dense tensor that nobody else has as a sparse one, of so many sparse dimensions."""
    out = as_subclass(dense, SparseTensor)
    out._dims = dims
    return out


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
    top = namespace("")
    if indices is None or values is None:
        if size is None:
            raise TypeError("sparse_coo_tensor() needs indices and values, or a size")
        out = sparse(top["zeros"](list(size), dtype=dtype), len(size))
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
        if not count:
            raise RuntimeError("a size is needed where there are no places")
        size = [n + 1 for n in places.amax(1).tolist()] + list(given.shape[1:])
    if len(size) != dims + given.ndim - 1:
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = "
            f"{dims}, dense_dim = {given.ndim - 1}"
        )
    empty = top["zeros"](list(size), dtype=given.dtype)
    dense = named.index_put(empty, list(places.unbind(0)), given, True) if dims else empty + given.sum(0)
    out = sparse(dense, dims)
    out._given, out._sorted = (places, given), bool(is_coalesced) or count < 2
    if requires_grad:
        out.requires_grad = True
    return out


# -- methods of all tensors ------------------------------------------------------------------------


def to_sparse(self: Any, sparse_dim: Any = None, *, layout: Any = None, **options: Any) -> Any:
    """A sparse tensor of the elements that are not zero (torch.Tensor.to_sparse). NotImplementedError for
    other layouts than ``torch.sparse_coo``.
    """
    if layout is not None and layout is not sparse_coo:
        raise NotImplementedError(f"gradd has no sparse tensors of layout {layout}")
    if isinstance(sparse_dim, type(sparse_coo)):
        sparse_dim = None
    return sparse(named.clone(self), len(self.shape) if sparse_dim is None else sparse_dim)


def to_dense(self: Any, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
    """Itself, since it is dense (torch.Tensor.to_dense)."""
    return self if dtype is None else to_dtype(self, dtype)


def _of_sparse(name: str, kind: str) -> Callable[..., Any]:
    def refuse(self: Any) -> Any:
        raise RuntimeError(f"{name} expected {kind} tensor layout but got Strided")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Of sparse tensors (torch.Tensor.{name}); RuntimeError for a dense one."
    return refuse


def sparse_dim(self: Any) -> int:
    """0 of a dense tensor (torch.Tensor.sparse_dim)."""
    return 0


def is_coalesced(self: Any) -> bool:
    """Of sparse tensors (torch.Tensor.is_coalesced); RuntimeError for a dense one."""
    raise RuntimeError("is_coalesced expected sparse coordinate tensor layout but got Strided")


def dense_dim(self: Any) -> int:
    """The number of dimensions of a dense tensor (torch.Tensor.dense_dim)."""
    return len(self.shape)


#: the methods of a tensor
SPARSE: dict[str, Callable[..., Any]] = {
    **{f.__name__: f for f in (dense_dim, is_coalesced, sparse_dim, to_dense, to_sparse)},
    "values": _of_sparse("values", "sparse"),
    **{n: _of_sparse(n, "sparse coordinate") for n in ("coalesce", "indices")},
}
