"""Sizes and dimensions given by their names, where they are mostly given one by one."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

CALLS: list[tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = [
    (lambda T, x: x.reshape(shape=(3, 2)), lambda T, x: x.reshape(3, 2)),
    (lambda T, x: T.reshape(input=x, shape=[6]), lambda T, x: x.reshape(6)),
    (lambda T, x: x.view(size=(6,)), lambda T, x: x.view(6)),
    (lambda T, x: x.view(dtype=T.int32), lambda T, x: x.view(T.int32)),
    (lambda T, x: x[:1].expand(size=(2, 3)), lambda T, x: x[:1].expand(2, 3)),
    (lambda T, x: x.expand(size=(-1, -1), implicit=True), lambda T, x: x),
    (lambda T, x: T.broadcast_to(x[:1], size=(2, 3)), lambda T, x: x[:1].expand(2, 3)),
    (lambda T, x: x.permute(dims=(1, 0)), lambda T, x: x.permute(1, 0)),
    (lambda T, x: x.repeat(repeats=(1, 2)), lambda T, x: x.repeat(1, 2)),
    (lambda T, x: x.tile(dims=(2,)), lambda T, x: x.tile(2)),
    (lambda T, x: x.flip(dims=(0,)), lambda T, x: x.flip(0)),
    (lambda T, x: x.clone().resize_(size=(2, 2)), lambda T, x: x.clone().resize_(2, 2)),
]


@pytest.mark.parametrize(("named", "plain"), CALLS)
def test_by_name(T: Any, named: Callable[[Any, Any], Any], plain: Callable[[Any, Any], Any]) -> None:
    x = T.arange(6.0).reshape(2, 3)
    found, wanted = named(T, x), plain(T, x)
    assert (found.shape, found.stride(), found.dtype) == (wanted.shape, wanted.stride(), wanted.dtype)
    assert T.equal(found, wanted)


def test_tensors_are_one_vector_and_are_taken_from_it(T: Any) -> None:
    private = importlib.import_module(f"{T.__name__}._utils")
    parts = [T.ones(2, 2), T.arange(3.0)]
    flat = private._flatten_dense_tensors(parts)
    assert flat.tolist() == [1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 2.0]
    again = private._unflatten_dense_tensors(flat, parts)
    assert all(T.equal(a, b) for a, b in zip(again, parts, strict=True))
