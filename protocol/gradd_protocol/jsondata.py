"""Tensor data as JSON (rest-by-hand rules 8 and 9).

A JSON number is read as the nearest float64, as in PyTorch, then rounded once (to nearest even) to the
tensor's dtype. Values are written as the shortest decimal that reads back as the same value of that dtype.
"""

import itertools
import math
import re
from collections.abc import Callable
from typing import Annotated, Any, Final, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from . import dtypes, strictjson
from .limits import DEFAULT
from .problems import ProtocolError, problem
from .values import NON_FINITE, encode_real, read_real

Array: TypeAlias = npt.NDArray[Any]

_EXACT: Final = 1 << 53
_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]{0,19})")

_NUMBER_TEXT: Final = Meta(
    title="NumberText",
    description="A number that JSON has no other way to say: not finite, or an integer beyond 2^53.",
    extra_json_schema={"pattern": rf"^(?:{'|'.join(NON_FINITE)}|{_INTEGER.pattern})$"},
)
NumberText: TypeAlias = Annotated[str, _NUMBER_TEXT]
Data: TypeAlias = Annotated[
    bool | float | NumberText | Annotated[list[Any], Meta(title="DataList")],
    Meta(
        title="Data",
        description="Numbers, or `true` and `false`, nested as deep as the tensor has dimensions; that of a"
        " 0-d tensor stands alone. Complex numbers are innermost `[re, im]`.",
    ),
]
"""A tensor's data, for schemas; `decode_data` reads them."""
_Size: TypeAlias = Annotated[int, Meta(extra_json_schema={"minimum": 0})]


class TensorForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tensor to create; `data` are still raw JSON."""

    data: Annotated[Any, Meta(title="Data")]
    dtype: dtypes.DTypeName
    shape: Annotated[list[_Size], Meta(extra_json_schema={"maxItems": DEFAULT.dims})] | None = None
    """Sizes. By default the nesting of `data` gives them; with `shape`, `data` may be flat."""
    requires_grad: bool = False
    """Whether backward passes compute its gradient."""


_tensor: Final = msgspec.json.Decoder(TensorForm)


def _refuse(detail: str, pointer: str) -> ProtocolError:
    return ProtocolError(problem("invalid-data", detail, errors=[{"detail": detail, "pointer": pointer}]))


def invalid_json(detail: str) -> ProtocolError:
    """The error for a body that is not valid JSON of the right form (400)."""
    return ProtocolError.of("invalid-json", detail)


def decode_tensor(text: bytes) -> TensorForm:
    """The form in a JSON body; invalid-json (400) if it is not one. The data are not checked yet."""
    return strictjson.decode(_tensor, text, invalid_json)


def decode_data(form: TensorForm) -> Array:
    """The array that a form describes, in C order. invalid-data (422) if data, dtype and shape do not
    match.
    """
    row = dtypes.BY_NAME.get(form.dtype)
    if row is None:
        raise _refuse(f"unknown dtype {form.dtype[:32]!r}; one of {', '.join(dtypes.BY_NAME)}", "/dtype")
    flat, nested = _flatten(form.data)
    if row.kind == "complex" and flat and (not nested or nested.pop() != 2):
        raise _refuse("a complex number is [re, im]", "/data")
    shape = nested if form.shape is None else form.shape
    if len(shape) > DEFAULT.dims:
        raise _refuse(
            f"at most {DEFAULT.dims} dimensions, not {len(shape)}", "/data" if shape is nested else "/shape"
        )
    if form.shape is None:
        if not flat:
            raise _refuse("an empty tensor needs its shape", "/shape")
    else:
        _check_shape(shape, nested)
    array = _READERS[row.kind](flat, row)
    try:
        return array.reshape(shape)
    except ValueError:
        raise _refuse(f"no tensor has the shape {shape}", "/shape") from None


def _check_shape(shape: list[int], nested: list[int]) -> None:
    if any(size < 0 or size >= 1 << 63 for size in shape):
        raise _refuse("a size is neither negative nor beyond 2^63 - 1", "/shape")
    if nested == shape or (len(nested) == 1 and nested[0] == math.prod(shape)):
        return
    raise _refuse(f"data of shape {nested} for a tensor of shape {shape}", "/data")


def _flatten(data: Any) -> tuple[list[Any], list[int]]:
    """The numbers of nested lists in C order, and their shape. Works level by level, without recursion."""
    level: list[Any] = [data]
    shape: list[int] = []
    while level and isinstance(level[0], list):
        size = len(level[0])
        if not all(isinstance(item, list) and len(item) == size for item in level):
            raise _refuse("the lists of one level have different lengths", "/data")
        if len(shape) > DEFAULT.dims:
            raise _refuse(f"at most {DEFAULT.dims} dimensions", "/data")
        shape.append(size)
        level = list(itertools.chain.from_iterable(level))
    return level, shape


def _only(flat: list[Any], what: str, *types: type) -> set[type]:
    found = set(map(type, flat))
    if wrong := found.difference(types):
        words = {list: "a list beside numbers", dict: "an object", type(None): "null", str: "a string"}
        kinds = ", ".join(sorted(words.get(kind, kind.__name__) for kind in wrong))
        raise _refuse(f"{what} expected, not {kinds}", "/data")
    return found


def _read_bools(flat: list[Any], row: dtypes.WireType) -> Array:
    _only(flat, "true or false", bool)
    return np.array(flat, row.numpy)


def _read_ints(flat: list[Any], row: dtypes.WireType) -> Array:
    if str in _only(flat, "integers", int, str):
        flat = [_integer(item) for item in flat]
    info = np.iinfo(row.name)
    if flat and not (info.min <= min(flat) and max(flat) <= info.max):
        raise _refuse(f"{row.name} goes from {info.min} to {info.max}", "/data")
    return np.array(flat, row.numpy)


def _integer(item: int | str) -> int:
    if isinstance(item, int):
        return item
    if not _INTEGER.fullmatch(item):
        raise _refuse(f"{item[:32]!r} is not an integer", "/data")
    return int(item)


def _read_doubles(flat: list[Any]) -> npt.NDArray[np.float64]:
    found = _only(flat, "numbers", int, float, str)
    try:
        return np.array([read_real(item) for item in flat] if str in found else flat, np.float64)
    except OverflowError:
        raise _refuse("a number is beyond float64", "/data") from None
    except ValueError as error:
        raise _refuse(str(error), "/data") from None


def _read_floats(flat: list[Any], row: dtypes.WireType) -> Array:
    doubles = _read_doubles(flat)
    # Rounding to nearest gives infinity above the largest finite value, as it should.
    with np.errstate(over="ignore"):
        return (_to_odd(doubles) if row.name == "bfloat16" else doubles).astype(row.numpy)


def _to_odd(doubles: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """float64 to float32, rounding to odd, so that float32 to bfloat16 does not round a second time."""
    singles = doubles.astype(np.float32)
    bits = singles.view(np.uint32)
    inexact = (singles != doubles) & ~np.isnan(doubles)
    bits -= inexact & (np.abs(singles) > np.abs(doubles))
    bits |= inexact
    return singles


def _read_complex(flat: list[Any], row: dtypes.WireType) -> Array:
    with np.errstate(over="ignore"):
        return _read_doubles(flat).view(np.complex128).astype(row.numpy)


_READERS: Final[dict[str, Callable[[list[Any], dtypes.WireType], Array]]] = {
    "bool": _read_bools,
    "int": _read_ints,
    "float": _read_floats,
    "complex": _read_complex,
}


def encode_data(array: Array) -> dict[str, Any]:
    """`{"dtype", "shape", "data"}` of an array, as plain Python values for any JSON encoder.

    not-acceptable (406) if the text would exceed the limit for JSON.
    """
    row = dtypes.of(array.dtype)
    if least_text(row.name, array.size) > DEFAULT.json_bytes:
        raise too_large()
    shape = list(array.shape)
    return {"dtype": row.name, "shape": shape, "data": _WRITERS[row.kind](array, row)}


def least_text(dtype: str, count: int) -> int:
    """Bytes that so many elements have in JSON at least."""
    return _LEAST[dtypes.BY_NAME[dtype].kind] * count


#: of one, with its comma: true, 0, 0.0, [0.0,0.0]
_LEAST: Final = {"bool": 5, "int": 2, "float": 4, "complex": 10}


def too_large() -> ProtocolError:
    """The error for JSON that would be too large (406)."""
    detail = f"more than {DEFAULT.json_bytes} bytes of JSON: read the tensor in a binary form"
    return ProtocolError.of("not-acceptable", detail, limit=DEFAULT.json_bytes)


def _write_bools(array: Array, row: dtypes.WireType) -> Any:
    return array.tolist()


def _write_ints(array: Array, row: dtypes.WireType) -> Any:
    if row.itemsize < 8 or not array.size or np.all((array >= -_EXACT) & (array <= _EXACT)):
        return array.tolist()
    return _nest([v if -_EXACT <= v <= _EXACT else str(v) for v in array.ravel().tolist()], array.shape)


def _write_floats(array: Array, row: dtypes.WireType) -> Any:
    if row.name == "float64" and np.isfinite(array).all():
        return array.tolist()
    return _nest(list(map(encode_real, _shortest(array.ravel(), row))), array.shape)


def _write_complex(array: Array, row: dtypes.WireType) -> Any:
    part = dtypes.BY_NAME["float32" if row.name == "complex64" else "float64"]
    pairs = np.ascontiguousarray(array).reshape(*array.shape, 1).view(part.numpy)
    return _write_floats(pairs, part)


_WRITERS: Final[dict[str, Callable[[Array, dtypes.WireType], Any]]] = {
    "bool": _write_bools,
    "int": _write_ints,
    "float": _write_floats,
    "complex": _write_complex,
}


def _nest(flat: list[Any], shape: tuple[int, ...]) -> Any:
    nested: npt.NDArray[Any] = np.empty(len(flat), object)
    nested[:] = flat
    return nested.reshape(shape).tolist()


def _shortest(flat: Array, row: dtypes.WireType) -> list[float]:
    """For each element, the float64 whose shortest decimal is the shortest for the element's dtype."""
    if row.name == "float64":
        values: list[float] = flat.tolist()
        return values
    if row.name == "bfloat16":
        # NumPy cannot print the shortest form of bfloat16, and there are at most 65,536 distinct values.
        bits, where = np.unique(flat.view(np.uint16), return_inverse=True)
        known = [_shortest_bfloat16(float(value)) for value in bits.view(row.numpy)]
        return [known[index] for index in where.tolist()]
    return [float(str(value)) for value in flat]


def _shortest_bfloat16(value: float) -> float:
    if not math.isfinite(value):
        return value
    shorter = (float(f"{value:.{digits}g}") for digits in range(1, 5))
    exact = dtypes.BY_NAME["bfloat16"]
    return next((short for short in shorter if _read_floats([short], exact)[0] == value), value)
