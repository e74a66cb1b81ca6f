"""Data types and PyTorch's promotion lattice.

Source: https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from .state import state

if TYPE_CHECKING:
    from collections.abc import Iterable

BOOL, INT, FLOAT, COMPLEX = range(4)


class DType:
    """One element type: ``name`` as in NumPy, ``np`` the NumPy dtype, ``category`` bool < int < float <
    complex.

    ``repr`` is PyTorch's spelling (``torch.float32``), because exception messages quote it.
    """

    __slots__ = (
        "category", "is_complex", "is_floating_point", "is_half", "is_promoted", "itemsize", "name", "np",
        "tensor_type", "title",
    )  # fmt: skip

    def __init__(self, name: str, np_dtype: Any, category: int, title: str) -> None:
        self.name = name
        self.np: np.dtype[Any] = np.dtype(np_dtype)
        self.itemsize: int = self.np.itemsize
        self.category = category
        self.is_complex = category == COMPLEX
        self.is_floating_point = category == FLOAT
        #: 16-bit floats, computed in float32 and rounded once an op
        self.is_half = category == FLOAT and self.itemsize == 2
        #: promotion knows it; the newer unsigned integers are promoted with floats alone
        self.is_promoted = category != INT or name == "uint8" or name.startswith("int")
        self.title = title
        self.tensor_type = f"torch.{title}Tensor"

    @property
    def value_type(self) -> str:
        """The type of a tensor in what PyTorch's passes say: its newer dtypes have another name there."""
        newer = self.is_complex or self.name in ("bool", "bfloat16") or not self.is_promoted
        return f"CPU{self.title}Type" if newer else self.tensor_type

    @property
    def is_signed(self) -> bool:
        """False for bool and unsigned integers."""
        return self.category > INT or self.name.startswith("int")

    @property
    def differentiable(self) -> bool:
        """Only floating and complex tensors can require gradients."""
        return self.category >= FLOAT

    def to_complex(self) -> DType:
        """The complex type whose parts hold this (torch.dtype.to_complex); RuntimeError for integers."""
        if self.category < FLOAT:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.title}")
        return to_complex(self)

    def to_real(self) -> DType:
        """The type of a complex type's parts, others themselves (torch.dtype.to_real)."""
        return to_real(self)

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (by_name, (self.name,))


bool_ = DType("bool", np.bool_, BOOL, "Bool")
uint8 = DType("uint8", np.uint8, INT, "Byte")
int8 = DType("int8", np.int8, INT, "Char")
int16 = DType("int16", np.int16, INT, "Short")
int32 = DType("int32", np.int32, INT, "Int")
int64 = DType("int64", np.int64, INT, "Long")
uint16 = DType("uint16", np.uint16, INT, "UInt16")
uint32 = DType("uint32", np.uint32, INT, "UInt32")
uint64 = DType("uint64", np.uint64, INT, "UInt64")
float16 = DType("float16", np.float16, FLOAT, "Half")
bfloat16 = DType("bfloat16", ml_dtypes.bfloat16, FLOAT, "BFloat16")
float32 = DType("float32", np.float32, FLOAT, "Float")
float64 = DType("float64", np.float64, FLOAT, "Double")
complex64 = DType("complex64", np.complex64, COMPLEX, "ComplexFloat")
complex128 = DType("complex128", np.complex128, COMPLEX, "ComplexDouble")

ALL = (
    bool_, uint8, int8, int16, int32, int64, uint16, uint32, uint64, float16, bfloat16, float32, float64,
    complex64, complex128,
)  # fmt: skip
_BY_NAME = {d.name: d for d in ALL}
_BY_NP = {d.np: d for d in ALL}
#: the default dtype; read it by `default_dtype`, or here where a call costs too much
type(state).dtype = float32


#: Python's types as dtypes, which PyTorch takes in a dtype's place
BY_TYPE: dict[Any, DType] = {bool: bool_, int: int64, float: float64, complex: complex128}


def by_name(name: str) -> DType:
    """The DType of a NumPy name; KeyError when there is none."""
    return _BY_NAME[name]


def from_numpy(dtype: Any) -> DType:
    """The DType of a NumPy dtype; TypeError in PyTorch's words when there is none."""
    found = _BY_NP.get(np.dtype(dtype).newbyteorder("="))
    if found is None:
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{np.dtype(dtype).type.__name__}. The only supported "
            "types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint8, "
            "and bool."
        )
    return found


def default_dtype() -> DType:
    """The dtype of Python floats in `tensor()` and in promotion (``torch.get_default_dtype``)."""
    return state.dtype


def set_default_dtype(dtype: DType) -> None:
    """As ``torch.set_default_dtype``: floating types only; for all threads."""
    if not isinstance(dtype, DType):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if dtype.category != FLOAT:
        raise TypeError("only floating-point types are supported as the default type")
    type(state).dtype = dtype
    if "dtype" in state.__dict__:
        state.dtype = dtype


def to_complex(dtype: DType) -> DType:
    """The complex type whose parts hold `dtype`."""
    return complex128 if dtype is float64 or dtype is complex128 else complex64


def to_real(dtype: DType) -> DType:
    """The type of a complex type's parts; other types are returned as they are."""
    if dtype is complex64:
        return float32
    return float64 if dtype is complex128 else dtype


def of_number(value: bool | int | float | complex) -> DType:
    """The type a Python scalar stands for in promotion."""
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    if isinstance(value, complex):
        return to_complex(state.dtype)
    return state.dtype


def promote(a: DType, b: DType) -> DType:
    """PyTorch's lattice for two tensors of equal priority (``torch.promote_types``)."""
    if a is b:
        return a
    if not (a.is_promoted and b.is_promoted) and FLOAT not in (a.category, b.category):
        raise RuntimeError(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            f"{a.title} and {b.title}"
        )
    if a.category != b.category:
        hi, lo = (a, b) if a.category > b.category else (b, a)
        if hi.category == COMPLEX and lo is float64:
            return complex128
        return hi
    if a.category == INT:
        hi, lo = (a, b) if a.itemsize >= b.itemsize else (b, a)
        if lo.is_signed == hi.is_signed or (lo is uint8 and hi.itemsize > 1):
            return hi
        return int16
    if a.itemsize == b.itemsize:
        return float32
    return a if a.itemsize > b.itemsize else b


def _combine(higher: DType | None, lower: DType | None) -> DType | None:
    if higher is None or lower is None:
        return higher or lower
    if higher.category == COMPLEX:
        return higher
    if higher.category == FLOAT:
        return to_complex(higher) if lower.category == COMPLEX else higher
    if lower.category == COMPLEX:
        return lower
    if higher is bool_ or lower.category >= FLOAT:
        return promote(higher, lower)
    return higher


def result_type(operands: Iterable[Any]) -> DType:
    """The common type of tensors and Python scalars; dimensioned tensors outrank 0-dim ones, those outrank
    scalars.
    """
    dims: DType | None = None
    zero: DType | None = None
    number: DType | None = None
    for x in operands:
        # a numpy.float64 is a float with a dtype of its own
        dtype = None if isinstance(x, (int, float, complex)) else getattr(x, "dtype", None)
        if dtype is None:
            if x is not None:
                d = of_number(x)
                number = d if number is None else promote(number, d)
        elif x.shape:
            dims = dtype if dims is None or dims is dtype else promote(dims, dtype)
        else:
            zero = dtype if zero is None else promote(zero, dtype)
    found = _combine(dims, _combine(zero, number))
    if found is None:
        raise TypeError("result_type(): expected at least one tensor or number")
    return found


def can_cast(source: DType, target: DType) -> bool:
    """Whether an in-place result of `source` may be stored as `target` (``torch.can_cast``)."""
    return source.category <= target.category
