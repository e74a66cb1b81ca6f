"""Sparse tensors in coordinate format: as PyTorch's in what they say, dense behind it."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gradd
import pytest


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


def test_products_that_are_sparse(T: Any) -> None:
    s, _ = _made(T)
    x = T.arange(6.0).reshape(3, 2)
    want = [[12.0, 15.0], [20.0, 29.0]]
    for found in (T.smm(s, x), s.smm(x), T.hspmm(s, x)):
        assert found.is_sparse
        assert found.to_dense().tolist() == want
    assert T.hspmm(s, x).dense_dim() == 1
    total = T.sspaddmm(T.sparse_coo_tensor([[0], [1]], [1.0], (2, 2)), s, x, beta=2, alpha=0.5)
    assert total.to_dense().tolist() == [[6.0, 9.5], [10.0, 14.5]]
    with pytest.raises(RuntimeError, match=r"tensor.sspaddmm\(...\) can only be called on sparse tensors"):
        T.smm(T.ones(2, 2), T.ones(2, 2))


def test_sums_and_products_of_both_kinds(T: Any) -> None:
    s, _ = _made(T)
    x = T.arange(6.0).reshape(2, 3)
    assert (x + s).tolist() == [[0.0, 1.0, 5.0], [7.0, 4.0, 10.0]]
    assert (x - s).tolist() == [[0.0, 1.0, -1.0], [-1.0, 4.0, 0.0]]
    for found in (s * x, x * s):
        assert found.is_sparse
        assert found.coalesce().values().tolist() == [6.0, 12.0, 25.0]
    for refused in (lambda: s + x, lambda: s - x, lambda: s + 1):
        with pytest.raises(RuntimeError, match=r"add\(sparse, dense\) is not supported. Use add\(dense, sp"):
            refused()
    with pytest.raises(RuntimeError, match=r"scalar or zero-dim dense tensor divisor \(got shape \[2, 3\]"):
        s / x
    nothing = s - s
    assert (nothing.coalesce()._nnz(), nothing.to_dense().abs().sum().item()) == (3, 0.0)
    for keeping in ("abs", "neg", "sqrt", "tanh", "relu", "sign", "log1p", "floor"):
        found = getattr(s.coalesce(), keeping)()
        assert found.is_sparse
        want = getattr(T.tensor([3.0, 4.0, 5.0]), keeping)().tolist()
        assert found.values().tolist() == pytest.approx(want)
    assert (s**2).coalesce().values().tolist() == [9.0, 16.0, 25.0]


def test_parts_and_turns(T: Any) -> None:
    s, _ = _made(T)
    assert s[1].is_sparse
    assert s[1].to_dense().tolist() == s.select(0, 1).to_dense().tolist() == [4.0, 0.0, 5.0]
    assert s[1, 2].item() == 5.0
    picked = s.index_select(0, T.tensor([1]))
    assert picked.is_sparse
    assert picked.to_dense().tolist() == [[4.0, 0.0, 5.0]]
    assert tuple(s.unsqueeze(0).shape) == (1, 2, 3)
    assert s.permute(1, 0).coalesce().indices().tolist() == [[0, 2, 2], [1, 0, 1]]
    assert s.sum(0).to_dense().tolist() == [4.0, 0.0, 8.0]
    hybrid = T.arange(6.0).reshape(2, 3).to_sparse(1)
    assert (hybrid.sparse_dim(), hybrid.values().tolist()) == (1, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    assert T.sparse.sum(hybrid, 0).tolist() == [3.0, 5.0, 7.0]
    with pytest.raises(RuntimeError, match=r"sparse_dim argument must be in \[0,2\] range, but 3 is given"):
        T.ones(2, 3).to_sparse(3)
    with pytest.raises(RuntimeError, match="conversion from Sparse to Sparse with sparse_dim argument"):
        s.coalesce().to_sparse(1)


def test_what_is_written_in_place(T: Any) -> None:
    s, _ = _made(T)
    assert s.clone().mul_(2).coalesce().values().tolist() == [6.0, 8.0, 10.0]
    assert s.clone().add_(s).coalesce().values().tolist() == [6.0, 8.0, 10.0]
    assert s.clone().zero_()._nnz() == 0
    assert T.ones(2, 3).add_(s, alpha=2).tolist() == [[1.0, 1.0, 7.0], [9.0, 1.0, 11.0]]
    wide = s.clone().sparse_resize_((3, 3), 2, 0)
    assert (tuple(wide.shape), wide._nnz()) == ((3, 3), 3)
    empty = s.clone().sparse_resize_and_clear_((4, 2), 2, 0)
    assert (tuple(empty.shape), empty._nnz()) == ((4, 2), 0)


def test_masks(T: Any) -> None:
    s, _ = _made(T)
    x = T.arange(6.0).reshape(2, 3).requires_grad_()
    found = x.sparse_mask(s.coalesce())
    assert (found.indices().tolist(), found.values().tolist()) == ([[0, 1, 1], [2, 0, 2]], [2.0, 3.0, 5.0])
    found.to_dense().sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]]
    with pytest.raises(RuntimeError, match=r"self has size \[2, 2\] but mask has size \[2, 3\]"):
        T.ones(2, 2).sparse_mask(s)


def test_diagonals(T: Any) -> None:
    rows, offsets = T.arange(9.0).reshape(3, 3), T.tensor([0, -1, 1])
    found = T.sparse.spdiags(rows, offsets, (3, 3))
    assert (found.is_sparse, found._nnz()) == (True, 7)
    assert found.to_dense().tolist() == [[0.0, 7.0, 0.0], [3.0, 1.0, 8.0], [0.0, 4.0, 2.0]]
    wide = T.sparse.spdiags(rows, offsets, (3, 4), layout=T.sparse_csr)
    assert wide.crow_indices().tolist() == [0, 2, 5, 7]
    for given, message in (
        ((T.ones(2, 3), T.tensor([0]), (3, 3)), r"Number of diagonals \(2\) does not match"),
        ((T.ones(2, 3), T.tensor([0, 0]), (3, 3)), "Offset tensor contains duplicate values"),
        ((T.ones(1, 3), T.tensor([0.0]), (3, 3)), "Offset Tensor must have dtype Long but got Float"),
        ((T.ones(1, 3), T.tensor([0]), (3, 3, 3)), "Output shape must be 2d"),
    ):
        with pytest.raises(RuntimeError, match=message):
            T.sparse.spdiags(*given)
    with pytest.raises(RuntimeError, match=r"Only output layouts \(Sparse, SparseCsc, SparseCsr\) are"):
        T.sparse.spdiags(T.ones(1, 3), T.tensor([0]), (3, 3), layout=T.strided)


@pytest.mark.parametrize(("places", "message"), [
    ([[-1]], "found negative index -1 for dim 0"),
    ([[5]], "size is inconsistent with indices: for dim 0, size is 2 but found index 5"),
])  # fmt: skip
def test_indices_that_cannot_be(T: Any, places: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        T.sparse_coo_tensor(places, [1.0], (2,), check_invariants=True)

    @T.sparse.check_sparse_tensor_invariants()
    def make() -> Any:
        return T.sparse_coo_tensor(places, [1.0], (2,))

    with pytest.raises(RuntimeError, match=message):
        make()


def test_gradients_of_sparse_leaves(T: Any) -> None:
    x = T.arange(6.0).reshape(3, 2)
    for loss, want in (
        (lambda a: T.sparse.mm(a, x).sum(), [[0.0, 0.0, 9.0], [1.0, 0.0, 9.0]]),
        (lambda a: T.sparse.sum(a), [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]]),
        (lambda a: a.to_dense().pow(2).sum(), [[0.0, 0.0, 6.0], [8.0, 0.0, 10.0]]),
        (lambda a: (a @ x).sum(), [[1.0, 5.0, 9.0], [1.0, 5.0, 9.0]]),
        (lambda a: a.sum(), [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]),
    ):
        a = T.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3), requires_grad=True)
        loss(a).backward()
        assert a.grad.to_dense().tolist() == want


def test_it_is_saved(T: Any, tmp_path: Any) -> None:
    s, _ = _made(T)
    T.save({"adjacency": s}, tmp_path / "graph.pt")
    found = T.load(tmp_path / "graph.pt")["adjacency"]
    assert repr(found) == SHOWN
    again = copy.deepcopy(s.coalesce())
    assert again.is_coalesced()
    assert again.to_dense().tolist() == s.to_dense().tolist()


def test_what_gradd_refuses() -> None:
    with gradd.connect("local:"):
        s, _ = _made(gradd)
        assert pickle.loads(pickle.dumps(s)).to_dense().tolist() == s.to_dense().tolist()
        with pytest.raises(RuntimeError, match="it is no sparse layout"):
            gradd.ones(2).to_sparse(layout=gradd.strided)
        assert s.tolist() == s.to_dense().tolist()
        assert gradd.sparse_coo_tensor([[0]], [7.0], (1,)).item() == 7.0
