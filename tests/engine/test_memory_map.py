"""What holds memory: kinds, labels and holders, views as one block, and graphs that stay folded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from gradd_engine import backward as api
from gradd_engine.backends.array import NUMPY
from gradd_engine.data import RandomStream
from gradd_engine.data.state import ambient
from gradd_engine.memory_map import MOST_HOLDERS, MemoryBlock, MemoryMap
from gradd_engine.tensor import Tensor

from tests.engine.programs import PUBLIC


@pytest.fixture(autouse=True)
def backend() -> Iterator[None]:
    with ambient(backend=NUMPY, generator=RandomStream(0), grad=True):
        yield


def op(name: str, *inputs: Any, **attrs: Any) -> Any:
    return PUBLIC["", name](*inputs, **attrs)


def blocks(**roots: Tensor) -> dict[str, MemoryBlock]:
    """By label; ``at_3`` is a client's handle ``@3``."""
    found = MemoryMap((name.replace("at_", "@"), t) for name, t in roots.items())
    assert not found.truncated
    return {block.label: block for block in found.blocks}


def leaf(*shape: int) -> Tensor:
    made = op("ones", size=shape)
    made._requires_grad = True
    return made  # type: ignore[no-any-return]


def test_a_named_leaf_its_gradient_and_what_a_graph_saved() -> None:
    w, x = leaf(3, 2), op("ones", size=(3, 2))
    y = op("exp", op("mul", w, x))
    api.backward([op("sum", op("mul", w, w))])
    found = blocks(w=w, y=y, at_1=x)
    assert {label: (b.kind, b.bytes) for label, b in found.items()} == {
        "w": ("leaf", 24), "y": ("result", 24), "@1": ("tensor", 24), "w.grad": ("gradient", 24),
    }  # fmt: skip
    assert found["w"].shape == [3, 2]
    assert found["w"].dtype == "float32"
    assert set(found["w"].holders) == {"w", "the graph, as a leaf"}
    assert found["@1"].holders == ["@1", "saved by MulBackward0"]
    assert found["y"].holders == ["y", "saved by ExpBackward0"]


def test_what_only_a_graph_holds_is_called_by_who_saved_it() -> None:
    w = leaf(4)
    y = op("sum", op("exp", op("mul", w, 2.0)))
    found = blocks(w=w, at_7=y)
    assert found["saved by ExpBackward0"].kind == "saved"
    assert found["saved by ExpBackward0"].bytes == 16
    assert found["SumBackward0"].holders == ["@7"]


def test_a_handle_to_a_gradient_is_no_tensor_of_its_own() -> None:
    w = leaf(4)
    api.backward([op("sum", op("mul", w, w))])
    found = blocks(w=w, at_9=w._grad)
    assert found["w.grad"].holders == ["@9", "w.grad"]
    assert set(found) == {"w", "w.grad"}


def test_views_are_one_block_of_its_whole_size() -> None:
    x = op("ones", size=(10, 2))
    found = blocks(x=x, row=op("select", x, dim=0, index=1), at_2=op("transpose", x, dim0=0, dim1=1))
    assert [(b.label, b.bytes, b.holders) for b in found.values()] == [("x", 80, ["x", "row", "@2"])]


def test_a_block_names_so_many_holders_and_counts_the_others() -> None:
    x = op("ones", size=(2,))
    block = blocks(**{f"n{n}": x for n in range(MOST_HOLDERS + 5)})["n0"]
    assert len(block.holders) == MOST_HOLDERS
    assert block.more == 5


def test_a_long_holder_is_named_once() -> None:
    row = op("select", op("ones", size=(10, 2)), dim=0, index=1)
    assert blocks(**{"n" * 200: row})["n" * 160].holders == ["n" * 160]


def test_so_much_is_looked_at_and_no_more() -> None:
    w = leaf(2)
    y = w
    for _ in range(50):
        y = op("mul", y, 1.5)
    assert MemoryMap([("y", y)], most=10).truncated
    assert not MemoryMap([("y", y)], most=1000).truncated


def test_a_long_chain_of_gradients_is_no_deep_call() -> None:
    first = leaf(1)
    t = first
    for _ in range(3000):
        t._grad = leaf(1)
        t = t._grad
    found = MemoryMap([("x", first)])
    assert len(found.blocks) == 3001
    assert max(len(block.label) for block in found.blocks) <= 160
