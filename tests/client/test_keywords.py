"""Arguments and functions that scripts use now and then: the same as PyTorch's."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gradd
import pytest

from tests.oracle import ITSELF, module


@pytest.fixture(params=[*ITSELF, "gradd"])
def T(request: pytest.FixtureRequest) -> Iterator[Any]:
    """`torch`, the oracle, or `gradd` with a local session as the current one: every test runs on both."""
    if request.param == "torch":
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The reduce argument of torch.scatter")
            yield module()
        return
    with gradd.connect("local:"):
        yield gradd


def _told(call: Callable[[], Any]) -> str:
    with pytest.raises((RuntimeError, TypeError)) as caught:
        call()
    return f"{type(caught.value).__name__}: {caught.value}"


def test_scatter_combines(T: Any) -> None:
    x, i = T.ones(2, 2), T.tensor([[0, 0], [0, 1]])
    s = T.tensor([[2.0, 3.0], [5.0, 7.0]])
    assert x.scatter(0, i, s, reduce="add").tolist() == [[8, 4], [1, 8]]
    assert T.scatter(x, 0, i, s, reduce="multiply").tolist() == [[10, 3], [1, 7]]
    assert x.scatter(0, i, 3.0, reduce="multiply").tolist() == [[9, 3], [1, 3]]
    assert x.clone().scatter_(0, i, value=2.0, reduce="add").tolist() == [[5, 3], [1, 3]]
    assert x.scatter_(0, i, s, reduce="add") is x
    assert x.tolist() == [[8, 4], [1, 8]]
    assert x.scatter_(0, i, src=s).tolist()[1][1] == 7
    told = _told(lambda: x.scatter(0, i, s, reduce="sum"))
    assert told == "RuntimeError: reduce argument must be either add or multiply."


def test_functions_that_write_in_place(T: Any) -> None:
    x = T.tensor([-1.0, 2.0])
    assert T.relu_(x) is x
    assert x.tolist() == [0, 2]
    assert T.resize_as_(x, T.ones(1, 1)).tolist() == [[0]]


def test_python_functions_of_elements(T: Any) -> None:
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x.apply_(lambda v: v * v) is x
    assert x.tolist() == [[1, 4], [9, 16]]
    assert x.map_(T.tensor([1.0, 2.0]), lambda a, b: a + 10 * b).tolist() == [[11, 24], [19, 36]]
    assert T.tensor([1, 2]).apply_(lambda v: v + 1.7).tolist() == [2, 3]
    assert _told(lambda: x.apply_(lambda v: "a")) == "TypeError: must be real number, not str"
    assert _told(lambda: x.apply_(3)) == "TypeError: 'int' object is not callable"
    grad = T.ones(2, requires_grad=True)
    assert _told(lambda: grad.apply_(abs)) == (
        "RuntimeError: Can't call apply_() on Variable that requires grad. Use var.detach().apply_() instead."
    )
    assert _told(lambda: T.ones(2).map_(T.ones(2, dtype=T.int64), max)) == (
        "TypeError: map_: expected torch.FloatTensor for 'other' (got torch.LongTensor)"
    )


def test_names_of_where_to_split(T: Any) -> None:
    x = T.arange(8).reshape(2, 4)
    shapes = [
        [tuple(t.shape) for t in parts]
        for parts in (
            T.tensor_split(x, sections=2, dim=1),
            x.tensor_split(indices=[1, 3], dim=1),
            T.tensor_split(x, tensor_indices_or_sections=T.tensor([1])),
            T.hsplit(x, sections=2),
            x.hsplit(indices=[1]),
            T.vsplit(x, sections=2),
        )
    ]
    assert shapes == [
        [(2, 2), (2, 2)],
        [(2, 1), (2, 2), (2, 1)],
        [(1, 4), (1, 4)],
        [(2, 2), (2, 2)],
        [(2, 1), (2, 3)],
        [(1, 4), (1, 4)],
    ]


def test_copies_by_position(T: Any) -> None:
    x = T.ones(2)
    assert x.to(T.float32, False) is x
    assert x.to(T.float32, False, True) is not x
    assert x.to("cpu", T.float32, False, True) is not x
    assert x.to(T.ones(1, dtype=T.float64), True, True).dtype is T.float64


def test_layouts_of_what_is_made(T: Any) -> None:
    x = T.ones(2, 3, 4, 5)
    last = T.channels_last
    for made in (
        T.empty(2, 3, 4, 5, memory_format=last),
        T.randint_like(x, 5, memory_format=last),
        T.rand_like(x, memory_format=last),
        T.zeros_like(x, memory_format=last),
        x.clone(memory_format=last),
    ):
        assert made.stride() == (60, 1, 15, 3)
    assert T.zeros(2, layout=T.strided, pin_memory=False).tolist() == [0, 0]
    assert x.new_zeros(2, layout=T.strided, pin_memory=False).tolist() == [0, 0]
    assert T.randint_like(x, low=2, high=3)[0, 0, 0, 0].item() == 2


def test_sparse_layouts_are_refused() -> None:
    with gradd.connect("local:"), pytest.raises(NotImplementedError, match="tensors made here are strided"):
        gradd.zeros(2, layout=gradd.sparse_coo)


def test_the_product_by_its_other_name(T: Any) -> None:
    assert T.linalg.matmul(T.eye(2), T.ones(2)).tolist() == [1, 1]


def test_probabilities_and_dtypes_by_name(T: Any) -> None:
    x = T.zeros(2, 3)
    assert x.bernoulli_(T.tensor([0.0, 1.0, 1.0])) is x
    assert x.tolist() == [[0, 1, 1], [0, 1, 1]]
    assert x.bernoulli_(p=1.0).sum().item() == 6
    assert T.ones(1).view(dtype=T.int32).tolist() == [0x3F800000]
