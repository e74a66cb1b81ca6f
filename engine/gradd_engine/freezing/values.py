"""Attributes and saved numbers as JSON: what JSON has stands for itself, the rest is an array with a tag."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from ..data import (
    Device,
    DType,
    MemoryFormat,
    Size,
    channels_last,
    channels_last_3d,
    contiguous_format,
    preserve_format,
)
from ..data import dtypes as known
from .rows import CannotFreeze

if TYPE_CHECKING:
    from collections.abc import Callable

_SELF = frozenset({type(None), bool, str})
#: whole numbers that every JSON reader takes
_LARGE = 1 << 63
_FORMATS = {f.name: f for f in (channels_last, channels_last_3d, contiguous_format, preserve_format)}


def encode(x: Any, other: Callable[[Any], Any]) -> Any:
    """A value as JSON; `other` says what this does not know. Raises CannotFreeze."""
    kind = type(x)
    if kind in _SELF:
        return x
    if kind is int:
        return x if -_LARGE <= x < _LARGE else ["int", str(x)]
    if kind is float:
        return x if x - x == 0 else ["float", struct.pack("<d", x).hex()]
    if kind is list or kind is tuple:
        return [kind.__name__, *(encode(e, other) for e in x)]
    if kind is Size:
        return ["size", *x]
    if isinstance(x, DType):
        return ["dtype", x.name]
    if kind is complex:
        return ["complex", encode(x.real, other), encode(x.imag, other)]
    if kind is slice:
        return ["slice", encode(x.start, other), encode(x.stop, other), encode(x.step, other)]
    if x is ...:
        return ["..."]
    if isinstance(x, MemoryFormat):
        return ["format", x.name]
    if isinstance(x, Device):
        return ["device", str(x)]
    if kind is dict:
        return ["dict", *([encode(k, other), encode(v, other)] for k, v in x.items())]
    return other(x)


def unknown(x: Any) -> Any:
    """Raises CannotFreeze: nothing says such a value."""
    raise CannotFreeze(f"a node keeps a value of class {type(x).__name__}")


def decode(x: Any, other: Callable[[str, list[Any]], Any]) -> Any:
    """The value of what `encode` gave; `other` knows the tags that this does not."""
    if type(x) is not list:
        return x
    tag, *rest = x
    match tag:
        case "list":
            return [decode(e, other) for e in rest]
        case "tuple":
            return tuple(decode(e, other) for e in rest)
        case "size":
            return Size(rest)
        case "dtype":
            return known.by_name(rest[0])
        case "float":
            return struct.unpack("<d", bytes.fromhex(rest[0]))[0]
        case "int":
            return int(rest[0])
        case "complex":
            return complex(decode(rest[0], other), decode(rest[1], other))
        case "slice":
            return slice(*(decode(e, other) for e in rest))
        case "...":
            return ...
        case "format":
            return _FORMATS[rest[0]]
        case "device":
            return Device(rest[0])
        case "dict":
            return {decode(k, other): decode(v, other) for k, v in rest}
    return other(tag, rest)
