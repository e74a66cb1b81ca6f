"""Gradient edges, stand-ins and pictures of graphs without a session; tests/semantics has a session's."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from gradd_engine import backward as entry
from gradd_engine import graph_dump as picture
from gradd_engine.backward.edges import GradientEdge, edge, edge_behind, get_gradient_edge, stand_in
from gradd_engine.ops.shared.constants import tensor
from gradd_engine.schema.registry import named


def leaf(values: Any) -> Any:
    return tensor(values, requires_grad=True)


def test_a_stand_in_has_one_element_of_memory() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    t = edge(x * 2)
    assert (tuple(t.shape), t.strides, t._storage.nbytes) == ((2, 2), (0, 0), x.element_size())
    assert t.requires_grad
    assert t.is_leaf


def test_a_stand_in_keeps_the_graph_and_not_the_tensor() -> None:
    x = leaf([1.0, 2.0])
    y = x * x
    node, gone = weakref.ref(y._fn), weakref.ref(y)
    t = edge(y)
    del y
    gc.collect()
    assert gone() is None
    entry.backward([t], [named.ones_like(x)])
    assert x.grad.array.tolist() == [2.0, 4.0]
    del t
    gc.collect()
    assert node() is None


def test_the_way_behind_an_edge() -> None:
    x = leaf([1.0, 2.0])
    t = edge((x * x).exp())
    inner = edge_behind(t, [0])
    assert inner._stands().node.name() == "MulBackward0"
    assert edge_behind(t, [0, 1])._stands().node.variable is x
    for path in ([7], [-1], [0, 0, 0]):
        with pytest.raises(RuntimeError, match="no gradient goes through slot"):
            edge_behind(t, path)
    with pytest.raises(RuntimeError, match="has no output 3"):
        edge_behind(t, [], output_nr=3)
    with pytest.raises(RuntimeError, match="does not require gradients"):
        edge(tensor([1.0]))


def test_behind_a_written_view() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    y = x * 1
    y[0].mul_(leaf([5.0, 6.0]))
    first, second = (edge_behind(edge(y), [slot]) for slot in (0, 1))
    assert tuple(first.shape) == (2, 2)
    assert tuple(second.shape) == (2,)


def test_edges_without_a_session() -> None:
    x = leaf([1.0, 2.0])
    a, b = x.unbind()
    found = get_gradient_edge(b)
    assert found == GradientEdge(a.grad_fn, 1)
    assert entry.grad(GradientEdge(a.grad_fn, 1), x)[0].array.tolist() == [0.0, 1.0]
    ((behind, nr),) = a.grad_fn.next_functions
    assert tuple(stand_in(behind, nr).shape) == (2,)
    assert a.grad_fn(tensor(1.0), None).array.tolist() == [1.0, 0.0]
    unseen = (x * x)._fn
    with pytest.raises(RuntimeError, match="is not known"):
        stand_in(unseen)


def test_a_picture_is_plain_data() -> None:
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    graph = picture.graph_of(y, lambda t: "x" if t is x else None)
    assert [n["name"] for n in graph["nodes"]] == [
        "SumBackward0",
        "MulBackward0",
        "torch::autograd::AccumulateGrad",
    ]
    assert graph["nodes"][1]["saved"] == [
        {"name": name, "shape": [2], "dtype": "float32", "bytes": 8} for name in ("other", "self")
    ]
    assert [(e["from"], e["slot"], e["to"]) for e in graph["edges"]] == [(0, 0, 1), (1, 0, 2), (1, 1, 2)]
    assert graph["nodes"][2]["leaf"]["tensor"] == "x"
    assert not graph["truncated"]


def test_names_in_dot_are_quoted() -> None:
    graph = picture.graph_of(leaf([1.0]), lambda t: 'a"b\\c')
    assert 'label="AccumulateGrad a\\"b\\\\c' in picture.dot(graph)


@pytest.mark.parametrize(
    ("nbytes", "said"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 << 40, "3072.0 GiB")]
)
def test_sizes(nbytes: int, said: str) -> None:
    assert picture.size(nbytes) == said
