"""The safetensors layout: what is written is read, and what is malformed is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from gradd_protocol.safetensors import head, header_size, order, read_head

TENSORS = {"b": ("complex128", (2,)), "a": ("float32", (3, 1)), "flag": ("bool", ())}


def test_what_is_written_is_read() -> None:
    assert order({name: TENSORS[name] for name in ("flag", "a", "b")}) == ["b", "a", "flag"]
    first = head(TENSORS, {"who": "me"})
    total = len(first) + 32 + 12 + 1
    assert len(first) % 8 == 0
    assert header_size(first[:8], total) == len(first) - 8
    found, notes = read_head(first[8:], total)
    assert {name: (e.dtype, e.shape) for name, e in found.items()} == TENSORS
    assert [e.start - len(first) for e in found.values()] == [0, 32, 44]
    assert notes == {"who": "me", "gradd.complex128": '["b"]'}
    assert found["a"].array(bytes(12)).shape == (3, 1)


def said(**more: Any) -> dict[str, Any]:
    return {"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **more}}


@pytest.mark.parametrize(
    ("header", "why"),
    [
        (said(dtype="F4"), "which gradd does not have"),
        (said(dtype="C128"), "which gradd does not have"),
        (said(shape=[3]), "do not match its shape"),
        (said(shape=[2.0]), "no whole numbers"),
        (said(shape=[-2], data_offsets=[8, 0]), "no whole numbers"),
        (said(data_offsets=[8, 16]), "overlap or leave gaps"),
        (said(data_offsets=3), "malformed header: TypeError"),
        ({}, "no tensor or no file covers"),
        ([], "malformed header"),
        ({"x": 1}, "malformed header: TypeError"),
        ({**said(), "__metadata__": {"n": 1}}, "metadata that is not text"),
        ({**said(), "__metadata__": {"gradd.complex128": '["x"]'}}, "pairs of float64"),
    ],
)
def test_malformed_headers_are_refused(header: Any, why: str) -> None:
    text = json.dumps(header).encode()
    with pytest.raises(ValueError, match=why):
        read_head(text, 8 + len(text) + 8)


@pytest.mark.parametrize("size", [0, 1, 93, 1 << 40])
def test_lengths_that_cannot_be_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="no header of a sensible length"):
        header_size(size.to_bytes(8, "little"), 100)
