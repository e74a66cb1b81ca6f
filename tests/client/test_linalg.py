"""Factorisations of what is not finite: they are refused, and never without an end."""

from __future__ import annotations

import subprocess
import sys

import gradd
import pytest

from tests.waiting import PATIENCE

#: LAPACK's divide and conquer never ends with these values; a process of its own can be ended
_REFUSED = """
import math
import gradd

gradd.connect("local:")
rows = [[0.15, math.inf, -0.55, 1e308], [-0.38, 1e308, 0.16, -1e308], [0.5, 0.39, -0.06, 0.53]]
for dtype in (gradd.float64, gradd.float32, gradd.complex128):
    wide = gradd.tensor(rows, dtype=gradd.float64).to(dtype)
    for a in (wide, wide.mT, gradd.stack([wide, wide])):
        for run in (
            gradd.linalg.svd,
            gradd.linalg.svdvals,
            gradd.linalg.pinv,
            gradd.linalg.matrix_rank,
            gradd.linalg.cond,
            lambda a: gradd.linalg.lstsq(a, a),
            lambda a: gradd.linalg.lstsq(a, a, driver="gelsd"),
        ):
            try:
                str(run(a))
            except gradd.linalg.LinAlgError as error:
                print(error)
"""


def test_singular_values_of_what_is_not_finite_are_refused() -> None:
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _REFUSED], capture_output=True, text=True, timeout=PATIENCE
    )
    assert found.stdout.count("input matrix contained non-finite values") == 3 * 3 * 7, found.stderr


def test_eigenvalues_that_do_not_converge_are_refused() -> None:
    a = gradd.tensor([[1.0, 3.0, 6.0], [3.0, float("nan"), 7.0], [6.0, 7.0, 1.0]], dtype=gradd.float64)
    with pytest.raises(gradd.linalg.LinAlgError, match=r"linalg\.eigh: The algorithm failed to converge"):
        str(gradd.linalg.eigh(a))
    assert gradd.linalg.eigvalsh(gradd.eye(2)).tolist() == [1.0, 1.0]


def test_the_tangents_of_weights_may_be_negative() -> None:
    x, t = gradd.tensor([[1.0, 2.0, 4.0]]), gradd.tensor([-1.0, 2.0, -3.0])
    weights = gradd.tensor([0.5, 0.25, 0.25])
    out, tangent = gradd.func.jvp(lambda w: gradd.cov(x, aweights=w, correction=0), (weights,), (t,))
    w = weights.clone().requires_grad_()
    (gradient,) = gradd.autograd.grad(gradd.cov(x, aweights=w, correction=0), [w])
    assert float(tangent) == pytest.approx(float((gradient * t).sum()), rel=1e-5)
    assert float(out) == pytest.approx(1.5)
