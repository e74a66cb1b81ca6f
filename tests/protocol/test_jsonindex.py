"""The index of `getitem` and `index_put_` in JSON: rule 5 of docs/rest.md."""

from __future__ import annotations

from typing import Any

import pytest
from gradd_protocol.jsonindex import InputRef, decode_index


def test_index() -> None:
    said = [-1, True, None, "...", {"slice": [0, None, -2]}, {"input": 1}, {"input": 2}]
    assert decode_index(said, 3) == [-1, True, None, ..., slice(0, None, -2), InputRef(1), InputRef(2)]
    assert decode_index([], 1) == []


@pytest.mark.parametrize(
    ("attr", "reason"),
    [
        (None, "index is a list"),
        (1, "index is a list"),
        ({"slice": [0, 1, 1]}, "index is a list"),
        ([0] * 129, "at most 128 entries"),
        ([1.0], "an entry of index"),
        (["x"], "an entry of index"),
        ([[0]], "an entry of index"),
        ([{}], "an entry of index"),
        ([{"slice": [0, 1]}], "an entry of index"),
        ([{"slice": [0, 1, 1], "input": 1}], "an entry of index"),
        ([{"slice": [0.0, 1, 1]}], "integers or null"),
        ([{"slice": [True, 1, 1]}], "integers or null"),
        ([{"slice": [0, 1 << 63, 1]}], "int64"),
        ([{"input": 0}], "1 to 2"),
        ([{"input": 3}], "1 to 2"),
        ([{"input": True}], "an entry of index"),
        ([{"input": 1, "x": 2}], "an entry of index"),
        ([1 << 63], "int64"),
        (["...", 0, "..."], "single ellipsis"),
    ],
)
def test_index_refused(attr: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        decode_index(attr, 3)
