"""§20.5 and §20.13: conventions of linear algebra at singular and degenerate points."""

from __future__ import annotations

from typing import Any

import pytest


def test_20_05_nuclear_norm_at_zero(T: Any) -> None:
    x = T.zeros(2, 3, dtype=T.float64, requires_grad=True)
    T.linalg.matrix_norm(x, "nuc").backward()
    u, _, vh = T.linalg.svd(x.detach(), full_matrices=False)
    assert T.allclose(x.grad.abs(), (u @ vh).abs())
    y = T.zeros(2, 3, dtype=T.float64, requires_grad=True)
    T.norm(y, "nuc").backward()
    assert T.allclose(y.grad, x.grad)


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, float("inf")])
def test_20_05_cdist_at_zero(T: Any, p: float) -> None:
    x = T.tensor([[1.0, 2.0]], requires_grad=True)
    y = T.tensor([[1.0, 2.0]], requires_grad=True)
    T.cdist(x, y, p).sum().backward()
    assert x.grad.tolist() == y.grad.tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, float("inf")])
def test_20_05_pdist_at_zero(T: Any, p: float) -> None:
    x = T.tensor([[1.0, 2.0], [1.0, 2.0]], requires_grad=True)
    T.nn.functional.pdist(x, p).sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_20_13_det_of_a_singular_matrix(T: Any) -> None:
    x = T.ones(2, 2, requires_grad=True)
    T.linalg.det(x).backward()
    assert x.grad.tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_20_13_det_of_a_batch_with_a_singular_matrix(T: Any) -> None:
    x = T.tensor([[[1.0, 1.0], [1.0, 1.0]], [[2.0, 0.0], [0.0, 3.0]]], requires_grad=True)
    T.det(x).sum().backward()
    assert x.grad.tolist() == [[[0.0, 0.0], [0.0, 0.0]], [[3.0, 0.0], [0.0, 2.0]]]


def test_20_13_cholesky_gradients_are_symmetric(T: Any) -> None:
    x = T.tensor([[4.0, 1.0], [1.0, 3.0]], dtype=T.float64, requires_grad=True)
    T.linalg.cholesky(x)[1, 0].backward()
    assert T.allclose(x.grad, x.grad.mT)
    assert x.grad[0, 1].item() != 0
    # only one triangle is read
    lower = T.tensor([[4.0, 99.0], [1.0, 3.0]], dtype=T.float64)
    assert T.equal(T.linalg.cholesky(lower), T.linalg.cholesky(x).detach())


def test_20_13_eigh_assumes_symmetric_input(T: Any) -> None:
    x = T.tensor([[2.0, 1.0], [1.0, 5.0]], dtype=T.float64, requires_grad=True)
    T.linalg.eigh(x).eigenvalues[0].backward()
    assert T.allclose(x.grad, x.grad.mT)
    full = T.tensor([[2.0, 99.0], [1.0, 5.0]], dtype=T.float64)
    assert T.allclose(T.linalg.eigvalsh(full), T.linalg.eigvalsh(x).detach())


def test_20_13_svd_of_repeated_singular_values(T: Any) -> None:
    x = T.eye(2, dtype=T.float64, requires_grad=True)
    u, s, _ = T.linalg.svd(x)
    (gradient,) = T.autograd.grad(s.sum(), x, retain_graph=True)
    assert T.allclose(gradient, T.eye(2, dtype=T.float64))
    u.sum().backward()
    assert x.grad.isnan().any()


R_MODE = (
    "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
    "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
)


def test_20_13_qr_without_q(T: Any, raises: Any) -> None:
    x = T.tensor([[3.0, 1.0], [1.0, 2.0], [0.0, 1.0]], requires_grad=True)
    r = T.linalg.qr(x, mode="r").R
    with raises(RuntimeError, R_MODE):
        r.sum().backward()


def test_20_13_qr_complete_of_a_tall_matrix(T: Any, raises: Any) -> None:
    x = T.tensor([[3.0, 1.0], [1.0, 2.0], [0.0, 1.0]], requires_grad=True)
    q, _ = T.linalg.qr(x, mode="complete")
    with raises(
        RuntimeError,
        "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.",
    ):
        q.sum().backward()


def test_20_13_node_names(T: Any) -> None:
    x = T.tensor([[3.0, 1.0], [1.0, 2.0]], requires_grad=True)
    names = {
        "inv": "LinalgInvExBackward0",
        "cholesky": "LinalgCholeskyExBackward0",
        "det": "LinalgDetBackward0",
        "eigvalsh": "LinalgEighBackward0",
        "svdvals": "LinalgSvdBackward0",
        "pinv": "LinalgPinvBackward0",
    }
    for name, node in names.items():
        assert getattr(T.linalg, name)(x).grad_fn.name() == node
    assert type(T.linalg.qr(x)).__name__ == "linalg_qr"


def test_20_13_gradients_through_a_solution(T: Any) -> None:
    a = T.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=T.float64, requires_grad=True)
    b = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
    x = T.linalg.solve(a, b)
    x.sum().backward()
    inverse = T.linalg.inv(a.detach())
    assert T.allclose(b.grad, inverse.sum(0))
    assert T.allclose(a.grad, -T.outer(b.grad, x.detach()))
    (first,) = T.autograd.grad(T.logdet(a), a, create_graph=True)
    assert T.allclose(first, T.linalg.inv(a).mT)
    (second,) = T.autograd.grad(first[0, 0], a)
    assert T.allclose(second, -T.outer(inverse[0], inverse[:, 0]).mT)
