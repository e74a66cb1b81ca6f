"""Strict JSON: bounded size and memory, no repeated keys, one class of errors."""

import json
from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from .limits import DEFAULT
from .problems import ProtocolError

T = TypeVar("T")

_encoder: Final = msgspec.json.Encoder()


class _Repeated(ValueError):
    """An object repeats a key."""


def decode(decoder: "msgspec.json.Decoder[T]", text: bytes, refuse: Callable[[str], ProtocolError]) -> T:
    """Decode `text` with `decoder`; any error raises `refuse(detail)`.

    The size and the number of arrays and objects are checked before parsing: `[],[],...` would take thirty
    times its size in memory. Recursion is bounded by the interpreter, and by the decoder's type if that is
    finite.
    """
    if len(text) > DEFAULT.json_bytes:
        raise refuse(f"{len(text)} bytes of JSON, at most {DEFAULT.json_bytes} are allowed")
    if text.count(b"[") + text.count(b"{") > DEFAULT.json_containers:
        raise refuse(f"at most {DEFAULT.json_containers} arrays and objects are allowed")
    try:
        value = decoder.decode(text)
        # Our own encoder never repeats a key; only other writers' text needs the slow check.
        if not text.startswith(_encoder.encode(value)):
            json.loads(text, object_pairs_hook=_once)
    except RecursionError:
        raise refuse("nested too deep") from None
    except (msgspec.MsgspecError, ValueError, OverflowError) as error:
        raise refuse(str(error)) from None
    return value


def _once(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _Repeated(f"the key {key[:80]!r} stands twice in an object")
        seen.add(key)
