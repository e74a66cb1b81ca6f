"""Tensors from bytes, and ranges that include their end, on both sides."""

from __future__ import annotations

from typing import Any

import pytest


def test_bytes_are_read_as_a_dtype(T: Any) -> None:
    data = bytearray(b"\x01\x00\x02\x00\x03\x00")
    assert T.frombuffer(data, dtype=T.int16).tolist() == [1, 2, 3]
    assert T.frombuffer(data, dtype=T.int16, count=1, offset=2).tolist() == [2]
    assert T.frombuffer(data, dtype=T.uint8).shape == (6,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"offset": 9},
            r"offset \(9 bytes\) must be non-negative and no greater than buffer length \(5 bytes\)",
        ),
        ({"count": 3}, r"requested buffer length \(3 \* 2 bytes\) after offset \(0 bytes\)"),
        ({}, r"buffer length \(5 bytes\) after offset \(0 bytes\) must be a multiple of element size \(2\)"),
        ({"count": 0}, r"both buffer length \(5\) and count \(0\) must not be 0"),
    ],
)
def test_a_buffer_of_another_size_is_refused(T: Any, options: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        T.frombuffer(bytearray(5), dtype=T.int16, **options)


def test_a_closed_range_has_its_end(T: Any) -> None:
    with pytest.warns(UserWarning, match=r"torch\.range is deprecated"):
        assert T.range(1, 2, 0.5).tolist() == [1.0, 1.5, 2.0]
    with pytest.warns(UserWarning, match="deprecated"):
        found = T.range(3, 0, -1, dtype=T.int64)
    assert (found.tolist(), found.dtype) == ([3, 2, 1, 0], T.int64)
    with (
        pytest.warns(UserWarning, match="deprecated"),
        pytest.raises(RuntimeError, match="inconsistent with step sign"),
    ):
        T.range(3, 1)
