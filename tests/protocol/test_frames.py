"""Frames: round trips, layout, no copies."""

from __future__ import annotations

import json
import typing
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from gradd_protocol import dtypes, frames, messages
from gradd_protocol.problems import Malformed

from tests.protocol.samples import BATCH, F32, SAMPLES, Arrays


def _array(row: dtypes.WireType, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    count = int(np.prod(shape))
    return (np.arange(count) % 2 if row.kind == "bool" else np.arange(count)).astype(row.numpy).reshape(shape)


def _header(frame: bytes) -> dict[str, Any]:
    length = int.from_bytes(frame[:8], "little")
    header: dict[str, Any] = json.loads(frame[8 : 8 + length])
    return header


@pytest.mark.parametrize(("message", "buffers"), SAMPLES, ids=lambda value: type(value).__name__)
def test_every_message_comes_back(message: messages.Message, buffers: Arrays) -> None:
    frame = frames.join(frames.encode(message, buffers))
    again, views = frames.decode(frame)
    assert again == message
    assert [(view.dtype, view.shape, view.tobytes()) for view in views] == [
        (array.dtype, array.shape, array.tobytes()) for array in buffers
    ]


def test_the_samples_are_all_messages() -> None:
    assert {type(message) for message, _ in SAMPLES} == set(typing.get_args(messages.Message))


@pytest.mark.parametrize(("message", "buffers"), SAMPLES, ids=lambda value: type(value).__name__)
def test_requests_are_not_replies(message: messages.Message, buffers: Arrays) -> None:
    frame = frames.join(frames.encode(message, buffers))
    is_request = isinstance(message, typing.get_args(messages.Request))
    right, wrong = frames.decode_request, frames.decode_reply
    if not is_request:
        right, wrong = wrong, right  # type: ignore[assignment]
    assert right(frame)[0] == message
    with pytest.raises(Malformed, match="type"):
        wrong(frame)


@pytest.mark.parametrize("row", dtypes.TABLE, ids=lambda row: row.name)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3), (1,) * 64])
def test_every_dtype_and_shape(row: dtypes.WireType, shape: tuple[int, ...]) -> None:
    array = _array(row, shape)
    frame = frames.join(frames.encode(messages.Stage("1.1"), [array]))
    view = frames.decode(frame)[1][0]
    assert view.dtype == row.numpy
    assert view.shape == shape
    assert view.tobytes() == array.tobytes()
    assert _header(frame)["buffers"][0]["dtype"] == row.code


def test_layout() -> None:
    """Little-endian length, header padded to 8 with spaces, buffers at multiples of 8 with zeros between."""
    buffers = [np.array([True, False, True]), np.array([1, 2], np.int16), np.array([1.0])]
    batch = messages.Batch(writer=1, epoch=1, seq=1, ack=0, program="p", uploads=[0, 1, 2])
    frame = frames.join(frames.encode(batch, buffers))
    length = int.from_bytes(frame[:8], "little")
    assert length % 8 == 0
    assert frame[8 : 8 + length].rstrip(b" ")[-1:] == b"}"
    assert [entry["data_offsets"] for entry in _header(frame)["buffers"]] == [[0, 3], [8, 12], [16, 24]]
    assert frame[8 + length :] == b"\1\0\1" + bytes(5) + b"\1\0\2\0" + bytes(4) + np.float64(1).tobytes()


def test_defaults_stay_off_the_wire() -> None:
    assert _header(frames.join(frames.encode(messages.Info())))["message"] == {"type": "info"}


def test_large_arrays_are_not_copied() -> None:
    array = np.arange(1000.0)
    parts = frames.encode(messages.Stage("1.1"), [array])
    assert np.shares_memory(np.frombuffer(parts[-1], np.uint8), array)
    assert frames.size(parts) == len(frames.join(parts))


def test_decoded_buffers_are_read_only_views() -> None:
    frame = bytearray(frames.join(frames.encode(messages.Stage("1.1"), [F32])))
    view = frames.decode(frame)[1][0]
    assert np.shares_memory(view, np.frombuffer(frame, np.uint8))
    assert not view.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 9.0


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_any_bytes_will_do(wrap: Any) -> None:
    frame = frames.join(frames.encode(BATCH, [F32, F32]))
    assert frames.decode(wrap(frame))[0] == BATCH


def test_bytes_at_an_odd_address_will_do() -> None:
    frame = b"?" + frames.join(frames.encode(messages.Stage("1.1"), [F32]))
    assert frames.decode(memoryview(frame)[1:])[1][0].tolist() == F32.tolist()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4).T,
        np.arange(12.0)[::-2],
        np.broadcast_to(np.float64(3), (2, 2)),
        np.arange(3, dtype=">i4"),
        np.array(7, ">f8"),
        np.arange(4, dtype=ml_dtypes.bfloat16)[::2],
    ],
    ids=["transposed", "strided", "broadcast", "big-endian", "big-endian 0-d", "strided bfloat16"],
)
def test_what_is_not_plain_is_made_so(array: npt.NDArray[Any]) -> None:
    view = frames.decode(frames.join(frames.encode(messages.Stage("1.1"), [array])))[1][0]
    assert view.dtype == array.dtype.newbyteorder("<")
    assert view.tolist() == array.tolist()


@pytest.mark.parametrize("dtype", ["U3", "O", "M8[s]", "V4", "float128", [("a", "f4")]])
def test_dtypes_that_do_not_cross(dtype: Any) -> None:
    with pytest.raises(TypeError, match="does not cross the wire"):
        frames.encode(messages.Stage("1.1"), [np.zeros(2, dtype)])


def test_raw_buffers() -> None:
    raw = ("float32", (2, 1), memoryview(np.array([1, 2], np.float32)))
    assert frames.decode(frames.join(frames.encode(messages.Stage("1.1"), [raw])))[1][0].tolist() == [
        [1],
        [2],
    ]
    with pytest.raises(ValueError, match="8 bytes are not those of shape"):
        frames.encode(messages.Stage("1.1"), [("float32", (3,), bytes(8))])
    with pytest.raises(TypeError, match="float8 does not cross"):
        frames.encode(messages.Stage("1.1"), [("float8", (3,), bytes(3))])


def test_texts() -> None:
    frame = frames.join(frames.encode(messages.PutJson("w"), [frames.text_buffer(b"{}")]))
    assert frames.text_of(frames.decode(frame)[1][0]) == b"{}"
    with pytest.raises(Malformed, match="U8"):
        frames.text_of(F32)


def test_json_of_other_writers() -> None:
    """Whitespace, order of keys, escapes and defaults written out are all the same message."""
    text = b' {"buffers" : [] ,\n "message" : {"name": "\\u0077", "type" : "get-tensor"}}'
    text += b" " * (-len(text) % 8)
    assert frames.decode(len(text).to_bytes(8, "little") + text) == (messages.GetTensor("w"), [])
