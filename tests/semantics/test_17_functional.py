"""§17: autograd.functional."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

NONE_SCALAR = (
    "The vector v can only be None if the user-provided function returns a single Tensor with a single "
    "element."
)
NONE_INPUT = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor with a "
    "single element."
)
UNTRACKED = (
    "Output 0 of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode."
)
LINEAR = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to "
    "input 0 is independent of the input. This is not allowed in strict mode. You should ensure that your "
    "function is twice differentiable and that the jacobian depends on the inputs (this would be violated by "
    "a linear function for example)."
)

# What the oracle says when it makes its first dual tensor.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")


@pytest.fixture
def F(T: Any) -> Any:
    """The module autograd.functional."""
    return T.autograd.functional


@pytest.fixture
def x(T: Any) -> Any:
    """A vector."""
    return T.tensor([1.0, 2.0])


def lists(found: Any) -> Any:
    """Tensors as lists, in tuples."""
    return tuple(map(lists, found)) if isinstance(found, (tuple, list)) else found.tolist()


def cubes(x: Any) -> Any:
    return (x**3).sum()


def test_17_01_signatures(F: Any) -> None:
    names = ["func", "inputs", "v", "create_graph", "strict"]
    for name in ("vjp", "jvp", "vhp", "hvp"):
        assert list(inspect.signature(getattr(F, name)).parameters) == names
    assert list(inspect.signature(F.jacobian).parameters)[2:] == [
        "create_graph",
        "strict",
        "vectorize",
        "strategy",
    ]
    assert inspect.signature(F.hessian).parameters["outer_jacobian_strategy"].default == "reverse-mode"


def test_17_01_output_and_product(T: Any, F: Any, x: Any) -> None:
    v = T.tensor([1.0, 10.0])
    assert lists(F.vjp(lambda x: x**3, x, v)) == ([1.0, 8.0], [3.0, 120.0])
    assert lists(F.jvp(lambda x: x**3, x, v)) == ([1.0, 8.0], [3.0, 120.0])
    assert lists(F.vhp(cubes, x, v)) == (9.0, [6.0, 120.0])
    assert lists(F.hvp(cubes, x, v)) == (9.0, [6.0, 120.0])


def test_17_01_tuples_where_the_caller_used_tuples(T: Any, F: Any, x: Any) -> None:
    one = T.tensor([1.0, 1.0])
    assert lists(F.vjp(lambda a: (a * 2, a), x, (one, one))) == (([2.0, 4.0], [1.0, 2.0]), [3.0, 3.0])
    assert lists(F.vjp(lambda a, b: a * b, (x, x), one)) == ([1.0, 4.0], ([1.0, 2.0], [1.0, 2.0]))
    assert lists(F.vjp(lambda a: a, (x,), one)) == ([1.0, 2.0], ([1.0, 1.0],))
    assert lists(F.jvp(lambda a, b: (a * b,), (x, x), (one, one))) == (([1.0, 4.0],), ([2.0, 4.0],))
    assert lists(F.hvp(lambda a, b: (a * b).sum(), (x, x), (one, x))) == (5.0, ([1.0, 2.0], [1.0, 1.0]))


def test_17_01_jacobians_nest_outputs_by_inputs(F: Any, x: Any) -> None:
    square = [[2.0, 0.0], [0.0, 4.0]]
    by_one = [[1.0, 0.0], [0.0, 2.0]]
    assert lists(F.jacobian(lambda a: a * a, x)) == square
    assert lists(F.jacobian(lambda a: (a * a,), x)) == (square,)
    assert lists(F.jacobian(lambda a: a * a, (x,))) == (square,)
    found = F.jacobian(lambda a, b: (a * b, (a * a).sum()), (x, x))
    assert lists(found) == ((by_one, by_one), ([2.0, 4.0], [0.0, 0.0]))
    assert tuple(F.jacobian(lambda a: a.reshape(2, 1) + a, x).shape) == (2, 2, 2)


def test_17_01_forward_mode_nests_in_lists(F: Any, x: Any) -> None:
    how = {"strategy": "forward-mode", "vectorize": True}
    square, by_one = [[2.0, 0.0], [0.0, 4.0]], [[1.0, 0.0], [0.0, 2.0]]
    assert lists(F.jacobian(lambda a: a * a, x, **how)) == square
    assert lists(F.jacobian(lambda a: (a * a,), x, **how)) == (square,)
    kind = type(F.jacobian(lambda a: a * a, (x,), **how))
    assert kind is list
    found = F.jacobian(lambda a, b: (a * b, a * a), (x, x), **how)
    assert (type(found), type(found[0])) == (list, list)
    assert [[t.tolist() for t in row] for row in found] == [[by_one, by_one], [square, [[0.0, 0.0]] * 2]]


def test_17_01_hessians_nest_inputs_by_inputs(F: Any, x: Any) -> None:
    assert lists(F.hessian(cubes, x)) == [[6.0, 0.0], [0.0, 12.0]]
    none, one = [[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]
    assert lists(F.hessian(lambda a, b: (a * b).sum(), (x, x))) == ((none, one), (one, none))


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
def test_17_01_vectorized_ones_are_the_same(F: Any, x: Any, strategy: str) -> None:
    def func(a: Any, b: Any) -> Any:
        return a * b, (a * a).sum()

    expected = lists(F.jacobian(func, (x, x)))
    assert lists(F.jacobian(func, (x, x), vectorize=True, strategy=strategy)) == expected
    found = F.hessian(cubes, x, vectorize=True, outer_jacobian_strategy=strategy)
    assert found.tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_17_02_v_is_needed_but_for_one_element(T: Any, F: Any, x: Any, raises: Any) -> None:
    assert lists(F.vjp(cubes, x)) == (9.0, [3.0, 12.0])
    assert lists(F.jvp(lambda a: a**3, T.tensor(2.0))) == (8.0, 12.0)
    assert lists(F.hvp(lambda a: a**3, T.tensor(2.0))) == (8.0, 12.0)
    with raises(RuntimeError, NONE_SCALAR):
        F.vjp(lambda a: a, x)
    for name in ("jvp", "vhp", "hvp"):
        with raises(RuntimeError, NONE_INPUT):
            getattr(F, name)(cubes, x)


def test_17_02_v_has_the_right_shape(F: Any, x: Any, raises: Any) -> None:
    with raises(RuntimeError, "v has invalid size: should be torch.Size([2]) but got torch.Size([1])."):
        F.vjp(lambda a: a, x, x[:1])
    with raises(RuntimeError, "v has invalid size: should be torch.Size([2]) but got torch.Size([1])."):
        F.hvp(cubes, x, x[:1])
    with raises(
        RuntimeError, "Entry 1 in v has invalid size: should be torch.Size([2]) but got torch.Size([1])."
    ):
        F.vjp(lambda a: (a, a), x, (x, x[:1]))
    with raises(RuntimeError, "v is a tuple of invalid length: should be 2 but got 1."):
        F.vjp(lambda a: (a, a), x, (x,))
    with raises(RuntimeError, "The given v should contain a single Tensor."):
        F.vjp(lambda a: a, x, (x, x))


def test_17_03_independence_gives_zeros(T: Any, F: Any, x: Any) -> None:
    assert lists(F.vjp(lambda a, b: a * 2, (x, x), x))[1] == ([2.0, 4.0], [0.0, 0.0])
    assert lists(F.jvp(lambda a: T.ones(2), x, x)) == ([1.0, 1.0], [0.0, 0.0])
    assert F.jacobian(lambda a: T.ones(2), x).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert F.hessian(lambda a: a.sum(), x).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert lists(F.hvp(lambda a: a.sum(), x, x)) == (3.0, [0.0, 0.0])


@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp", "jacobian", "hessian"])
def test_17_03_strict_wants_tracked_outputs(T: Any, F: Any, x: Any, raises: Any, name: str) -> None:
    given = () if name in ("jacobian", "hessian", "vjp") else (x,)
    with raises(RuntimeError, UNTRACKED):
        getattr(F, name)(lambda a: T.ones(()), x, *given, strict=True)


def test_17_03_strict_wants_every_input(F: Any, x: Any, raises: Any) -> None:
    with raises(
        RuntimeError,
        "Output 0 of the user-provided function is independent of input 1. This is not allowed in strict "
        "mode.",
    ):
        F.jacobian(lambda a, b: a * 2, (x, x), strict=True)
    message = (
        "The output of the user-provided function is independent of input 1. This is not allowed in strict "
        "mode."
    )
    with raises(RuntimeError, message):
        F.vjp(lambda a, b: a * 2, (x, x), x, strict=True)
    with raises(RuntimeError, message):
        F.jvp(lambda a, b: a * 2, (x, x), (x, x), strict=True)


def test_17_03_strict_hessians_are_of_what_curves(F: Any, x: Any, raises: Any) -> None:
    with raises(RuntimeError, LINEAR):
        F.hessian(lambda a: (a * 2).sum(), x, strict=True)
    with raises(RuntimeError, LINEAR):
        F.vhp(lambda a: (a * 2).sum(), x, x, strict=True)
    assert F.hessian(cubes, x, strict=True).tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_17_04_strategies(F: Any, x: Any, raises: Any) -> None:
    with raises(
        NotImplementedError,
        "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
        "`vectorize=True`.",
    ):
        F.jacobian(cubes, x, strategy="forward-mode")
    with raises(
        AssertionError,
        'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more '
        'outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use '
        '"reverse-mode".',
    ):
        F.jacobian(cubes, x, strategy="other")
    with raises(AssertionError, 'Expected strategy to be either "forward-mode" or "reverse-mode".'):
        F.hessian(cubes, x, outer_jacobian_strategy="other")
    with raises(
        NotImplementedError,
        'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not '
        'supported together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.',
    ):
        F.jacobian(cubes, x, create_graph=True, strategy="forward-mode")


def test_17_04_strict_is_not_vectorized(F: Any, x: Any, raises: Any) -> None:
    with raises(
        RuntimeError,
        "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
        "Please either set `strict=False` or `vectorize=False`.",
    ):
        F.jacobian(cubes, x, strict=True, vectorize=True)
    with raises(
        RuntimeError,
        'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported '
        'together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.',
    ):
        F.jacobian(cubes, x, strict=True, strategy="forward-mode")


@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp", "jacobian", "hessian"])
def test_17_04_inputs_are_tensors_or_tuples(F: Any, x: Any, raises: Any, name: str) -> None:
    func = getattr(F, name)
    with raises(
        TypeError,
        f"The inputs given to {name} must be either a Tensor or a tuple of Tensors but the given inputs has "
        "type <class 'list'>.",
    ):
        func(cubes, [x])
    with raises(
        TypeError,
        f"The inputs given to {name} must be either a Tensor or a tuple of Tensors but the value at index 1 "
        "has type <class 'float'>.",
    ):
        func(cubes, (x, 1.0))


def test_17_04_outputs_are_tensors_or_tuples(F: Any, x: Any, raises: Any) -> None:
    what = "outputs of the user-provided function"
    with raises(
        TypeError,
        f"The {what} given to jacobian must be either a Tensor or a tuple of Tensors but the given {what} "
        "has type <class 'list'>.",
    ):
        F.jacobian(lambda a: [a], x)


def test_17_05_one_output_of_one_element(F: Any, x: Any, raises: Any) -> None:
    for name, given in (("hessian", ()), ("vhp", (x,)), ("hvp", (x,))):
        with raises(
            RuntimeError,
            f"The Tensor returned by the function given to {name} should contain a single element",
        ):
            getattr(F, name)(lambda a: a * 2, x, *given)
        with raises(RuntimeError, f"The function given to {name} should return a single Tensor"):
            getattr(F, name)(lambda a: (a.sum(), a.sum()), x, *given)


def test_17_06_results_are_detached_unless_asked_for(T: Any, F: Any, leaf: Any) -> None:
    x = leaf()
    for found in (*F.vjp(cubes, x), *F.jvp(lambda a: a**3, x, x), *F.vhp(cubes, x, x), *F.hvp(cubes, x, x)):
        assert not found.requires_grad
    assert not F.jacobian(lambda a: a**3, x).requires_grad
    assert not F.hessian(cubes, x).requires_grad
    assert x.grad is None


def test_17_06_create_graph_gives_what_can_be_differentiated(T: Any, F: Any, leaf: Any) -> None:
    x, v = leaf(), T.tensor([1.0, 10.0])
    out, product = F.vjp(cubes, x, create_graph=True)
    assert out.requires_grad
    assert T.autograd.grad(product.sum(), x)[0].tolist() == [6.0, 12.0]
    for name in ("vhp", "hvp"):
        product = getattr(F, name)(cubes, x, v, create_graph=True)[1]
        assert T.autograd.grad(product.sum(), x)[0].tolist() == [6.0, 60.0]
    jacobian = F.jacobian(lambda a: a**3, x, create_graph=True)
    assert T.autograd.grad(jacobian.sum(), x)[0].tolist() == [6.0, 12.0]
    hessian = F.hessian(cubes, x, create_graph=True)
    assert T.autograd.grad(hessian.sum(), x)[0].tolist() == [6.0, 6.0]


def test_17_06_the_mode_outside_does_not_matter(T: Any, F: Any, x: Any) -> None:
    with T.no_grad():
        assert F.jacobian(lambda a: a * a, x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
        assert lists(F.jvp(lambda a: a * a, x, x)) == ([1.0, 4.0], [2.0, 8.0])
        assert lists(F.hvp(cubes, x, x)) == (9.0, [6.0, 24.0])


def test_17_06_complex_and_integer_tensors_are_refused(T: Any, F: Any, x: Any, raises: Any) -> None:
    with raises(
        RuntimeError, "grad can be implicitly created only for real scalar outputs but got torch.complex64"
    ):
        F.jacobian(lambda a: a * 1j, x)
    with raises(RuntimeError, "only Tensors of floating point dtype can require gradients"):
        F.jacobian(lambda a: a * 1.0, T.tensor([1, 2]))


def test_17_06_jvp_of_an_integer_output(T: Any, raises: Any) -> None:
    with raises(RuntimeError, "Only Tensors of floating point and complex dtype can require gradients"):
        T.autograd.functional.jvp(lambda x: x.long(), T.ones(2), T.ones(2))
