"""Frames that lie: each is refused as Malformed, with the reason, and takes no memory for what it claims."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from gradd_protocol import frames
from gradd_protocol.limits import DEFAULT
from gradd_protocol.problems import Malformed

STAGE = {"type": "stage", "key": "1.1"}


def build(header: Any, body: bytes = b"", length: int | None = None) -> bytes:
    """A frame of any header (a value, or its text) and any body; `length` overrides the length prefix."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return (len(text) if length is None else length).to_bytes(8, "little") + text + body


def stage(*entries: Any, body: bytes = b"") -> bytes:
    """A Stage frame with these buffer entries."""
    return build({"message": STAGE, "buffers": list(entries)}, body)


def entry(dtype: Any = "F32", shape: Any = (1,), offsets: Any = (0, 4)) -> dict[str, Any]:
    """One entry of the buffer table."""
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def deep(text: bytes, times: int = 100_000) -> bytes:
    return build(b'{"message":' + text * times)


GOOD = stage(entry(), body=bytes(4))
INFO = {"type": "info"}
BATCH = {"type": "batch", "writer": 1, "epoch": 1, "seq": 1, "ack": 0, "program": "p"}


def batch(**fields: Any) -> bytes:
    return build({"message": BATCH | fields})


HOSTILE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "at least 8 bytes"),
    "seven bytes": (bytes(7), "at least 8 bytes"),
    "header length 0": (bytes(8), "header is empty"),
    "header length 0 with a body": (bytes(64), "header is empty"),
    "header past the end": (build({"message": INFO}, length=1 << 20), "bytes long, the frame"),
    "header length 2^63": (build({"message": INFO}, length=1 << 63), "bytes long, the frame"),
    "header length 2^64-1": (build({"message": INFO}, length=(1 << 64) - 1), "bytes long, the frame"),
    "header over its limit": (build(b" " * (DEFAULT.json_bytes + 8)), "at most"),
    "header length not padded": (build(b'{"message":{"type":"info"}}', length=27), "multiple of 8"),
    "header cut": (build({"message": INFO}, length=16), "the header"),
    "header of spaces": (build(b"        "), "the header"),
    "header of zeros": (build(bytes(8)), "the header"),
    "not JSON": (build(b"\x80\x04K\x01."), "the header"),
    "byte order mark": (build(b'\xef\xbb\xbf{"message":{"type":"info"}}'), "the header"),
    "UTF-16": (build('{"message":{"type":"info"}}'.encode("utf-16")), "the header"),
    "not UTF-8": (build(b'{"message":{"type":"stage","key":"\xff"}}'), "the header"),
    "lone surrogate": (build(b'{"message":{"type":"stage","key":"\\ud800"}}'), "surrogate"),
    "surrogate in UTF-8": (build(b'{"message":{"type":"stage","key":"\xed\xa0\x80"}}'), "the header"),
    "an array": (build([]), "got `array`"),
    "null": (build(None), "got `null`"),
    "no message": (build({"buffers": []}), "missing required field `message`"),
    "message without a type": (build({"message": {}}), "missing required field `type`"),
    "unknown type": (build({"message": {"type": "eval"}}), "Invalid value"),
    "type of another type": (build({"message": {"type": 1}}), "Expected `str`"),
    "unknown field": (build({"message": INFO | {"x": 1}}), "unknown field `x`"),
    "unknown header field": (build({"message": INFO, "y": 1}), "unknown field `y`"),
    "two texts": (build(b'{"message":{"type":"info"}}{"message":{"type":"info"}}'), "trailing"),
    "key twice": (build(b'{"message":{"type":"info"},"message":{"type":"info"}}'), "'message' stands twice"),
    "key twice, escaped": (
        build(b'{"message":{"type":"get-tensor","name":"a","n\\u0061me":"b"}}'),
        "'name' stands twice",
    ),
    "bind twice": (
        build(b'{"message":' + json.dumps(BATCH).encode()[:-1] + b',"bind":{"a":1,"a":2}}}'),
        "'a' stands",
    ),
    "depth of arrays": (deep(b"["), "the header"),
    "depth of objects": (deep(b'{"a":'), "the header"),
    "depth in a program": (
        batch(definition={"inputs": 0, "steps": [{"op": "a", "inputs": [], "attrs": {"x": [[[[[1]]]]]}}]}),
        "the header",
    ),
    "many arrays": (build(b'{"message":' + b"[]," * (DEFAULT.json_containers + 1)), "arrays and objects"),
    "NaN": (build(b'{"message":{"type":"json-reply","status":NaN}}'), "the header"),
    "Infinity": (batch(values=[float("inf")]), "the header"),
    "1e400": (
        build(b'{"message":' + json.dumps(BATCH).encode()[:-1] + b',"values":[1e400]}}'),
        "out of range",
    ),
    "a 5000-digit integer": (
        build(b'{"message":{"type":"get-reply","writer":1,"seq":' + b"1" * 5000 + b"}}"),
        "out of range",
    ),
    "seq 2^63": (batch(seq=1 << 63), "the header"),
    "seq 2^64": (batch(seq=1 << 64), "the header"),
    "negative seq": (batch(seq=-1), "the header"),
    "seq as float": (batch(seq=1.0), "Expected `int`"),
    "seq as bool": (batch(seq=True), "Expected `int`"),
    "seq as text": (batch(seq="1"), "Expected `int`"),
    "value null": (batch(values=[None]), "the header"),
    "value of a word": (batch(values=["inf"]), "the header"),
    "value of three": (batch(values=[[1.0, 2.0, 3.0]]), "length <= 2"),
    "too many inputs": (batch(inputs=["a"] * (DEFAULT.batch_ids + 1)), "length"),
    "a name of 4 KiB": (build({"message": {"type": "get-tensor", "name": "a" * 4096}}), "length"),
    "buffer cut": (GOOD[:-1], "ends at 4, the data at 3"),
    "bytes after the last buffer": (GOOD + b"\0", "data end at 4, the frame's at 5"),
    "body without buffers": (build({"message": INFO}, bytes(8)), "data end at 0"),
    "overlap": (
        stage(entry(), entry(offsets=(0, 4)), body=bytes(8)),
        "buffer 1 begins at 0, not at 8",
    ),
    "hole": (stage(entry(), entry(offsets=(16, 20)), body=bytes(20)), "begins at 16, not at 8"),
    "hole at the start": (stage(entry(offsets=(8, 12)), body=bytes(12)), "begins at 8, not at 0"),
    "misaligned": (stage(entry(), entry(offsets=(4, 8)), body=bytes(8)), "begins at 4, not at 8"),
    "gap not zero": (
        stage(entry(), entry(offsets=(8, 12)), body=bytes(4) + b"evil" + bytes(4)),
        "not zero",
    ),
    "end before begin": (stage(entry(offsets=(0, -4)), body=bytes(4)), "the header"),
    "buffers in the other order": (
        stage(entry(offsets=(8, 12)), entry(offsets=(0, 4)), body=bytes(12)),
        "begins at 8",
    ),
    "span too small": (stage(entry(shape=(2,)), body=bytes(4)), "not those of its shape"),
    "span too large": (stage(entry(shape=()), body=bytes(4) * 2), "data end at 4"),
    "span of another dtype": (stage(entry("F64"), body=bytes(4)), "not those of its shape"),
    "offsets of three": (stage(entry(offsets=(0, 4, 8)), body=bytes(8)), "length 2"),
    "offset 2^63": (stage(entry(offsets=(0, 1 << 63)), body=bytes(4)), "the header"),
    "offset past the end": (stage(entry(shape=(1 << 40,), offsets=(0, 1 << 42))), "the data at 0"),
    "product overflow": (stage(entry("U8", [1 << 32, 1 << 32], (0, 0))), "not those of its shape"),
    "product overflow, twice": (stage(entry("U8", [1 << 62] * 64, (0, 0))), "not those of its shape"),
    "zero size, huge others": (stage(entry("F64", [0, 1 << 62, 1 << 62], (0, 0))), "buffer 0"),
    "negative dims": (stage(entry(shape=(-1, -1)), body=bytes(4)), "the header"),
    "dim 2^63": (stage(entry(shape=(1 << 63,)), body=bytes(4)), "the header"),
    "65 dims": (stage(entry(shape=[1] * 65), body=bytes(4)), "length"),
    "unknown dtype": (stage(entry("F8_E4M3"), body=bytes(4)), "unknown dtype 'F8_E4M3'"),
    "numpy's dtype": (stage(entry("float32"), body=bytes(4)), "unknown dtype"),
    "big-endian dtype": (stage(entry(">f4"), body=bytes(4)), "unknown dtype"),
    "object dtype": (stage(entry("O"), body=bytes(4)), "unknown dtype"),
    "dtype of 1 MB": (stage(entry("F" * 1_000_000), body=bytes(4)), "unknown dtype 'FFFFFFFFFFFFFFFF'"),
    "bool of 2": (stage(entry("BOOL", (4,)), body=b"\0\1\2\1"), "a bool is 0 or 1"),
    "too many buffers": (stage(*[entry("U8", (0,), (0, 0))] * (DEFAULT.frame_buffers + 1)), "length"),
    "missing buffer": (build({"message": STAGE}), "speaks of the buffers [0], the frame has 0"),
    "one buffer too many": (
        stage(entry(), entry(offsets=(8, 12)), body=bytes(12)),
        "speaks of the buffers [0], the frame has 2",
    ),
    "buffer nobody asked for": (build({"message": INFO, "buffers": [entry()]}, bytes(4)), "the frame has 1"),
    "upload without its buffer": (batch(uploads=[0]), "speaks of the buffers [0]"),
    "upload of a far buffer": (batch(uploads=[(1 << 63) - 1]), "speaks of the buffers"),
    "negative upload": (batch(uploads=[-1]), "the header"),
    "JSON text of floats": (
        build({"message": {"type": "put-json", "name": "w"}, "buffers": [entry()]}, bytes(4)),
        "a JSON text is a buffer of U8",
    ),
}


@pytest.mark.parametrize(("frame", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_refused_with_the_reason(frame: bytes, reason: str) -> None:
    with pytest.raises(Malformed) as caught:
        frames.decode(frame)
    problem = caught.value.problem
    assert reason in problem.detail
    assert (problem.status, problem.slug) == (400, "malformed-frame")
    assert len(problem.detail) < 400


def test_the_helper_builds_good_frames_too() -> None:
    assert frames.decode(GOOD)[1][0].tolist() == [0.0]


@pytest.mark.parametrize("name", [name for name in HOSTILE if len(HOSTILE[name][0]) < 1 << 16])
def test_no_memory_for_claims(name: str) -> None:
    """A small frame is refused within little memory, whatever sizes it claims."""
    frame, _ = HOSTILE[name]
    tracemalloc.start()
    try:
        with pytest.raises(Malformed):
            frames.decode(frame)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 64 * len(frame) + (1 << 16)


def test_memory_of_a_large_header_is_bounded() -> None:
    """The densest header that stays under the limits grows at most sixteenfold."""
    text = json.dumps({"message": BATCH}).encode()[:-2] + b',"inputs":['
    text += b'"ab",' * ((DEFAULT.json_bytes // 4 - len(text)) // 5)
    frame = build(text + b'""]}}')
    tracemalloc.start()
    try:
        with pytest.raises(Malformed, match="length"):
            frames.decode(frame)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 16 * len(frame)
