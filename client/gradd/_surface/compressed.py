"""Sparse tensors in compressed formats: CSR, CSC, BSR and BSC (torch.sparse_csr_tensor, ...).

Rows are compressed in CSR and BSR, columns in CSC and BSC; values of BSR and BSC are blocks. What stands
before the two sparse dimensions is a batch, of which each has as many values; what stands behind is dense.
Source: https://docs.pytorch.org/docs/stable/sparse.html#sparse-compressed-tensors
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from gradd_engine.data import dtypes
from gradd_engine.graph import no_grad
from gradd_engine.ops.shape.cast import to_dtype
from gradd_engine.schema import named

from .._tensor import Tensor, as_subclass
from .coo import SparseTensor, sparse
from .creation import as_tensor
from .facts import layout
from .functions import namespace
from .invariants import checking, wrong_compressed
from .specified import Specified, zeros

sparse_csr, sparse_csc = layout("sparse_csr"), layout("sparse_csc")
sparse_bsr, sparse_bsc = layout("sparse_bsr"), layout("sparse_bsc")
#: of each layout: its name in messages, whether rows are compressed, whether values are blocks
KINDS = {
    sparse_csr: ("SparseCsr", True, False),
    sparse_csc: ("SparseCsc", False, False),
    sparse_bsr: ("SparseBsr", True, True),
    sparse_bsc: ("SparseBsc", False, True),
}


class Form(NamedTuple):
    """How a compressed tensor lies."""

    layout: layout
    #: sizes of a block, (1, 1) where there are none
    block: tuple[int, int]
    #: how many dimensions stand before the two sparse ones, and how many behind
    batch: int
    dense: int

    @property
    def by_rows(self) -> bool:
        """Whether rows are compressed."""
        return KINDS[self.layout][1]

    @property
    def blocked(self) -> bool:
        """Whether values are blocks."""
        return KINDS[self.layout][2]

    @property
    def names(self) -> tuple[str, str]:
        """What its two tensors of indices are called."""
        return ("crow_indices", "col_indices") if self.by_rows else ("ccol_indices", "row_indices")

    def grid(self, shape: Any) -> tuple[int, int]:
        """Rows and columns, of blocks where there are some."""
        rows, columns = shape[self.batch : self.batch + 2]
        return rows // self.block[0], columns // self.block[1]

    def blocks(self, dense: Any) -> Any:
        """A dense tensor as [*batch, rows, columns, *block, *dense]."""
        if not self.blocked:
            return dense
        batch, behind = dense.shape[: self.batch], dense.shape[self.batch + 2 :]
        (rows, columns), (height, width) = self.grid(dense.shape), self.block
        parts = named.reshape(dense, [*batch, rows, height, columns, width, *behind])
        return named.transpose(parts, self.batch + 1, self.batch + 2)

    def whole(self, blocks: Any, shape: Any) -> Any:
        """The inverse of `blocks`."""
        if not self.blocked:
            return blocks
        return named.reshape(named.transpose(blocks, self.batch + 1, self.batch + 2), list(shape))

    def turned(self) -> Form:
        """That of the transpose."""
        other = {sparse_csr: sparse_csc, sparse_csc: sparse_csr, sparse_bsr: sparse_bsc}
        return Form(other.get(self.layout, sparse_bsr), self.block[::-1], self.batch, self.dense)


class CompressedTensor(Specified):
    """A sparse tensor in a compressed format. `_places` are its two tensors of indices: [*batch, n + 1] where
    each row or column begins, and [*batch, nnz].
    """

    _form: Form

    @property
    def _kind(self) -> str:  # type: ignore[override]  # of all of its class elsewhere
        return KINDS[self._form.layout][0]

    @property
    def layout(self) -> layout:
        """The format."""
        return self._form.layout

    @property
    def is_sparse_csr(self) -> bool:
        """Whether it is in the format CSR."""
        return self._form.layout == sparse_csr

    def sparse_dim(self) -> int:
        """Always 2."""
        return 2

    def dense_dim(self) -> int:
        """How many of its dimensions are dense: the last."""
        return self._form.dense

    # -- what it is made of ------------------------------------------------------------------------

    def _find(self) -> tuple[Any, ...]:
        return _compressed(named.ne(Tensor.detach(self), 0), self._form)

    def _subscript(self, places: tuple[Any, ...]) -> tuple[Any, ...]:
        """Indices of the values into `Form.blocks`."""
        major, minor = _expanded(places[0], places[1]), to_dtype(places[1], dtypes.int64)
        pair = (major, minor) if self._form.by_rows else (minor, major)
        count = namespace("")["arange"]
        batch = [
            named.reshape(count(n), [-1, *[1] * (self._form.batch - i)])
            for i, n in enumerate(self.shape[: self._form.batch])
        ]
        return (*batch, *pair)

    def _at(self, places: tuple[Any, ...]) -> Any:
        return Tensor.__getitem__(self._form.blocks(named.clone(self)), self._subscript(places))

    def _spread(self, values: Any, places: tuple[Any, ...]) -> Any:
        form, shape = self._form, self.shape
        behind = shape[form.batch + 2 :]
        block = form.block if form.blocked else ()
        empty = zeros([*shape[: form.batch], *form.grid(shape), *block, *behind], values.dtype)
        return form.whole(named.index_put(empty, list(self._subscript(places)), values, True), shape)

    def _with(self, dense: Any) -> Any:
        return compressed(dense, self._form)

    def _parts(self) -> tuple[Any, ...]:
        return (*self._where(), self._what().detach(), self.shape)

    def _shown_parts(self) -> Iterable[tuple[str, Any]]:
        return (*zip(self._form.names, self._where(), strict=True), ("values", self._what()))

    def _index(self, name: str, kind: str) -> Any:
        if name not in self._form.names:
            raise RuntimeError(f"{name} expected sparse {kind} compressed tensor layout but got {self._kind}")
        return self._where()[self._form.names.index(name)]

    def crow_indices(self) -> Any:
        """Where each row begins, [*batch, rows + 1]; RuntimeError where columns are compressed."""
        return self._index("crow_indices", "row")

    def col_indices(self) -> Any:
        """The column of each value, [*batch, nnz]; RuntimeError where columns are compressed."""
        return self._index("col_indices", "row")

    def ccol_indices(self) -> Any:
        """Where each column begins, [*batch, columns + 1]; RuntimeError where rows are compressed."""
        return self._index("ccol_indices", "column")

    def row_indices(self) -> Any:
        """The row of each value, [*batch, nnz]; RuntimeError where rows are compressed."""
        return self._index("row_indices", "column")

    def values(self) -> Any:
        """The values, [*batch, nnz, *block, *dense], of which gradients lead back."""
        return self._at(self._where()) if self.requires_grad else self._what()

    # -- what remains sparse -----------------------------------------------------------------------

    def transpose(self, dim0: int, dim1: int) -> Any:
        """With rows and columns swapped: CSR becomes CSC (torch.Tensor.transpose)."""
        form, count = self._form, len(self.shape)
        if {dim0 % count, dim1 % count} != {form.batch, form.batch + 1}:
            raise RuntimeError(
                f"transpose(): gradd swaps the two sparse dimensions of a {self._kind} tensor alone"
            )
        out = compressed(named.clone(named.transpose(self, dim0, dim1)), form.turned())
        if not form.blocked:
            out._places = self._places
        return out

    def t(self) -> Any:
        """The transpose."""
        return self.transpose(0, 1)

    @property  # type: ignore[misc]  # only read here
    def T(self) -> Any:
        """The transpose."""
        return self.t()

    def sum(  # type: ignore[override]  # without `out`
        self, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
    ) -> Any:
        """The sum, dense; sparse over one dimension that is kept."""
        found = named.sum(self, dtype=dtype) if dim is None else named.sum(self, dim, keepdim, dtype=dtype)
        return self._with(found) if keepdim and not self._form.blocked else found

    def __getitem__(self, key: Any) -> Any:
        """A row, sparse in coordinate format; of anything else a dense tensor."""
        found = Tensor.__getitem__(self, key)
        return sparse(named.clone(found), 1) if isinstance(key, int) and len(self.shape) == 2 else found

    def select(self, dim: int, index: int) -> Any:
        """A row or a column, sparse in coordinate format (torch.Tensor.select)."""
        return sparse(named.clone(named.select(self, dim, index)), 1)

    def _sum(self, other: Any, alpha: Any) -> Any:
        return (
            super()._sum(other, alpha)
            if isinstance(other, Specified)
            else named.add(self, other, alpha=alpha)
        )


def compressed(dense: Any, form: Form) -> CompressedTensor:
    """A dense tensor that nobody else has as a sparse one of this form."""
    out = as_subclass(dense, CompressedTensor)
    out._form = form
    Specified.there_are = True
    return out


def _expanded(starts: Any, others: Any) -> Any:
    """The row (or column) of each value, from where each begins."""
    count = namespace("")["arange"](others.shape[-1])
    if starts.ndim > 1:
        count = named.expand(count, list(others.shape))
    found = namespace("")["searchsorted"](to_dtype(starts, dtypes.int64), count.contiguous(), right=True)
    return found - 1


def _compressed(there: Any, form: Form) -> tuple[Any, Any]:
    """The indices of a boolean tensor's places. Waits for them."""
    there = form.blocks(there)
    if there.ndim > form.batch + 2:
        there = there.flatten(form.batch + 2).any(-1)
    if not form.by_rows:
        there = named.transpose(there, -2, -1)
    batch, rows = list(there.shape[:-2]), there.shape[-2]
    places = there.nonzero().t()
    major, minor = places[-2], places[-1]
    if batch:
        counts = there.reshape([-1, rows * there.shape[-1]]).sum(1).tolist()
        if len(set(counts)) > 1:
            raise RuntimeError("Expect the same number of specified elements per batch.")
        major, minor = (named.reshape(x, [*batch, counts[0] if counts else 0]) for x in (major, minor))
    edges = namespace("")["arange"](rows + 1)
    if batch:
        edges = named.expand(edges, [*batch, rows + 1])
    starts = namespace("")["searchsorted"](major.contiguous(), edges.contiguous())
    return starts, minor.contiguous()


def to_compressed(self: Any, kind: layout, block: Any = None, dense_dim: int | None = None) -> Any:
    """A tensor in a compressed format: of a sparse one with the same values, of a dense one with those that
    are not zero.
    """
    _, _, blocked = KINDS[kind]
    name = KINDS[kind][0].removeprefix("Sparse").lower()
    if blocked != (block is not None):
        how = "requires" if blocked else "does not use"
        raise RuntimeError(f"to_sparse: {self.layout} to {kind} conversion {how} blocksize")
    if (
        isinstance(self, CompressedTensor)
        and self._form.layout == kind
        and (block is None or tuple(block) == self._form.block)
    ):
        return self
    dense = (self.dense_dim() if isinstance(self, Specified) else 0) if dense_dim is None else dense_dim
    count = len(self.shape) - dense - 2
    if count < 0:
        raise RuntimeError(
            f"to_sparse_{name}: a tensor of {len(self.shape)} dimensions has no two sparse ones beside "
            f"{dense} dense"
        )
    height, width = (int(n) for n in block) if blocked else (1, 1)
    rows, columns = self.shape[count : count + 2]
    if blocked and (rows % height or columns % width):
        raise RuntimeError(
            f"dense_to_sparse_{name}: tensor sparse size ({rows},{columns}) must be divisible by given "
            f"blocksize ({height},{width})"
        )
    form = Form(kind, (height, width), count, dense)
    out = compressed(named.clone(self), form)
    if isinstance(self, Specified) and self._places is not None:
        with no_grad():
            out._places = _compressed(self._mask().ne(0), form)
    return out


def to_coordinates(self: CompressedTensor) -> SparseTensor:
    """A compressed tensor in coordinate format, with the same values."""
    out = sparse(named.clone(self), len(self.shape) - self._form.dense)
    with no_grad():
        if self._places is not None:
            mask = self._mask().ne(0)
            behind = mask.flatten(out._dims).any(-1) if mask.ndim > out._dims else mask
            out._places = (behind.nonzero().t(),)
    return out


# -- constructors ----------------------------------------------------------------------------------


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> CompressedTensor:
    """A sparse tensor in a compressed `layout` (torch.sparse_compressed_tensor): where each row (or column)
    begins, [*batch, n + 1]; the column (or row) of each value, [*batch, nnz]; values [*batch, nnz, *block,
    *dense]. Without a `size` it is read off the indices. RuntimeError where they do not fit.
    """
    if layout not in KINDS:
        was = "none" if layout is None else "Strided" if f"{layout}" == "torch.strided" else f"{layout}"
        raise RuntimeError(f"sparse_compressed_tensor expected sparse compressed tensor layout but got {was}")
    starts, others = as_tensor(compressed_indices), as_tensor(plain_indices)
    given: Any = as_tensor(values) if dtype is None else to_dtype(as_tensor(values), dtype)
    given = given.detach() if requires_grad else given
    blocked, batch = KINDS[layout][2], starts.ndim - 1
    if given.ndim < batch + 1 + 2 * blocked:
        raise RuntimeError(
            "values must have dimensionality > sum of batch and block dimensionalities "
            f"(={batch} + {2 * blocked}) but got {given.ndim}"
        )
    block = tuple(given.shape[batch + 1 : batch + 3]) if blocked else (1, 1)
    form = Form(layout, block, batch, given.ndim - batch - 1 - 2 * blocked)
    behind = given.shape[batch + 1 + 2 * blocked :]
    if size is None:
        most = int(others.max().item()) + 1 if others.numel() else 0
        pair = (starts.shape[-1] - 1, most) if form.by_rows else (most, starts.shape[-1] - 1)
        size = [*starts.shape[:-1], pair[0] * block[0], pair[1] * block[1], *behind]
    if len(size) != batch + 2 + form.dense:
        raise RuntimeError(
            "tensor dimensionality must be sum of batch, base, and dense dimensionalities "
            f"(={batch} + 2 + {form.dense}) but got {len(size)}"
        )
    _fitting(starts, others, given, form, size)
    if checking(check_invariants):
        wrong_compressed(starts, others, form.names, form.grid(size)[form.by_rows])
    frame = compressed(zeros(size, given.dtype), form)
    out = compressed(frame._spread(given, (starts, others)), form)
    out._places, out._built = (starts, others), True
    out._hold(given)
    if requires_grad:
        out.requires_grad = True
    return out


def _fitting(starts: Any, others: Any, values: Any, form: Form, size: Any) -> None:
    """RuntimeError where shapes do not fit: always, since what does not fit has no dense values."""
    compressed_name, plain = form.names
    if starts.dtype is not others.dtype:
        raise RuntimeError(
            f"{compressed_name} and {plain} must have the same dtype, bot got {starts.dtype.title} and "
            f"{others.dtype.title}, respectively"
        )
    count = form.grid(size)[not form.by_rows]
    what = ("row" if form.by_rows else "column") + (" block" if form.blocked else "")
    if starts.shape[-1] != count + 1:
        raise RuntimeError(
            f"{compressed_name}.shape[-1] must be equal to the number of {what}s + 1 (={count + 1}), but got "
            f"{starts.shape[-1]}"
        )
    nnz = values.shape[form.batch]
    if others.shape[-1] != nnz:
        raise RuntimeError(
            f"{plain}.shape[-1] must be equal to nnz (={nnz}) as defined by values.shape[{form.batch}], but "
            f"got {others.shape[-1]}"
        )


def _constructor(kind: layout) -> Callable[..., CompressedTensor]:
    title = f"{kind}".removeprefix("torch.") + "_tensor"
    names = Form(kind, (1, 1), 0, 0).names

    def make(
        compressed_indices: Any = None, plain_indices: Any = None, values: Any = None, size: Any = None,
        **options: Any,
    ) -> CompressedTensor:  # fmt: skip
        first = options.pop(names[0], compressed_indices)
        second = options.pop(names[1], plain_indices)
        if first is None or second is None or values is None:
            raise TypeError(f"{title}() needs {names[0]}, {names[1]} and values")
        options.pop("layout", None)
        return sparse_compressed_tensor(first, second, values, size, layout=kind, **options)

    made = inspect.signature(sparse_compressed_tensor).parameters.values()
    shown = [p.replace(name=name) for p, name in zip(made, names, strict=False)]
    rest = [p for p in made if p.name not in ("layout", "compressed_indices", "plain_indices")]
    make.__signature__ = inspect.Signature([*shown, *rest])  # type: ignore[attr-defined]
    make.__name__ = make.__qualname__ = title
    make.__doc__ = f"A sparse tensor of {names[0]}, {names[1]} and values in {kind} (torch.{title})."
    return make


sparse_csr_tensor = _constructor(sparse_csr)
sparse_csc_tensor = _constructor(sparse_csc)
sparse_bsr_tensor = _constructor(sparse_bsr)
sparse_bsc_tensor = _constructor(sparse_bsc)
