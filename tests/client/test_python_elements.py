"""Names that scripts use beside operations: elements through Python's functions, the default generator."""

from __future__ import annotations

from typing import Any

import pytest


def test_a_function_writes_each_element(T: Any) -> None:
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.apply_(lambda v: v * 2 + 1) is x
    assert x.tolist() == [[3.0, 5.0], [7.0, 9.0]]
    assert x.map_(T.ones(2, 2), lambda a, b: a - b).tolist() == [[2.0, 4.0], [6.0, 8.0]]
    x.map2_(T.ones(2, 2), x.clone(), lambda a, b, c: a + b * c)
    assert x.tolist() == [[4.0, 8.0], [12.0, 16.0]]
    assert T.tensor([1, 2]).apply_(lambda v: v**2).tolist() == [1, 4]
    with pytest.raises(
        RuntimeError, match=r"Can't call apply_\(\) on Variable that requires grad. Use var.detach"
    ):
        T.ones(2, requires_grad=True).apply_(abs)


def test_the_default_generator(T: Any) -> None:
    T.manual_seed(7)
    assert T.default_generator.initial_seed() == T.random.default_generator.initial_seed() == 7
    state = T.default_generator.get_state()
    first = T.rand(3, generator=T.default_generator).tolist()
    T.default_generator.set_state(state)
    assert T.rand(3).tolist() == first
    T.default_generator.manual_seed(8)
    assert T.initial_seed() == 8


def test_memory_that_is_not_there_has_a_class(T: Any) -> None:
    assert issubclass(T.OutOfMemoryError, RuntimeError)
    assert T.cuda.OutOfMemoryError is T.OutOfMemoryError
    with pytest.raises(RuntimeError):
        T.ones(1 << 50).sum().item()


def test_functions_that_write(T: Any) -> None:
    x = T.tensor([-1.0, 2.0])
    assert T.relu_(x) is x
    assert T.index_put_(x, (T.tensor([0]),), T.tensor([5.0])).tolist() == [5.0, 2.0]
    assert T.resize_as_(T.ones(2), T.ones(1)).tolist() == [1.0]
