"""Frames and JSON bodies at random: each decodes to a message or is refused, and nothing else ever happens.

20,000 frames a run; `GRADD_FUZZ` sets another number.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
from collections.abc import Callable
from typing import Any

import pytest
from gradd_protocol import frames, jsonform, jsonindex, values
from gradd_protocol.messages import Batch
from gradd_protocol.problems import Malformed, ProtocolError
from gradd_protocol.program import validate
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.protocol.samples import SAMPLES

COUNT = int(os.environ.get("GRADD_FUZZ", "20000"))
FRAMES = [frames.join(frames.encode(message, buffers)) for message, buffers in SAMPLES]
HOSTILE: list[Any] = [
    None, True, -1, 0, 1, 1 << 53, (1 << 63) - 1, 1 << 63, 1 << 64, 10**400, 0.5, -0.0, 1e308, "", "x", "NaN",
    "Infinity", "@1.2", "w.grad", "%d", "..", "a" * 200, "\0", "é\U0001f600", [], {}, [[]], [0, 4], [8, 16],
    [1.0, 2.0], ["a", 0], {"t": "v", "kind": "int"}, {"t": "g", "of": 0}, {"scalar": 1}, {"type": "info"},
    {"slice": [0, None, 1]}, "float32", "F32", "complex64",
]  # fmt: skip

BODIES: list[Any] = [
    {
        "steps": [
            {"op": "matmul", "inputs": ["x", "w", None, 2, {"scalar": [1, "NaN"]}], "outputs": ["%h", None]},
            {
                "op": "cat",
                "inputs": {"tensors": ["a", "b.grad"]},
                "attrs": {"dim": 0, "p": "inf"},
                "grad": False,
            },
            {
                "op": "getitem",
                "inputs": ["x", "i"],
                "attrs": {"index": [0, {"slice": [0, 2, 1]}, {"input": 1}]},
            },
        ],
        "fetch": ["y", "w.grad"],
        "free": ["h"],
    },
    {"data": [[1.0, "NaN"], [2, -3.5]], "dtype": "float32", "shape": [2, 2], "requires_grad": True},
    {"data": [[1, 2.5], ["Infinity", 0]], "dtype": "complex64"},
    {"data": [1, "9007199254740993"], "dtype": "int64", "shape": [2, 1]},
    {"data": True, "dtype": "bool"},
    {"gradient": "g", "retain_graph": True, "create_graph": False, "inputs": ["w"]},
]


def _bend(value: Any, rng: random.Random) -> Any:
    """The value with one place in it replaced, dropped, repeated or moved."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(sorted(value))
        roll = rng.random()
        if roll < 0.1:
            return {name: item for name, item in value.items() if name != key}
        if roll < 0.2:
            return {**value, rng.choice(["x", "type", "t", key + "s"]): value[key]}
        return {**value, key: _bend(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.9:
        at = rng.randrange(len(value))
        roll = rng.random()
        if roll < 0.1:
            return value[:at] + value[at + 1 :]
        if roll < 0.2:
            return value[:at] + [value[at]] * rng.randrange(2, 70) + value[at:]
        return [*value[:at], _bend(value[at], rng), *value[at + 1 :]]
    return rng.choice(
        [item for item in HOSTILE if type(item) is type(value)] if rng.random() < 0.5 else HOSTILE
    )


def _bend_text(value: Any, rng: random.Random) -> bytes:
    for _ in range(rng.choice((1, 1, 2))):
        value = _bend(value, rng)
    return json.dumps(value).encode()


def _bend_header(frame: bytes, rng: random.Random) -> bytes:
    length = int.from_bytes(frame[:8], "little")
    text = _bend_text(json.loads(frame[8 : 8 + length]), rng)
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + frame[8 + length :]


def _bend_bytes(data: bytes, rng: random.Random) -> bytes:
    bent = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        if not bent:
            break
        at = rng.randrange(min(len(bent), 8)) if rng.random() < 0.1 else rng.randrange(len(bent))
        match rng.randrange(5):
            case 0:
                bent[at] ^= 1 << rng.randrange(8)
            case 1:
                bent[at] = rng.choice(b'\0\xff[]{}",:0 9-.eE\\')
            case 2:
                del bent[at : at + rng.randrange(1, 9)]
            case 3:
                bent[at:at] = bent[at : at + rng.randrange(1, 30)]
            case _:
                del bent[at:]
    return bytes(bent)


def _make_frame(seed: int) -> bytes:
    rng = random.Random(seed)
    frame = rng.choice(FRAMES)
    return _bend_header(frame, rng) if rng.random() < 0.7 else _bend_bytes(frame, rng)


def _make_body(seed: int) -> bytes:
    rng = random.Random(seed)
    body = rng.choice(BODIES)
    return _bend_text(body, rng) if rng.random() < 0.7 else _bend_bytes(json.dumps(body).encode(), rng)


# One integer an example: drawing structure from hypothesis would cost a hundred times what decoding does.
_seeds = st.integers(0, (1 << 64) - 1)
_heavy = settings(max_examples=COUNT, deadline=None, suppress_health_check=list(HealthCheck), database=None)


def _outcome(frame: bytes) -> bool:
    """Whether a frame decodes; what decodes must also survive what is done with it next, and come back."""
    try:
        message, buffers = frames.decode(frame)
    except Malformed:
        return False
    assert sum(buffer.nbytes for buffer in buffers) <= len(frame)
    again, views = frames.decode(frames.join(frames.encode(message, buffers)))
    assert again == message
    assert [view.tobytes() for view in views] == [buffer.tobytes() for buffer in buffers]
    if isinstance(message, Batch) and message.definition is not None:
        try:
            validate(message.definition)
            kinds = list(message.definition.values())
            for scalar, value in zip(message.values, kinds, strict=False):
                values.decode_scalar(scalar, value.kind)
            assert len(message.definition.id()) == 32
        except Malformed:
            return False
    return True


@_heavy
@given(_seeds.map(_make_frame) | st.binary(max_size=64))
def test_frames(frame: bytes) -> None:
    assert _outcome(frame) in (True, False)


def _read_data(text: bytes) -> None:
    array = jsonform.decode_data(jsonform.decode_tensor(text))
    said = jsonform.encode_results(1, 1, {"y": array})
    assert len(said) > 2
    assert array.nbytes <= 64 * len(text)


def _read_batch(text: bytes) -> None:
    for step in jsonform.decode_batch(text).steps:
        for attr in step.attrs.values():
            with contextlib.suppress(ValueError):
                jsonform.decode_float(attr)
            with contextlib.suppress(ValueError):
                jsonindex.decode_index(attr, 3)


def _status(read: Callable[[bytes], object], text: bytes) -> int:
    try:
        read(text)
    except ProtocolError as error:
        return error.problem.status
    return 200


@settings(_heavy, max_examples=COUNT // 4)
@given(_seeds.map(_make_body))
def test_bodies(text: bytes) -> None:
    readers: list[Callable[[bytes], object]] = [_read_data, _read_batch, jsonform.decode_backward]
    for read in readers:
        assert _status(read, text) in (200, 400, 422)


@pytest.mark.parametrize("make", [_make_frame, _make_body])
def test_the_generators_bend_and_do_not_only_break(make: Callable[[int], bytes]) -> None:
    """Among the generated inputs are good ones and bad ones, and they differ."""
    made = [make(seed) for seed in range(1000)]
    assert len(set(made)) > 600
    if make is _make_frame:
        good = sum(map(_outcome, made))
        assert 40 < good < 900
