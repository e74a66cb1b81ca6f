"""Data types by the standard: `astype`, `can_cast`, `finfo`, `iinfo`, `isdtype`, `result_type`.

https://data-apis.org/array-api/latest/API_specification/data_type_functions.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.data import dtypes

from .._surface import finfo as _finfo
from .._surface import iinfo as _iinfo
from .._tensor import Tensor

if TYPE_CHECKING:
    from gradd_engine.data import DType

#: the dtypes of the standard that have its promotion, by kind: PyTorch promotes no unsigned ones but uint8
KINDS: dict[str, tuple[DType, ...]] = {
    "bool": (dtypes.bool_,),
    "signed integer": (dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
    "unsigned integer": (dtypes.uint8,),
    "real floating": (dtypes.float32, dtypes.float64),
    "complex floating": (dtypes.complex64, dtypes.complex128),
}
KINDS["integral"] = KINDS["signed integer"] + KINDS["unsigned integer"]
KINDS["numeric"] = KINDS["integral"] + KINDS["real floating"] + KINDS["complex floating"]
_NUMBERS = (bool, int, float, complex)


def astype(x: Tensor, dtype: DType, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """`x` converted to `dtype`; `x` itself if it has it and `copy` is False."""
    return x.to(dtype, copy=copy)


def isdtype(dtype: DType, kind: DType | str | tuple[Any, ...]) -> bool:
    """Whether `dtype` is of a kind: a dtype, a name such as "integral", or one of several. ValueError for an
    unknown name.
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if not isinstance(kind, str):
        return dtype == kind
    if kind not in KINDS:
        raise ValueError(f"isdtype(): unknown kind {kind!r}")
    half = kind in ("real floating", "numeric") and dtype.is_half
    return half or dtype in KINDS[kind]


def promoted(*given: Any) -> DType:
    """The dtype of an operation on arrays, dtypes and Python numbers. Unlike PyTorch's, an array without
    dimensions counts like any other.
    """
    found: DType | None = None
    for x in given:
        if not isinstance(x, _NUMBERS):
            dtype = x.dtype if isinstance(x, Tensor) else x
            found = dtype if found is None else dtypes.promote(found, dtype)
    numbers = [x for x in given if isinstance(x, _NUMBERS)]
    if found is None:
        if not numbers:
            raise ValueError("result_type() needs at least one array or dtype")
        return dtypes.result_type(numbers)
    for number in numbers:
        kind = dtypes.of_number(number)
        if kind.category > found.category:
            if kind.category == dtypes.COMPLEX and found.category == dtypes.FLOAT:
                kind = dtypes.to_complex(found)
            found = kind
    return found


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype of an operation on these arrays, dtypes and Python numbers."""
    return promoted(*arrays_and_dtypes)


def can_cast(from_: Tensor | DType, to: DType, /) -> bool:
    """Whether promotion leads from one dtype to the other."""
    given = from_.dtype if isinstance(from_, Tensor) else from_
    return dtypes.promote(given, to) is to


class _FloatLimits:
    """``bits``, ``eps``, ``max``, ``min``, ``smallest_normal`` and ``dtype`` of a floating dtype."""

    def __init__(self, dtype: DType) -> None:
        found = _finfo(dtype)
        self.bits, self.eps, self.max, self.min = found.bits, found.eps, found.max, found.min
        self.smallest_normal = found.smallest_normal
        self.dtype = dtypes.to_real(dtype)


class _IntegerLimits:
    """``bits``, ``max``, ``min`` and ``dtype`` of an integer dtype."""

    def __init__(self, dtype: DType) -> None:
        found = _iinfo(dtype)
        self.bits, self.max, self.min, self.dtype = found.bits, found.max, found.min, dtype


def finfo(type: Tensor | DType, /) -> _FloatLimits:
    """The limits of a floating dtype, or of an array's; of a complex one, those of its parts."""
    return _FloatLimits(type.dtype if isinstance(type, Tensor) else type)


def iinfo(type: Tensor | DType, /) -> _IntegerLimits:
    """The limits of an integer dtype, or of an array's."""
    return _IntegerLimits(type.dtype if isinstance(type, Tensor) else type)
