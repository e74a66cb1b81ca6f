"""Sparse tensors in coordinate format: as PyTorch's in what they say, dense behind it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import gradd
import pytest

from tests.oracle import ITSELF, module


@pytest.fixture(params=[*ITSELF, "gradd"])
def T(request: pytest.FixtureRequest) -> Iterator[Any]:
    """`torch`, the oracle, or `gradd` with a local session as the current one: every test runs on both."""
    if request.param == "torch":
        yield module()
        return
    with gradd.connect("local:"):
        yield gradd


def _made(T: Any, grad: bool = False) -> tuple[Any, Any]:
    values = T.tensor([3.0, 4.0, 5.0], requires_grad=grad)
    return T.sparse_coo_tensor(T.tensor([[0, 1, 1], [2, 0, 2]]), values, (2, 3)), values


#: PyTorch says that some of it is new, and some old
pytestmark = pytest.mark.filterwarnings("ignore:.*[Ss]parse:UserWarning")
SHOWN = """tensor(indices=tensor([[0, 1, 1],
                       [2, 0, 2]]),
       values=tensor([3., 4., 5.]),
       size=(2, 3), nnz=3, layout=torch.sparse_coo)"""


def test_what_it_says(T: Any) -> None:
    s, _ = _made(T)
    assert (s.is_sparse, s.layout, s._nnz(), s.is_coalesced()) == (True, T.sparse_coo, 3, False)
    assert (s.sparse_dim(), s.dense_dim(), tuple(s.shape), s.dtype) == (2, 0, (2, 3), T.float32)
    assert repr(s) == str(s) == SHOWN
    assert s.to_dense().tolist() == [[0.0, 0.0, 3.0], [4.0, 0.0, 5.0]]
    assert not s.to_dense().is_sparse
    assert s._values().tolist() == [3.0, 4.0, 5.0]
    assert s._indices().tolist() == [[0, 1, 1], [2, 0, 2]]
    with pytest.raises(RuntimeError, match="Cannot get values on an uncoalesced tensor, please call"):
        s.values()
    with pytest.raises(RuntimeError, match="Cannot get indices on an uncoalesced tensor, please call"):
        s.indices()
    with pytest.raises(TypeError, match="can't convert Sparse layout tensor to numpy"):
        s.numpy()
    assert isinstance(s, T.Tensor)


def test_places_that_are_there_twice_are_summed(T: Any) -> None:
    s = T.sparse_coo_tensor([[1, 0, 1], [1, 0, 1]], [1.0, 4.0, 2.0], (2, 2))
    assert s._nnz() == 3
    c = s.coalesce()
    assert c.is_coalesced()
    assert (c.indices().tolist(), c.values().tolist()) == ([[0, 1], [0, 1]], [4.0, 3.0])
    assert c.coalesce() is c
    assert c.to_dense().tolist() == s.to_dense().tolist() == [[4.0, 0.0], [0.0, 3.0]]


def test_a_graph_layer_trains(T: Any) -> None:
    adjacency, _ = _made(T)
    x, w = T.arange(6.0).reshape(3, 2), T.ones(2, 2, requires_grad=True)
    for product in (T.sparse.mm, T.spmm, T.matmul, lambda a, b: a @ b):
        w.grad = None
        out = product(adjacency, x @ w)
        assert not out.is_sparse
        out.pow(2).sum().backward()
        assert w.grad.tolist() == [[2608.0, 2608.0], [3652.0, 3652.0]]


def test_gradients_reach_values_and_dense_sources(T: Any) -> None:
    s, values = _made(T, True)
    T.sparse.mm(s, T.arange(6.0).reshape(3, 2)).sum().backward()
    assert values.grad.tolist() == [9.0, 1.0, 9.0]
    w = T.tensor([[0.0, 1.0], [2.0, 0.0]], requires_grad=True)
    (w.to_sparse() @ T.ones(2, 1)).sum().backward()
    assert w.grad.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    w.grad = None
    w.to_sparse().coalesce().values().pow(2).sum().backward()
    assert w.grad.tolist() == [[0.0, 2.0], [4.0, 0.0]]


def test_what_remains_sparse(T: Any) -> None:
    s, _ = _made(T)
    for same in (s.t(), s.transpose(0, 1), s * 2, s / 2, -s, s + s, s.double(), s.clone(), s.detach()):
        assert same.is_sparse
        assert same.layout == T.sparse_coo
        assert same.coalesce()._nnz() == 3
    assert s.t().coalesce().indices().tolist() == [[0, 2, 2], [1, 0, 1]]
    assert s.t().coalesce().values().tolist() == [4.0, 3.0, 5.0]
    assert (s * 2).coalesce().values().tolist() == [6.0, 8.0, 10.0]
    assert s.to(T.float64).to_dense().dtype == T.float64
    assert s.to("cpu") is s
    both = T.sparse.mm(s, s.t())
    assert both.is_sparse
    assert both.to_dense().tolist() == [[9.0, 15.0], [15.0, 41.0]]
    assert s.sum().item() == 12.0


def test_sums_and_softmax_over_what_is_specified(T: Any) -> None:
    s, _ = _made(T)
    assert T.sparse.sum(s).item() == T.sparse.sum(s, [0, 1]).item() == 12.0
    assert T.sparse.sum(s, 1).to_dense().tolist() == [3.0, 9.0]
    soft = T.sparse.softmax(s, 1)
    assert soft.is_sparse
    assert soft.coalesce().values().tolist() == pytest.approx([1.0, 0.268941, 0.731059], abs=1e-5)
    logs = T.sparse.log_softmax(s, 1).coalesce().values()
    assert logs.tolist() == pytest.approx([0.0, -1.313262, -0.313262], abs=1e-5)
    found = T.sparse.addmm(T.ones(2, 2), s, T.ones(3, 2), beta=2, alpha=3)
    assert found.tolist() == [[11.0, 11.0], [29.0, 29.0]]


def test_how_it_is_made(T: Any) -> None:
    dense = T.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse()
    assert (dense.indices().tolist(), dense.values().tolist()) == ([[0, 1], [1, 0]], [1.0, 2.0])
    assert tuple(T.sparse_coo_tensor([[0, 4]], [1, 2]).shape) == (5,)
    assert T.sparse_coo_tensor(size=(2, 2))._nnz() == 0
    rows = T.sparse_coo_tensor([[1]], [[1.0, 2.0]], (2, 2))
    assert (rows.sparse_dim(), rows.dense_dim()) == (1, 1)
    assert rows.to_dense().tolist() == [[0.0, 0.0], [1.0, 2.0]]
    leaf = T.sparse_coo_tensor([[0]], [1.0], (2,), requires_grad=True)
    assert leaf.requires_grad
    assert leaf.is_leaf
    old = T.sparse.FloatTensor(T.tensor([[0], [1]]), T.tensor([2.0]), T.Size([2, 2]))
    assert old.to_dense().tolist() == [[0.0, 2.0], [0.0, 0.0]]
    with pytest.raises(RuntimeError, match="same nnz, but got nnz from indices: 1"):
        T.sparse_coo_tensor([[0]], [1, 2], (2,))
    with pytest.raises(RuntimeError, match=r"len\(size\) = 2, sparse_dim = 1, dense_dim = 0"):
        T.sparse_coo_tensor([[0]], [1], (2, 2))


def test_dense_tensors_are_asked_too(T: Any) -> None:
    x = T.ones(2)
    assert x.to_dense() is x or x.to_dense().tolist() == [1.0, 1.0]
    assert (x.sparse_dim(), x.dense_dim(), x.layout) == (0, 1, T.strided)
    for name in ("coalesce", "indices", "is_coalesced"):
        with pytest.raises(RuntimeError, match=f"{name} expected sparse coordinate tensor layout but"):
            getattr(x, name)()
    with pytest.raises(RuntimeError, match="values expected sparse tensor layout but got Strided"):
        x.values()


def test_what_gradd_refuses() -> None:
    with gradd.connect("local:"):
        s, _ = _made(gradd)
        with pytest.raises(NotImplementedError, match="reduce='amax'"):
            gradd.sparse.mm(s, gradd.ones(3, 1), "amax")
        with pytest.raises(NotImplementedError, match="does not save sparse tensors"):
            copy.copy(s).__reduce_ex__(2)
        with pytest.raises(NotImplementedError, match="no sparse tensors of layout"):
            gradd.ones(2).to_sparse(layout=gradd.strided)
        assert s.tolist() == s.to_dense().tolist()
        assert gradd.sparse_coo_tensor([[0]], [7.0], (1,)).item() == 7.0
