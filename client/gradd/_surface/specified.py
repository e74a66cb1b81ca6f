"""What sparse tensors of all layouts have in common: each is a dense tensor that knows its places.

Values and gradients are PyTorch's. Memory and time are those of the dense tensor, and a gradient with respect
to a sparse leaf is dense. Source: https://docs.pytorch.org/docs/stable/sparse.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NoReturn

from gradd_engine.data import dtypes
from gradd_engine.graph import no_grad
from gradd_engine.ops.shape.cast import to_dtype
from gradd_engine.schema import named

from .._tensor import Tensor
from .functions import namespace

#: functions of single elements that leave a zero as it is
_KEEPING = (
    "abs", "neg", "sqrt", "square", "sin", "sinh", "asin", "asinh", "tan", "tanh", "atan", "atanh", "ceil",
    "floor", "round", "trunc", "sign", "sgn", "expm1", "log1p", "relu", "erf", "erfinv", "isnan", "isinf",
    "deg2rad", "rad2deg", "frac", "nan_to_num", "positive",
)  # fmt: skip
_CASTS = {
    "half": dtypes.float16, "bfloat16": dtypes.bfloat16, "float": dtypes.float32, "double": dtypes.float64,
    "short": dtypes.int16, "int": dtypes.int32, "long": dtypes.int64, "bool": dtypes.bool_,
    "cfloat": dtypes.complex64, "cdouble": dtypes.complex128,
}  # fmt: skip


class Specified(Tensor):
    """A dense tensor of which some elements are specified, and the others zero."""

    _by_users = False
    _printed = "torch.Tensor"

    #: some tensor of this process is sparse: optimizers look for sparse gradients
    there_are: ClassVar[bool] = False
    #: the layout in PyTorch's messages
    _kind: ClassVar[str]
    #: where the values are, as its layout has it; None where nobody asked yet
    _places: tuple[Any, ...] | None = None
    #: the values there as given, and the version of the dense tensor that they are of
    _held: tuple[Any, int] | None = None
    #: it was made of values, so that only these get gradients
    _built = False

    # -- for each layout ---------------------------------------------------------------------------

    def _find(self) -> tuple[Any, ...]:
        """Where the dense tensor is not zero, as its layout has it. Waits for the places."""
        raise NotImplementedError

    def _at(self, places: tuple[Any, ...]) -> Any:
        """The values at the places, of which gradients lead back."""
        raise NotImplementedError

    def _spread(self, values: Any, places: tuple[Any, ...]) -> Any:
        """A dense tensor of its size with these values."""
        raise NotImplementedError

    def _with(self, dense: Any) -> Any:
        """A new dense tensor as a sparse one of this layout; its places are not known."""
        raise NotImplementedError

    def _parts(self) -> tuple[Any, ...]:
        """What PyTorch's files keep of it: places, values, size and more."""
        raise NotImplementedError

    # -- what it is made of ------------------------------------------------------------------------

    def _where(self) -> tuple[Any, ...]:
        if self._places is None:
            with no_grad():
                self._places = self._find()
        return self._places

    def _what(self) -> Any:
        """The values, without their history if they are not those that were given."""
        if self._held is None or self._held[1] != self._vc.n:
            with no_grad():
                self._hold(self._at(self._where()))
        assert self._held is not None
        return self._held[0]

    def _hold(self, values: Any) -> None:
        self._held = values, self._vc.n

    def _nnz(self) -> int:
        """How many places are specified."""
        return int(self._where()[-1].shape[-1])

    def _mask(self) -> Any:
        """Which elements are specified, as a dense tensor of 0 and 1 with the dtype of this one."""
        with no_grad():
            if self._places is None:
                return to_dtype(named.ne(Tensor.detach(self), 0), self.dtype)
            ones = named.ones_like(self._at(self._places), dtype=self.dtype)
            return to_dtype(named.ne(self._spread(ones, self._places), 0), self.dtype)

    def _masked(self) -> Any:
        """The dense tensor, of which gradients lead back to what is specified alone."""
        if not self.requires_grad or (self._built and not self.is_leaf):
            return self
        return named.mul(self, self._mask())

    def to_dense(self, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
        """A dense tensor of its values (torch.Tensor.to_dense). With `masked_grad`, the default, only what is
        specified gets a gradient.
        """
        dense = self if masked_grad is False else self._masked()
        found = named.clone(self) if dense is self else dense
        return found if dtype is None else to_dtype(found, dtype)

    # -- what remains sparse -----------------------------------------------------------------------

    def _like(self, made: Any, values: Callable[[Any], Any] | None = None) -> Any:
        """`made`, a new dense tensor, as a sparse one with the same places. `values`: what was done to each
        value.
        """
        out = self._with(named.clone(self) if made is self else made)
        out._places = self._places
        if values is not None and self._held is not None and self._held[1] == self._vc.n:
            with no_grad():
                out._hold(values(self._held[0].detach()))
        return out

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """As `Tensor.to`, and sparse."""
        found = super().to(*args, **kwargs)
        return self if found is self else self._like(found, lambda v: v.to(found.dtype))

    def detach(self) -> Any:
        """As `Tensor.detach`, and sparse."""
        return self._like(Tensor.detach(self), lambda v: v)

    def clone(self, **options: Any) -> Any:
        """As `Tensor.clone`, and sparse."""
        return self._like(named.clone(self), lambda v: v)

    def __copy__(self) -> Any:
        return self.detach().requires_grad_(self.requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = self.detach().clone().requires_grad_(self.requires_grad)
        return memo[id(self)]

    def __neg__(self) -> Any:
        return self._like(named.neg(self), named.neg)

    def __mul__(self, other: Any) -> Any:
        found = named.mul(self, other)
        if isinstance(other, Specified):
            return self._with(found)
        scalar = not isinstance(other, Tensor) or not other.ndim
        return self._like(found, (lambda v: named.mul(v, other)) if scalar else None)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Tensor) and other.ndim:
            raise RuntimeError(
                "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
                f"{list(other.shape)} for divisor)"
            )
        return self._like(named.div(self, other), lambda v: named.div(v, other))

    def __pow__(self, exponent: Any) -> Any:
        return self._like(named.pow(self, exponent))

    def __add__(self, other: Any) -> Any:
        return self._sum(other, 1)

    def __sub__(self, other: Any) -> Any:
        return self._sum(other, -1)

    def __radd__(self, other: Any) -> Any:
        return named.add(other, self)

    def __rsub__(self, other: Any) -> Any:
        return named.sub(other, self)

    def add(self, other: Any, *, alpha: Any = 1) -> Any:  # type: ignore[override]  # without `out`
        """The sum of two sparse tensors, or RuntimeError (torch.Tensor.add)."""
        return self._sum(other, alpha)

    def sub(self, other: Any, *, alpha: Any = 1) -> Any:  # type: ignore[override]  # without `out`
        """The difference of two sparse tensors, or RuntimeError (torch.Tensor.sub)."""
        return self._sum(other, -alpha)

    def _sum(self, other: Any, alpha: Any) -> Any:
        if not isinstance(other, Specified):
            raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
        found = self._with(named.add(self, other, alpha=alpha))
        if self._places is not None and other._places is self._places:
            found._places = self._places
        elif self._places is not None and other._places is not None:
            # what is specified in either, also where the sum is zero
            either = found._with(named.add(self._mask(), other._mask()))
            found._places = either._where()
        return found

    def __matmul__(self, other: Any) -> Any:
        found = named.matmul(self, other)
        return self._with(found) if isinstance(other, Specified) else found

    def add_(self, other: Any, *, alpha: Any = 1) -> Any:
        """Add a sparse tensor in place (torch.Tensor.add_)."""
        if not isinstance(other, Specified):
            raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
        named.add_(self, other, alpha=alpha)
        return self._anew(None)

    def sub_(self, other: Any, *, alpha: Any = 1) -> Any:
        """Subtract a sparse tensor in place (torch.Tensor.sub_)."""
        return self.add_(other, alpha=-alpha)

    __iadd__, __isub__ = add_, sub_

    def copy_(self, src: Any, non_blocking: bool = False) -> Any:
        """Take the values and the places of another (torch.Tensor.copy_)."""
        named.copy_(self, src)
        return self._anew(src._places if type(src) is type(self) else None)

    def zero_(self) -> Any:
        """Specify nothing any more (torch.Tensor.zero_)."""
        named.zero_(self)
        return self._anew(None)

    def _anew(self, places: tuple[Any, ...] | None) -> Any:
        """Itself, after its values were written."""
        self._places, self._held, self._lookups = places, None, None
        return self

    # -- where values are read ---------------------------------------------------------------------

    def numpy(self, *, force: bool = False) -> NoReturn:
        """Raise TypeError, as PyTorch does."""
        raise TypeError(f"can't convert {self._kind} layout tensor to numpy. Use Tensor.to_dense() first.")

    def tolist(self) -> Any:
        """The dense values as nested lists."""
        return self.to_dense().tolist()

    def item(self) -> Any:
        """The only element; RuntimeError unless there is exactly one."""
        return self.to_dense().item()

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickles it: places and values (fetched), and the size."""
        return Specified.rebuild, (self.layout, self._parts(), self.requires_grad)

    #: makes one of a layout, parts and whether it requires a gradient; set by `sparse_methods`
    rebuild: ClassVar[Callable[..., Any]]

    def _shown_parts(self) -> Iterable[tuple[str, Any]]:
        """Names and tensors that its text shows."""
        raise NotImplementedError

    def __repr__(self) -> str:
        notes = [f"size={tuple(self.shape)}", f"nnz={self._nnz()}"]
        if self.dtype not in (dtypes.default_dtype(), dtypes.int64, dtypes.bool_, dtypes.complex64):
            notes.append(f"dtype={self.dtype}")
        notes.append(f"layout={self.layout}")
        fn = self.grad_fn
        if fn is not None:
            notes.append(f"grad_fn=<{fn.name().removeprefix('torch::autograd::')}>")
        elif self.requires_grad:
            notes.append("requires_grad=True")
        parts = [f"{name}={_indented(t, len(name) + 8)}" for name, t in self._shown_parts()]
        return _noted("tensor(" + (",\n" + 7 * " ").join(parts), notes, self._kind == "Sparse")

    __str__ = __repr__


def _indented(t: Any, by: int) -> str:
    """A dense part, without its dtype."""
    if not t.numel():
        return f"tensor([], size={tuple(t.shape)})"
    shown = t.detach()
    text = str(shown)
    note = text.rfind("dtype=")
    if note > 0:
        text = text[:note].rstrip().removesuffix(",") + ")"
    return re.sub(r"\n(?=[^\n])", "\n" + " " * by, text)


def _noted(text: str, notes: list[str], on_a_new_line: bool) -> str:
    """Append the notes, each on the last line where it fits in 80 columns, else on a line of its own."""
    used = len(text) - text.rfind("\n") + 1
    for note in notes:
        if on_a_new_line or used + len(note) + 2 > 80:
            text += ",\n" + 7 * " " + note
            used = 7 + len(note)
            on_a_new_line = False
        else:
            text += f", {note}"
            used += len(note) + 2
    return text + ")"


def _keeping(name: str) -> Callable[..., Any]:
    def keep(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._like(getattr(Tensor, name)(self, *args, **kwargs))

    keep.__name__ = keep.__qualname__ = name
    keep.__doc__ = f"As `Tensor.{name}`, and sparse."
    return keep


def _cast(name: str, dtype: Any) -> Callable[..., Any]:
    def cast(self: Any) -> Any:
        return self.to(dtype)

    cast.__name__ = cast.__qualname__ = name
    cast.__doc__ = f"As {dtype!r}, sparse."
    return cast


def zeros(size: Iterable[int], dtype: Any) -> Any:
    """A dense tensor of zeros in the current session."""
    return namespace("")["zeros"](list(size), dtype=dtype)


#: methods that do what an operator does
_OPERATORS = {
    "mul": "__mul__", "multiply": "__mul__", "div": "__truediv__", "divide": "__truediv__",
    "true_divide": "__truediv__", "pow": "__pow__", "matmul": "__matmul__", "mm": "__matmul__",
}  # fmt: skip
for _name, _operator in _OPERATORS.items():
    setattr(Specified, _name, getattr(Specified, _operator))
for _name in _KEEPING:
    setattr(Specified, _name, _keeping(_name))
for _name, _dtype in _CASTS.items():
    setattr(Specified, _name, _cast(_name, _dtype))
