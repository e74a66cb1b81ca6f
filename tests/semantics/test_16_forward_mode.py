"""§16: forward mode."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

#: what the oracle says when it makes its first dual tensor
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")

NO_LEVEL = (
    "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() "
    "first."
)


@pytest.fixture
def fw(T: Any) -> Any:
    """The module of forward mode."""
    return T.autograd.forward_ad


def tangent(fw: Any, t: Any) -> Any:
    """The values of a tensor's tangent, None where it has none."""
    found = fw.unpack_dual(t).tangent
    return None if found is None else found.tolist()


def test_16_01_a_dual_has_a_primal_and_a_tangent(T: Any, fw: Any) -> None:
    x, t = T.tensor([1.0, 2.0]), T.tensor([3.0, 4.0])
    with fw.dual_level():
        dual = fw.make_dual(x, t)
        assert dual.tolist() == [1.0, 2.0]
        found = fw.unpack_dual(dual)
        assert type(found).__name__ == "UnpackedDualTensor"
        assert found._fields == ("primal", "tangent")
        assert found.primal.tolist() == [1.0, 2.0]
        assert found.tangent is t
        square = fw.unpack_dual(dual * dual)
        assert square.primal.tolist() == [1.0, 4.0]
        assert square.tangent.tolist() == [6.0, 16.0]


def test_16_01_plain_tensors_have_none(T: Any, fw: Any) -> None:
    x = T.tensor([1.0, 2.0])
    assert fw.unpack_dual(x) == (x, None)
    with fw.dual_level():
        primal, none = fw.unpack_dual(x)
        assert primal.tolist() == [1.0, 2.0]
        assert none is None


def test_16_01_tangents_end_with_their_level(T: Any, fw: Any) -> None:
    with fw.dual_level():
        dual = fw.make_dual(T.tensor([1.0]), T.tensor([2.0]))
        later = dual * 3
    assert fw.unpack_dual(dual).tangent is None
    assert fw.unpack_dual(later).tangent is None
    with fw.dual_level():
        assert fw.unpack_dual(dual).tangent is None
        assert fw.unpack_dual(later * dual).tangent is None
    assert later.tolist() == [3.0]


def test_16_01_levels_by_hand(T: Any, fw: Any) -> None:
    assert fw.enter_dual_level() == 0
    dual = fw.make_dual(T.tensor([2.0]), T.tensor([1.0]), level=0)
    assert fw.unpack_dual(dual**3, level=0).tangent.tolist() == [12.0]
    fw.exit_dual_level()
    assert fw.unpack_dual(dual).tangent is None
    with fw.dual_level() as level:
        assert level == 0


def test_16_01_the_primal_is_tracked(T: Any, fw: Any, leaf: Any) -> None:
    x = leaf()
    with fw.dual_level():
        dual = fw.make_dual(x, T.tensor([1.0, 1.0]))
        assert dual.grad_fn.name() == "ViewBackward0"
        primal = fw.unpack_dual(dual).primal
        assert primal.grad_fn.name() == "torch::autograd::Identity"
        (primal * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_16_01_a_dual_prints_its_tangent(T: Any, fw: Any) -> None:
    with fw.dual_level():
        dual = fw.make_dual(T.ones(2, requires_grad=True), T.ones(2))
        assert repr(dual) == "tensor([1., 1.], grad_fn=<ViewBackward0>, tangent=tensor([1., 1.]))"
        plain = fw.make_dual(T.ones(2, dtype=T.float64), T.ones(2))
        assert repr(plain) == "tensor([1., 1.], dtype=torch.float64, tangent=tensor([1., 1.]))"
        assert repr(fw.make_dual(T.tensor(2.0), T.tensor(3.0))) == "tensor(2., tangent=3.0)"
    assert repr(dual) == "tensor([1., 1.], grad_fn=<ViewBackward0>)"


def test_16_01_an_exception_ends_the_level(T: Any, fw: Any) -> None:
    dual = T.tensor([1.0])
    with contextlib.suppress(KeyError), fw.dual_level():
        dual = fw.make_dual(dual, T.tensor([2.0]))
        raise KeyError
    assert fw.unpack_dual(dual).tangent is None
    with fw.dual_level():
        assert fw.unpack_dual(dual).tangent is None


def test_16_02_without_a_level(T: Any, fw: Any, raises: Any) -> None:
    x = T.tensor([1.0])
    with raises(RuntimeError, NO_LEVEL):
        fw.make_dual(x, x)
    with raises(RuntimeError, "Dual level must be a positive number."):
        fw.exit_dual_level()
    other = (
        "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
    )
    with raises(RuntimeError, other):
        fw.exit_dual_level(level=0)
    with fw.dual_level(), raises(RuntimeError, other):
        fw.exit_dual_level(level=3)


def test_16_02_levels_do_not_nest(T: Any, fw: Any, raises: Any) -> None:
    with fw.dual_level():
        with raises(RuntimeError, "Nested forward mode AD is not supported at the moment"):
            fw.enter_dual_level()
        with raises(RuntimeError, "Nested forward mode AD is not supported at the moment"), fw.dual_level():
            raise AssertionError("the level was entered")
        with raises(RuntimeError, "Invalid level given to _make_dual"):
            fw.make_dual(T.tensor([1.0]), T.tensor([1.0]), level=1)
        dual = fw.make_dual(T.tensor([1.0]), T.tensor([1.0]))
        with raises(RuntimeError, "Invalid level given to _fw_primal"):
            fw.unpack_dual(dual, level=1)


def test_16_02_a_dual_of_a_dual(T: Any, fw: Any, raises: Any) -> None:
    x, t = T.tensor([1.0]), T.tensor([1.0])
    with fw.dual_level():
        dual = fw.make_dual(x, t)
        with raises(
            RuntimeError,
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 "
            "is not supported.",
        ):
            fw.make_dual(dual, t)
        with raises(
            RuntimeError,
            "Setting a forward grad that itself has a forward gradient at the same level0 is not supported.",
        ):
            fw.make_dual(x, dual)


def test_16_03_shapes_and_dtypes(T: Any, fw: Any, raises: Any) -> None:
    x, whole = T.tensor([1.0, 2.0]), T.tensor([1, 2])
    with fw.dual_level():
        with raises(
            RuntimeError,
            "Trying to set a forward gradient that has a different size than that of the original Tensor, "
            "this is not supported. Tensor is of size [2] while the given forward gradient is of size [1].",
        ):
            fw.make_dual(x, T.tensor([1.0]))
        with raises(ValueError, "Expected primal to be floating point or complex, but got: torch.int64"):
            fw.make_dual(whole, x)
        with raises(ValueError, "Expected tangent to be floating point or complex, but got: torch.int64"):
            fw.make_dual(x, whole)


def test_16_03_a_double_tangent_stays_one(T: Any, fw: Any) -> None:
    t = T.tensor([1.0, 2.0], dtype=T.float64)
    with fw.dual_level():
        dual = fw.make_dual(T.tensor([1.0, 1.0]), t)
        for made in (dual, dual * 2, dual.sin(), dual * dual):
            assert made.dtype == T.float32
            assert fw.unpack_dual(made).tangent.dtype == T.float64


def test_16_03_integers_have_no_tangent(T: Any, fw: Any) -> None:
    with fw.dual_level():
        dual = fw.make_dual(T.tensor([1.0, 2.0]), T.tensor([1.0, 1.0]))
        assert fw.unpack_dual(dual.to(T.int64)).tangent is None
        assert fw.unpack_dual(dual > 1).tangent is None


def test_16_03_what_is_no_tensor(T: Any, fw: Any, raises: Any) -> None:
    with fw.dual_level():
        for given in ((1.0, T.ones(1)), (T.ones(1), 1.0)):
            with raises(AttributeError, "'float' object has no attribute 'is_floating_point'"):
                fw.make_dual(*given)
        with raises(TypeError, "_unpack_dual(): argument 'dual' (position 1) must be Tensor, not int"):
            fw.unpack_dual(3)
    assert fw.unpack_dual(3) == (3, None)


def test_16_05_out(T: Any, fw: Any, raises: Any) -> None:
    message = "Trying to use forward AD with add_out that does not support it because it is an out= function"
    with fw.dual_level():
        dual = fw.make_dual(T.ones(2), T.ones(2))
        out = T.zeros(2)
        with raises(NotImplementedError, message):
            T.add(dual, dual, out=out)
        with raises(NotImplementedError, message):
            T.add(T.ones(2), T.ones(2), out=dual)
        T.add(T.ones(2), T.ones(2), out=out)
    assert out.tolist() == [2.0, 2.0]


def test_16_04_no_grad_does_not_stop_tangents(T: Any, fw: Any) -> None:
    with fw.dual_level(), T.no_grad():
        dual = fw.make_dual(T.tensor([1.0, 2.0]), T.tensor([3.0, 4.0]))
        assert tangent(fw, dual * 2) == [6.0, 8.0]


def test_16_04_detach_drops_them(T: Any, fw: Any) -> None:
    with fw.dual_level():
        dual = fw.make_dual(T.tensor([1.0, 2.0]), T.tensor([3.0, 4.0]))
        assert tangent(fw, dual.detach()) is None
        assert tangent(fw, dual.data) is None
        assert tangent(fw, dual * dual.detach()) == [3.0, 8.0]
        made = dual * 1
        made.detach_()
        assert tangent(fw, made) is None


def test_16_04_in_place_ops_carry_them(T: Any, fw: Any) -> None:
    t = T.tensor([3.0, 4.0])
    with fw.dual_level():
        dual = fw.make_dual(T.tensor([1.0, 2.0]), t)
        plain = T.tensor([1.0, 1.0])
        plain.mul_(dual)
        assert tangent(fw, plain) == [3.0, 4.0]
        plain.add_(dual, alpha=2)
        assert tangent(fw, plain) == [9.0, 12.0]
        plain[0] = dual[1]
        assert plain.tolist() == [2.0, 6.0]
        assert tangent(fw, plain) == [4.0, 12.0]
        plain.zero_()
        assert tangent(fw, plain) == [0.0, 0.0]
        assert t.tolist() == [3.0, 4.0]
        dual.mul_(2)
        assert tangent(fw, dual) == [6.0, 8.0]
        # The tangent itself is written to.
        assert t.tolist() == [6.0, 8.0]
        dual.copy_(T.tensor([5.0, 5.0]))
        assert tangent(fw, dual) == [0.0, 0.0]


def test_16_04_writes_reach_views_and_bases(T: Any, fw: Any) -> None:
    with fw.dual_level():
        dual = fw.make_dual(T.tensor([1.0, 2.0]), T.tensor([3.0, 4.0]))
        base = T.zeros(4)
        part, overlapping = base[:2], base[1:3]
        part.copy_(dual)
        assert tangent(fw, base) == [3.0, 4.0, 0.0, 0.0]
        assert tangent(fw, part) == [3.0, 4.0]
        assert tangent(fw, overlapping) == [4.0, 0.0]
        base.mul_(2)
        assert tangent(fw, part) == [6.0, 8.0]
        assert tangent(fw, overlapping) == [8.0, 0.0]
        overlapping.add_(dual)
        assert tangent(fw, base) == [6.0, 11.0, 4.0, 0.0]


def test_16_04_a_write_does_not_reach_the_primal(T: Any, fw: Any) -> None:
    x = T.tensor([1.0, 2.0])
    with fw.dual_level():
        dual = fw.make_dual(x, T.tensor([3.0, 4.0]))
        dual[:1].mul_(5)
        assert x.tolist() == [5.0, 2.0]
        assert tangent(fw, dual) == [15.0, 4.0]
        assert tangent(fw, x) is None


def test_16_04_a_random_write_draws_once(T: Any, fw: Any) -> None:
    with T.no_grad():
        T.manual_seed(5)
        expected = T.empty(3).uniform_(), T.rand(3)
        T.manual_seed(5)
        with fw.dual_level():
            dual = fw.make_dual(T.ones(3), T.ones(3))
            dual.uniform_()
            assert tangent(fw, dual) == [0.0, 0.0, 0.0]
            assert dual.tolist() == expected[0].tolist()
            assert T.rand(3).tolist() == expected[1].tolist()


def test_16_04_forward_over_reverse(T: Any, fw: Any, leaf: Any) -> None:
    x, t = leaf(), T.tensor([3.0, 4.0])
    with fw.dual_level():
        dual = fw.make_dual(x, t)
        (gradient,) = T.autograd.grad((dual**3).sum(), x)
        assert gradient.tolist() == [3.0, 12.0]
        assert tangent(fw, gradient) == [18.0, 48.0]
        (gradient,) = T.autograd.grad(dual.exp().sum(), dual, create_graph=True)
        found = fw.unpack_dual(gradient)
        assert found.tangent.grad_fn is not None
        assert found.tangent.tolist() == (found.primal * t).tolist()


def test_16_04_a_tangent_is_differentiable(T: Any, fw: Any, leaf: Any) -> None:
    x, t = leaf(), leaf([3.0, 4.0])
    with fw.dual_level():
        found = fw.unpack_dual(fw.make_dual(x, t) ** 3).tangent
        assert found.grad_fn is not None
        (by_x, by_t) = T.autograd.grad(found.sum(), [x, t])
    assert by_x.tolist() == [18.0, 48.0]
    assert by_t.tolist() == [3.0, 12.0]


def test_16_04_backward_leaves_no_tangent_in_grad(T: Any, fw: Any, leaf: Any) -> None:
    x = leaf()
    with fw.dual_level():
        (fw.make_dual(x, T.tensor([3.0, 4.0])) ** 2).sum().backward()
        assert x.grad.tolist() == [2.0, 4.0]
        assert tangent(fw, x.grad) is None


def test_16_04_a_small_network(T: Any, fw: Any) -> None:
    T.manual_seed(0)
    layer = T.nn.Linear(3, 2)
    x, t = T.tensor([[1.0, -2.0, 0.5]]), T.tensor([[0.1, 0.2, -0.3]])
    with fw.dual_level():
        dual = fw.make_dual(x, t)
        found = fw.unpack_dual(T.nn.functional.softmax(layer(dual).relu(), dim=1))
    with T.no_grad():
        step = 1e-3
        ahead, behind = (
            T.nn.functional.softmax(layer(x + sign * step * t).relu(), dim=1) for sign in (1, -1)
        )
    difference = (found.tangent - (ahead - behind) / (2 * step)).abs().max().item()
    assert difference < 1e-3


def test_16_05_ops_without_a_rule(T: Any, fw: Any, raises: Any) -> None:
    with fw.dual_level():
        dual = fw.make_dual(T.ones(2, 2), T.ones(2, 2))
        for name, run in (
            ("_cdist_forward", lambda: T.cdist(dual, T.ones(2, 2))),
            ("_pdist_forward", lambda: T.nn.functional.pdist(dual)),
        ):
            with raises(
                NotImplementedError,
                f"Trying to use forward AD with {name} that does not support it because it has not been "
                "implemented yet.…",
            ):
                run()


def test_16_05_floor_divide_has_none_either(T: Any, fw: Any, raises: Any) -> None:
    with fw.dual_level():
        dual = fw.make_dual(T.ones(2), T.ones(2))
        with raises(
            NotImplementedError, "Trying to use forward AD with …floor_divide that does not support it…"
        ):
            dual // 2
