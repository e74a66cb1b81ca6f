"""Frames: a message and its buffers as bytes, in safetensors' layout.

    u64 LE length of the header | JSON header, padded with spaces | buffers

The header is `{"message": {...}, "buffers": [{"dtype": "F32", "shape": [2], "data_offsets": [begin, end]}]}`.
The data start at a multiple of 8, and offsets count from there. Each buffer begins where the previous one
ended, rounded up to 8 and padded with zeros; the frame ends with the last buffer. HTTP bodies, stream
messages and journal records all use these bytes.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, TypeAlias, TypeVar, cast

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from . import dtypes, strictjson
from .limits import DEFAULT
from .messages import (
    BackwardJson,
    Batch,
    BatchReply,
    JsonBatch,
    JsonReply,
    Message,
    PutHook,
    PutJson,
    PutTensor,
    Reply,
    Request,
    Stage,
    TensorReply,
    TensorsReply,
)
from .problems import Malformed

Array: TypeAlias = npt.NDArray[Any]
RawBuffer: TypeAlias = tuple[str, Sequence[int], "bytes | bytearray | memoryview"]
"""(NumPy dtype name, shape, little-endian C-order bytes)."""
Buffer: TypeAlias = Array | RawBuffer
Part: TypeAlias = bytes | memoryview
"""Bytes, or a view of bytes."""
Bytes: TypeAlias = bytes | bytearray | memoryview

_Offset: TypeAlias = Annotated[int, Meta(ge=0, le=(1 << 63) - 1)]


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    dtype: str
    shape: Annotated[list[_Offset], Meta(max_length=DEFAULT.dims)]
    data_offsets: tuple[_Offset, _Offset]


_Entries: TypeAlias = Annotated[list[_Entry], Meta(max_length=DEFAULT.frame_buffers)]


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    message: Message
    buffers: _Entries = []


class _RequestHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    message: Request
    buffers: _Entries = []


class _ReplyHeader(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    message: Reply
    buffers: _Entries = []


_AnyHeader = TypeVar("_AnyHeader", _Header, _RequestHeader, _ReplyHeader)

_encoder: Final = msgspec.json.Encoder()
_any: Final = msgspec.json.Decoder(_Header)
_request: Final = msgspec.json.Decoder(_RequestHeader)
_reply: Final = msgspec.json.Decoder(_ReplyHeader)
_ZEROS: Final = bytes(8)


def encode(message: Message, buffers: Iterable[Buffer] = ()) -> list[Part]:
    """The frame in parts, to be sent in order (or `join`ed).

    Contiguous little-endian arrays are not copied: their parts are views. Raises TypeError for a dtype that
    the wire does not have, ValueError for a raw buffer whose size does not match its shape.
    """
    entries: list[_Entry] = []
    parts: list[Part] = [b""]
    end = 0
    for buffer in buffers:
        row, shape, data = _raw(buffer) if isinstance(buffer, tuple) else _array(buffer)
        if gap := -end % 8:
            parts.append(_ZEROS[:gap])
        begin = end + gap
        end = begin + data.nbytes
        entries.append(_Entry(row.code, shape, (begin, end)))
        parts.append(data)
    header = _encoder.encode(_Header(message, entries))
    length = (len(header) + 7) & -8
    parts[0] = length.to_bytes(8, "little") + header.ljust(length)
    return parts


def join(parts: Sequence[Part]) -> bytes:
    """The parts of a frame as one bytes object."""
    return parts[0] if len(parts) == 1 and isinstance(parts[0], bytes) else b"".join(parts)


def size(parts: Sequence[Part]) -> int:
    """The frame's length in bytes."""
    return sum(map(len, parts))


def header_bytes(frame: Bytes) -> int:
    """The length of a frame's JSON header in bytes."""
    return int.from_bytes(frame[:8], "little")


def extents(frame: Bytes) -> list[tuple[int, int]]:
    """Where the buffers of a valid frame begin and end."""
    length = header_bytes(frame)
    header = _any.decode(bytes(frame[8 : 8 + length]))
    data = 8 + length
    return [(data + begin, data + end) for begin, end in (e.data_offsets for e in header.buffers)]


def decode(data: Bytes) -> tuple[Message, list[Array]]:
    """A frame's message and buffers; the buffers are read-only views of `data`. Raises Malformed."""
    header, body = _decode(_any, data)
    return header.message, _fitting(header.message, _views(header.buffers, body))


def decode_request(data: Bytes) -> tuple[Request, list[Array]]:
    """`decode`, for a frame that must hold a request."""
    header, body = _decode(_request, data)
    return header.message, _fitting(header.message, _views(header.buffers, body))


def decode_reply(data: Bytes) -> tuple[Reply, list[Array]]:
    """`decode`, for a frame that must hold a reply."""
    header, body = _decode(_reply, data)
    return header.message, _fitting(header.message, _views(header.buffers, body))


def text_buffer(text: bytes) -> RawBuffer:
    """JSON text as a buffer."""
    return "uint8", (len(text),), text


def text_of(buffer: Array) -> bytes:
    """The JSON text in a buffer. Raises Malformed for any other buffer."""
    _check_text(buffer)
    return buffer.tobytes()


def _raw(buffer: RawBuffer) -> tuple[dtypes.WireType, list[int], memoryview]:
    name, shape, data = buffer
    row = dtypes.BY_NAME.get(name)
    if row is None:
        raise TypeError(f"dtype {name} does not cross the wire; one of {', '.join(dtypes.BY_NAME)} does")
    view = memoryview(data).cast("B")
    if math.prod(shape) * row.itemsize != view.nbytes:
        raise ValueError(f"{view.nbytes} bytes are not those of shape {list(shape)} and dtype {name}")
    return row, list(shape), view


def _array(array: Array) -> tuple[dtypes.WireType, list[int], memoryview]:
    row = dtypes.BY_NUMPY.get(array.dtype)
    if row is None:  # in another order of bytes, if it crosses the wire at all
        row = dtypes.of(array.dtype)
        array = array.astype(row.numpy)
    # Through bytes: memoryview knows neither bfloat16 nor a 0-d cast.
    flat = np.ascontiguousarray(array).reshape(-1)
    return row, list(array.shape), flat.view(np.uint8).data


def _decode(decoder: "msgspec.json.Decoder[_AnyHeader]", data: Bytes) -> tuple[_AnyHeader, memoryview]:
    frame = memoryview(data).cast("B")
    length = int.from_bytes(frame[:8], "little")
    end = 8 + length
    if not 8 < end <= len(frame) or length > DEFAULT.json_bytes or length % 8:
        raise _misfit(length, len(frame))
    return strictjson.decode(decoder, bytes(frame[8:end]), _malformed), frame[end:]


def _misfit(length: int, size: int) -> Malformed:
    """Why a header of that length is none, in a frame of that size."""
    if size < 8:
        return Malformed("a frame has at least 8 bytes")
    if length == 0:
        return Malformed("the header is empty")
    if length > size - 8:
        return Malformed(f"the header is {length} bytes long, the frame {size}")
    if length > DEFAULT.json_bytes:
        return Malformed(f"a header has at most {DEFAULT.json_bytes} bytes")
    return Malformed("the header's length is not a multiple of 8")


def _malformed(detail: str) -> Malformed:
    return Malformed(f"the header: {detail}")


def _views(entries: list[_Entry], body: memoryview) -> list[Array]:
    views: list[Array] = []
    end = 0
    for index, entry in enumerate(entries):
        row = dtypes.BY_CODE.get(entry.dtype)
        if row is None:
            raise Malformed(f"buffer {index}: unknown dtype {entry.dtype[:16]!r}")
        begin, stop = entry.data_offsets
        start = end + -end % 8
        if begin != start:
            raise Malformed(f"buffer {index} begins at {begin}, not at {start}")
        if stop < begin or stop > len(body):
            raise Malformed(f"buffer {index} ends at {stop}, the data at {len(body)}")
        if math.prod(entry.shape) * row.itemsize != stop - begin:
            raise Malformed(f"buffer {index}: {stop - begin} bytes are not those of its shape and dtype")
        if body[end:begin] != _ZEROS[: begin - end]:
            raise Malformed(f"buffer {index}: the bytes before it are not zero")
        views.append(_view(row, entry.shape, body[begin:stop], index))
        end = stop
    if end != len(body):
        raise Malformed(f"the data end at {end}, the frame's at {len(body)}")
    return views


_TEXTS: Final = (JsonBatch, PutJson, PutHook, BackwardJson, JsonReply)
_TENSORS: Final = (PutTensor, Stage, TensorReply)


def _fitting(message: Message, views: list[Array]) -> list[Array]:
    """The buffers, after checking that they match the message."""
    if isinstance(message, Batch):
        if not message.uploads and not views:
            return views
        spoken = {upload for upload in message.uploads if isinstance(upload, int)}
    elif isinstance(message, BatchReply):
        spoken = {result.buffer for result in message.results if result.buffer is not None}
    elif isinstance(message, TensorsReply):
        spoken = set(range(len(message.infos) - message.infos.count(None)))
    else:
        spoken = {0} if isinstance(message, _TEXTS + _TENSORS) else set()
    if spoken != set(range(len(views))):
        raise Malformed(f"the message speaks of the buffers {sorted(spoken)[:8]}, the frame has {len(views)}")
    if isinstance(message, _TEXTS):
        _check_text(views[0])
    return views


def _check_text(buffer: Array) -> None:
    if buffer.dtype != np.uint8 or buffer.ndim != 1:
        raise Malformed("a JSON text is a buffer of U8 in one dimension")


def _view(row: dtypes.WireType, shape: list[int], data: memoryview, index: int) -> Array:
    flat = np.frombuffer(data, np.uint8)
    if row.kind == "bool" and flat.size and flat.max() > 1:
        raise Malformed(f"buffer {index}: a bool is 0 or 1")
    try:
        view = cast(Array, flat.view(row.numpy).reshape(shape))
    except ValueError as error:
        raise Malformed(f"buffer {index}: {error}") from None
    view.flags.writeable = False
    return view
