"""Sparse tensors with compressed rows or columns: as PyTorch's in what they say, dense behind it."""

from __future__ import annotations

from typing import Any

import pytest

#: PyTorch says that compressed tensors are in beta
pytestmark = pytest.mark.filterwarnings("ignore:.*[Ss]parse.*:UserWarning")


def _csr(T: Any, grad: bool = False) -> Any:
    return T.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3.0, 4.0, 5.0], (2, 3), requires_grad=grad)


DENSE = [[0.0, 0.0, 3.0], [4.0, 0.0, 5.0]]
CSR = """tensor(crow_indices=tensor([0, 1, 3]),
       col_indices=tensor([2, 0, 2]),
       values=tensor([3., 4., 5.]), size=(2, 3), nnz=3,
       layout=torch.sparse_csr)"""
BSR = """tensor(crow_indices=tensor([0, 1, 2]),
       col_indices=tensor([0, 1]),
       values=tensor([[[1., 0.],
                       [0., 1.]],

                      [[1., 0.],
                       [0., 1.]]]), size=(4, 4), nnz=2,
       layout=torch.sparse_bsr)"""


def test_what_it_says(T: Any) -> None:
    c = _csr(T)
    assert repr(c) == CSR
    assert (c.layout, c.is_sparse, c.is_sparse_csr, c._nnz()) == (T.sparse_csr, False, True, 3)
    assert (c.sparse_dim(), c.dense_dim(), tuple(c.shape), c.dtype) == (2, 0, (2, 3), T.float32)
    assert c.crow_indices().tolist() == [0, 1, 3]
    assert c.col_indices().tolist() == [2, 0, 2]
    assert c.values().tolist() == [3.0, 4.0, 5.0]
    assert c.to_dense().tolist() == DENSE
    assert c.to_dense().layout == T.strided
    assert tuple(T.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3.0, 4.0, 5.0]).shape) == (2, 3)
    wide = T.sparse_csr_tensor([0, 1, 3], [2, 0, 2], [3, 4, 5], dtype=T.float64)
    assert repr(wide).endswith("size=(2, 3), nnz=3, dtype=torch.float64,\n       layout=torch.sparse_csr)")
    narrow = T.sparse_csr_tensor(T.tensor([0, 1], dtype=T.int32), T.tensor([1], dtype=T.int32), [2.0])
    assert narrow.crow_indices().dtype == T.int32


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        (
            "crow_indices",
            "strided",
            "crow_indices expected sparse row compressed tensor layout but got Strided",
        ),
        ("ccol_indices", "strided", "ccol_indices expected sparse column compressed tensor layout but got"),
        (
            "row_indices",
            "csr",
            "row_indices expected sparse column compressed tensor layout but got SparseCsr",
        ),
        (
            "crow_indices",
            "csc",
            "crow_indices expected sparse row compressed tensor layout but got SparseCsc",
        ),
        ("col_indices", "coo", "col_indices expected sparse row compressed tensor layout but got Sparse"),
        ("coalesce", "csr", "coalesce expected sparse coordinate tensor layout but got SparseCsr"),
        ("indices", "bsr", "indices expected sparse coordinate tensor layout but got SparseBsr"),
        ("is_coalesced", "csr", "is_coalesced expected sparse coordinate tensor layout but got SparseCsr"),
    ],
)
def test_indices_of_another_layout(T: Any, name: str, kind: str, message: str) -> None:
    x = T.eye(2)
    made = {
        "strided": lambda: x, "csr": x.to_sparse_csr, "csc": x.to_sparse_csc, "coo": x.to_sparse,
        "bsr": lambda: x.to_sparse_bsr((1, 1)),
    }  # fmt: skip
    with pytest.raises(RuntimeError, match=message):
        getattr(made[kind](), name)()
    with pytest.raises(TypeError, match="can't convert SparseCsr layout tensor to numpy"):
        x.to_sparse_csr().numpy()


def test_columns_and_blocks(T: Any) -> None:
    c = T.sparse_csc_tensor([0, 1, 1, 3], [1, 0, 1], [4.0, 3.0, 5.0], (2, 3))
    assert (c.ccol_indices().tolist(), c.row_indices().tolist()) == ([0, 1, 1, 3], [1, 0, 1])
    assert c.to_dense().tolist() == DENSE
    assert c.layout == T.sparse_csc
    b = T.eye(4).to_sparse_bsr((2, 2))
    assert repr(b) == BSR
    assert b.to_dense().tolist() == T.eye(4).tolist()
    blocks = [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]
    for make, layout in ((T.sparse_bsr_tensor, T.sparse_bsr), (T.sparse_bsc_tensor, T.sparse_bsc)):
        b = make([0, 1, 2], [1, 0], blocks, (4, 4))
        assert b.layout == layout
        assert b.values().tolist() == blocks
        first = b.to_dense()[:2, 2:] if layout == T.sparse_bsr else b.to_dense()[2:, :2]
        assert first.tolist() == blocks[0]
    with pytest.raises(
        RuntimeError, match=r"tensor sparse size \(4,4\) must be divisible by given blocksize"
    ):
        T.eye(4).to_sparse_bsr((3, 2))


def test_from_one_layout_to_another(T: Any) -> None:
    x = T.tensor(DENSE)
    for made in (
        x.to_sparse_csr(), x.to_sparse(layout=T.sparse_csr), x.to_sparse().to_sparse_csr(),
        x.to_sparse_csc().to_sparse_csr(), x.to_sparse_csr().to_sparse_csr(),
    ):  # fmt: skip
        assert repr(made) == CSR
    coo = _csr(T).to_sparse_coo()
    assert coo.is_sparse
    assert (coo.indices().tolist(), coo.values().tolist()) == ([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0])
    csc = _csr(T).to_sparse_csc()
    assert (csc.ccol_indices().tolist(), csc.row_indices().tolist()) == ([0, 1, 1, 3], [1, 0, 1])
    assert csc.values().tolist() == [4.0, 3.0, 5.0]
    t = _csr(T).t()
    assert (t.layout, tuple(t.shape)) == (T.sparse_csc, (3, 2))
    assert t.ccol_indices().tolist() == [0, 1, 3]
    assert t.to_dense().tolist() == T.tensor(DENSE).t().tolist()


def test_batches_and_dense_dimensions(T: Any) -> None:
    x = T.tensor([DENSE, [[1.0, 2.0, 0.0], [0.0, 0.0, 7.0]]])
    c = x.to_sparse_csr()
    assert c.crow_indices().tolist() == [[0, 1, 3], [0, 2, 3]]
    assert c.col_indices().tolist() == [[2, 0, 2], [0, 1, 2]]
    assert c.values().tolist() == [[3.0, 4.0, 5.0], [1.0, 2.0, 7.0]]
    again = T.sparse_csr_tensor(c.crow_indices(), c.col_indices(), c.values(), x.shape)
    assert again.to_dense().tolist() == x.tolist()
    hybrid = T.sparse_csr_tensor([0, 1, 2], [0, 1], [[1.0, 2.0], [3.0, 4.0]])
    assert (tuple(hybrid.shape), hybrid.dense_dim()) == ((2, 2, 2), 1)
    assert hybrid.to_dense().tolist() == [[[1.0, 2.0], [0.0, 0.0]], [[0.0, 0.0], [3.0, 4.0]]]


def test_products(T: Any) -> None:
    c, x = _csr(T), T.arange(6.0).reshape(3, 2)
    for found in (c @ x, T.sparse.mm(c, x), T.mm(c, x), T.matmul(c, x)):
        assert found.layout == T.strided
        assert found.tolist() == [[12.0, 15.0], [20.0, 29.0]]
    assert (c @ T.ones(3)).tolist() == [3.0, 9.0]
    assert (T.ones(1, 2) @ c).tolist() == [[4.0, 0.0, 8.0]]
    assert T.addmm(T.ones(2, 2), c, x, beta=2.0).tolist() == [[14.0, 17.0], [22.0, 31.0]]
    both = c @ c.t().to_sparse_csr()
    assert both.layout == T.sparse_csr
    assert both.to_dense().tolist() == [[9.0, 15.0], [15.0, 41.0]]


def test_arithmetic(T: Any) -> None:
    c = _csr(T)
    for found, values in (
        (c * 2, [6.0, 8.0, 10.0]), (2 * c, [6.0, 8.0, 10.0]), (-c, [-3.0, -4.0, -5.0]),
        (c + c, [6.0, 8.0, 10.0]), (c * c, [9.0, 16.0, 25.0]), (c.abs(), [3.0, 4.0, 5.0]),
        (c * T.arange(6.0).reshape(2, 3), [6.0, 12.0, 25.0]), (c.double(), [3.0, 4.0, 5.0]),
        (c.detach(), [3.0, 4.0, 5.0]), (c.clone().mul_(3), [9.0, 12.0, 15.0]),
    ):  # fmt: skip
        assert found.layout == T.sparse_csr
        assert found.col_indices().tolist() == [2, 0, 2]
        assert found.values().tolist() == values
    assert (T.ones(2, 3) + c).tolist() == [[1.0, 1.0, 4.0], [5.0, 1.0, 6.0]]
    assert c.sum().item() == 12.0
    assert c.sum(0, keepdim=True).to_dense().tolist() == [[4.0, 0.0, 8.0]]
    assert c[1].to_dense().tolist() == [4.0, 0.0, 5.0]
    assert c[1, 2].item() == 5.0
    assert c.clone().zero_()._nnz() == 0


def test_explicit_zeros_are_kept(T: Any) -> None:
    c = T.sparse_csr_tensor([0, 1, 2], [1, 0], [0.0, 2.0], (2, 2))
    assert (c._nnz(), (c * 2)._nnz(), c.to_sparse_coo()._nnz(), c.to_sparse_csc()._nnz()) == (2, 2, 2, 2)
    assert c.to_sparse_csc().values().tolist() == [2.0, 0.0]


def test_gradients(T: Any) -> None:
    c, x = _csr(T, True), T.arange(6.0).reshape(3, 2).requires_grad_()
    T.sparse.mm(c, x).sum().backward()
    assert c.grad.to_dense().tolist() == [[0.0, 0.0, 9.0], [1.0, 0.0, 9.0]]
    assert x.grad.tolist() == [[4.0, 4.0], [0.0, 0.0], [8.0, 8.0]]
    values = T.tensor([3.0, 4.0, 5.0], requires_grad=True)
    made = T.sparse_csr_tensor(T.tensor([0, 1, 3]), T.tensor([2, 0, 2]), values, (2, 3))
    (made @ x.detach()).sum().backward()
    assert values.grad.tolist() == [9.0, 1.0, 9.0]
    w = T.tensor([[0.0, 1.0], [2.0, 0.0]], requires_grad=True)
    w.to_sparse_csr().values().pow(2).sum().backward()
    assert w.grad.tolist() == [[0.0, 2.0], [4.0, 0.0]]
    w.grad = None
    w.to_sparse_csr().to_dense().sum().backward()
    assert w.grad.tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin"])
def test_products_that_are_reduced_otherwise(T: Any, reduce: str) -> None:
    c = T.sparse_csr_tensor([0, 1, 3, 3], [2, 0, 2], [3.0, 4.0, 5.0], (3, 3), requires_grad=True)
    x = T.arange(6.0).reshape(3, 2).sub(1.5).requires_grad_()
    found = T.sparse.mm(c, x, reduce)
    want = {
        "sum": ([[7.5, 10.5], [6.5, 15.5]], [6.0, -2.0, 6.0], [[4.0, 4.0], [0.0, 0.0], [8.0, 8.0]]),
        "mean": ([[7.5, 10.5], [3.25, 7.75]], [6.0, -1.0, 3.0], [[2.0, 2.0], [0.0, 0.0], [5.5, 5.5]]),
        "amax": ([[7.5, 10.5], [12.5, 17.5]], [6.0, 0.0, 6.0], [[0.0, 0.0], [0.0, 0.0], [8.0, 8.0]]),
        "amin": ([[7.5, 10.5], [-6.0, -2.0]], [6.0, -2.0, 0.0], [[4.0, 4.0], [0.0, 0.0], [3.0, 3.0]]),
    }[reduce]
    assert found.tolist() == [*want[0], [0.0, 0.0]]
    found.sum().backward()
    assert c.grad.to_dense()[(T.tensor([0, 1, 1]), T.tensor([2, 0, 2]))].tolist() == want[1]
    assert x.grad.tolist() == want[2]


def test_reductions_that_are_refused(T: Any) -> None:
    with pytest.raises(RuntimeError, match="sparse_mm_reduce: reduce type of prod has not been enabled"):
        T.sparse.mm(_csr(T), T.ones(3, 1), "prod")
    with pytest.raises(
        RuntimeError, match="reduce argument must be either sum, prod, mean, amax or amin, got"
    ):
        T.sparse.mm(_csr(T), T.ones(3, 1), "median")


def test_sampled_products(T: Any) -> None:
    c, a = _csr(T), T.ones(2, 4, requires_grad=True)
    found = T.sparse.sampled_addmm(c, a, T.ones(4, 3), beta=0.5, alpha=2.0)
    assert found.layout == T.sparse_csr
    assert found.values().tolist() == [9.5, 10.0, 10.5]
    found.to_dense().sum().backward()
    assert a.grad.tolist() == [[2.0] * 4, [4.0] * 4]


def test_where_a_dense_tensor_is_masked(T: Any) -> None:
    x = T.arange(6.0).reshape(2, 3)
    found = x.sparse_mask(_csr(T))
    assert found.layout == T.sparse_csr
    assert (found.col_indices().tolist(), found.values().tolist()) == ([2, 0, 2], [2.0, 3.0, 5.0])


def test_it_is_saved(T: Any, tmp_path: Any) -> None:
    T.save([_csr(T), T.eye(4).to_sparse_bsr((2, 2))], tmp_path / "x.pt")
    first, second = T.load(tmp_path / "x.pt")
    assert (repr(first), repr(second)) == (CSR, BSR)


@pytest.mark.parametrize(
    ("crow", "col", "size", "message"),
    [
        ([1, 1, 3], [2, 0, 2], (2, 3), r"`crow_indices\[..., 0\] == 0` is not satisfied."),
        ([0, 1, 2], [2, 0, 2], (2, 3), r"`crow_indices\[..., -1\] == nnz` is not satisfied."),
        ([0, 4, 3], [2, 0, 2], (2, 3), r"crow_indices\[..., :-1\] <= ncols` is not satisfied."),
        ([0, 1, 3], [2, 0, 5], (2, 3), "`0 <= col_indices < ncols` is not satisfied."),
        ([0, 1, 3], [2, 2, 0], (2, 3), "are sorted and distinct along the last dimension values` is not"),
        ([0, 1, 3], [2, 0, 2], (5, 3), r"the number of rows \+ 1 \(=6\), but got 3"),
        (
            [0, 1, 3],
            [2, 0],
            (2, 3),
            r"must be equal to nnz \(=3\) as defined by values.shape\[0\], but got 2",
        ),
    ],
)
def test_indices_that_cannot_be(T: Any, crow: list[int], col: list[int], size: Any, message: str) -> None:
    check = T.sparse.check_sparse_tensor_invariants
    assert not check.is_enabled()
    with check(), pytest.raises(RuntimeError, match=message):
        T.sparse_csr_tensor(crow, col, [3.0, 4.0, 5.0], size)
    assert not check.is_enabled()
    with pytest.raises(RuntimeError, match=message):
        T.sparse_csr_tensor(crow, col, [3.0, 4.0, 5.0], size, check_invariants=True)


def test_constructors_that_refuse(T: Any) -> None:
    make = T.sparse_compressed_tensor
    parts = [0, 1, 3], [2, 0, 2], [3.0, 4.0, 5.0]
    assert repr(make(*parts, (2, 3), layout=T.sparse_csr)) == CSR
    for options, was in (({}, "none"), ({"layout": T.strided}, "Strided")):
        with pytest.raises(RuntimeError, match=f"expected sparse compressed tensor layout but got {was}"):
            make(*parts, **options)
    with pytest.raises(
        RuntimeError, match=r"> sum of batch and block dimensionalities \(=0 \+ 2\) but got 1"
    ):
        T.sparse_bsr_tensor([0, 1, 2], [0, 1], [1.0, 2.0])
    with pytest.raises(
        RuntimeError, match=r"batch, base, and dense dimensionalities \(=0 \+ 2 \+ 0\) but got 1"
    ):
        T.sparse_csr_tensor(*parts, (3,), check_invariants=True)
    with pytest.raises(TypeError):
        T.sparse_csr_tensor([0, 1, 3], [2, 0, 2])
