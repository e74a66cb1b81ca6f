"""Forward-mode levels in the engine: nesting, how long they live, and what they cost where there is none."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_engine.graph import tangents
from gradd_engine.ops.elementwise.arithmetic import add, mul
from gradd_engine.ops.elementwise.unary import exp
from gradd_engine.tensor.tensor import Tensor
from gradd_engine.tracing import InputSignature, Unplannable
from gradd_engine.transforms import forward_ad, functional
from gradd_engine.transforms.grad import grad
from gradd_engine.transforms.jac import hessian, jacfwd, jvp


def tensor(*values: float) -> Tensor:
    return NUMPY.from_array(np.array(values))


def test_nested_levels_give_mixed_derivatives() -> None:
    x, one = tensor(2.0, 3.0), tensor(1.0, 1.0)

    def first(x: Tensor) -> Any:
        return jvp(lambda y: mul(exp(y), y), (x,), (one,))[1]

    found = jvp(first, (x,), (one,))[1]
    e = np.exp(x.array)
    np.testing.assert_allclose(found.array, e * (x.array + 2))
    third = jvp(lambda z: jvp(first, (z,), (one,))[1], (x,), (one,))[1]
    np.testing.assert_allclose(third.array, e * (x.array + 3))


def test_a_level_within_the_public_one() -> None:
    x, one = tensor(2.0), tensor(1.0)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, one)
        value, slope = jvp(lambda y: mul(mul(y, y), dual), (dual,), (one,))
        np.testing.assert_allclose(forward_ad.unpack_dual(value).tangent.array, [12.0])  # type: ignore[union-attr]
        np.testing.assert_allclose(slope.array, [8.0])
        np.testing.assert_allclose(forward_ad.unpack_dual(slope).tangent.array, [8.0])  # type: ignore[union-attr]


def test_forward_and_reverse_agree() -> None:
    x = tensor(0.5, -1.0, 2.0)

    def func(x: Tensor) -> Any:
        return mul(exp(x), mul(x, x)).sum()  # type: ignore[attr-defined]

    one_way = jacfwd(jacfwd(func))(x).array
    np.testing.assert_allclose(hessian(func)(x).array, one_way)
    np.testing.assert_allclose(jacfwd(grad(func))(x).array, one_way)
    np.testing.assert_allclose(grad(lambda x: jvp(func, (x,), (x,))[1])(x).array.shape, (3,))
    np.testing.assert_allclose(functional.hessian(func, x).array, one_way)


def test_a_level_ends_with_its_token() -> None:
    level = tangents.Level(0)
    assert tangents.LEVELS
    x = tensor(1.0)
    level.give(x, tensor(2.0))
    level.end()
    assert x._tangents is None
    assert not tangents.LEVELS
    forgotten = tangents.Level(0)
    assert tangents.LEVELS
    del forgotten
    gc.collect()
    assert not tangents.LEVELS


def test_a_level_does_not_keep_tensors() -> None:
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(tensor(1.0), tensor(1.0))
        for _ in range(500):
            last = weakref.ref(mul(dual, dual))
        gc.collect()
        assert last() is None
        level = next(iter(dual._tangents or ()))
        assert len(level._holders) < 200


def test_what_was_saved_has_its_tangent_when_the_output_is_gone() -> None:
    x = tensor(1.0, 2.0)
    x._requires_grad = True
    with forward_ad.dual_level():
        out = exp(add(forward_ad.make_dual(x, tensor(3.0, 4.0)), 0)).sum()  # type: ignore[attr-defined]
        gc.collect()
        (g,) = functional._gradients([out], [x], None, False)
        found = forward_ad.unpack_dual(g)  # type: ignore[arg-type]
    np.testing.assert_allclose(found.tangent.array, np.exp([1.0, 2.0]) * [3.0, 4.0])  # type: ignore[union-attr]


def test_tangents_are_not_planned() -> None:
    x = tensor(1.0)
    InputSignature([x])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, tensor(1.0))
        with pytest.raises(Unplannable):
            InputSignature([dual])
        InputSignature([x])
    InputSignature([dual])


def test_a_token_is_asked_for() -> None:
    x = tensor(1.0)
    with pytest.raises(RuntimeError, match="is not what enter_dual_level"):
        forward_ad.primal_of_dual(x, x)
    token = forward_ad.enter_level()
    with pytest.raises(RuntimeError, match="has no tangent at this forward AD level"):
        forward_ad.tangent_of_dual(x, token)
    forward_ad.exit_level(token)
    with pytest.raises(RuntimeError, match="has been exited"):
        forward_ad.exit_level(token)
