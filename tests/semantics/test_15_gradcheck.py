"""§15.3: gradcheck and gradgradcheck."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest

# What the oracle imports at its first gradgradcheck.
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script.:DeprecationWarning")

NO_INPUT = (
    "gradcheck expects at least one input tensor to require gradient, "
    "but none of them have requires_grad=True."
)
SINGLE = (
    "Input #0 requires gradient and is not a double precision floating point or complex. This check will "
    "likely fail if all the inputs are not of double precision floating point or complex. "
)
STRIDE = (
    "The 0th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to "
    "be able to compute the numerical gradients correctly. You should call .contiguous on the input before "
    "passing it to gradcheck."
)
MISMATCH = """\
Jacobian mismatch for output 0 with respect to input 0,
numerical:tensor([[2.0000, 0.0000],
        [0.0000, 4.0000]], dtype=torch.float64)
analytical:tensor([[1., 0.],
        [0., 2.]], dtype=torch.float64)
"""
COMPLEX = """\
While considering the imaginary part of complex outputs only, \
Jacobian mismatch for output 0 with respect to input 0,
numerical:tensor([[ 4.0000+2.0000j,  0.0000+0.0000j],
        [ 0.0000+0.0000j, -2.0000+4.0000j]], dtype=torch.complex128)
analytical:tensor([[ 2.+1.j,  0.+0.j],
        [ 0.+0.j, -1.+2.j]], dtype=torch.complex128)
"""
FAST = """\
Jacobian mismatch for output 0 with respect to input 0,
numerical:…
analytical:…

The above quantities relating the numerical and analytical jacobians are computed…
in fast mode. …

Numerical:
 tensor([[2.0000, 0.0000],
        [0.0000, 4.0000]], dtype=torch.float64)
Analytical:
tensor([[1., 0.],
        [0., 2.]], dtype=torch.float64)

The max per-element difference (slow mode) is: 2.00000000….
"""


@pytest.fixture
def failure(T: Any) -> Any:
    """The class of the error, where both modules keep it."""
    return importlib.import_module(f"{T.__name__}.autograd.gradcheck").GradcheckError


@pytest.fixture
def double(T: Any, leaf: Any) -> Any:
    """`double(values=[1., 2.])`: a leaf in float64."""
    return lambda values=(1.0, 2.0): leaf(values, dtype=T.float64)


@pytest.fixture
def complex_leaf(T: Any, leaf: Any) -> Any:
    return leaf([1.0 + 2.0j, 2.0 - 1.0j], dtype=T.complex128)


def half(x: Any) -> Any:
    """x * x with half of its derivative."""
    return x * x.detach()


def test_15_03_signatures(T: Any) -> None:
    def defaults(f: Any) -> dict[str, Any]:
        kept = inspect.signature(f).parameters.items()
        return {name: p.default for name, p in kept if p.kind is p.KEYWORD_ONLY}

    common = {
        "eps": 1e-6,
        "atol": 1e-5,
        "rtol": 1e-3,
        "raise_exception": True,
        "nondet_tol": 0.0,
        "check_undefined_grad": True,
        "check_grad_dtypes": False,
        "check_batched_grad": False,
        "fast_mode": False,
    }
    assert defaults(T.autograd.gradcheck) == {
        **common,
        "check_batched_forward_grad": False,
        "check_forward_ad": False,
        "check_backward_ad": True,
        "masked": None,
    }
    assert defaults(T.autograd.gradgradcheck) == {
        **common,
        "gen_non_contig_grad_outputs": False,
        "check_fwd_over_rev": False,
        "check_rev_over_rev": True,
        "masked": False,
    }
    assert list(inspect.signature(T.autograd.gradgradcheck).parameters)[:3] == [
        "func",
        "inputs",
        "grad_outputs",
    ]


def test_15_03_true_where_gradients_agree(T: Any, double: Any) -> None:
    assert T.autograd.gradcheck(lambda x: (x * x).sin(), (double(),)) is True
    assert T.autograd.gradcheck(lambda x: x.exp(), double()) is True
    assert T.autograd.gradcheck(lambda x: x.exp(), [double()], fast_mode=True) is True
    x, w = double([[1.0, 2.0], [3.0, 4.0]]), double([[0.5], [-1.5]])
    assert T.autograd.gradcheck(lambda x, w, n: ((x @ w) ** n, x.sum(), x.argmax()), (x, w, 2)) is True
    assert T.autograd.gradgradcheck(lambda x, w: (x @ w) ** 2, (x, w)) is True
    assert T.autograd.gradgradcheck(lambda x, w: (x @ w) ** 2, (x, w), fast_mode=True) is True


def test_15_03_the_error_is_a_runtime_error(failure: Any) -> None:
    assert issubclass(failure, RuntimeError)


def test_15_03_mismatch(T: Any, double: Any, failure: Any, raises: Any) -> None:
    with raises(failure, MISMATCH):
        T.autograd.gradcheck(half, (double(),))


def test_15_03_output_and_input_are_named(T: Any, double: Any, failure: Any, raises: Any) -> None:
    with raises(failure, MISMATCH.replace("output 0", "output 1").replace("input 0", "input 1")):
        T.autograd.gradcheck(lambda a, n, b: (a * n, a + half(b)), (double(), 3.0, double()))


def test_15_03_mismatch_in_fast_mode(T: Any, double: Any, failure: Any, raises: Any) -> None:
    with raises(failure, FAST):
        T.autograd.gradcheck(half, (double(),), fast_mode=True)


def test_15_03_mismatch_of_second_order(T: Any, double: Any, failure: Any, raises: Any) -> None:
    x, v = double(), double((1.0, 1.0))
    # Its gradient x * x is right in value, and has no history.
    with raises(failure, MISMATCH.replace("1.,", "0.,").replace("2.]]", "0.]]")):
        T.autograd.gradgradcheck(lambda x: x * (x * x).detach(), (x,), (v,))


def test_15_03_raise_exception_false(T: Any, double: Any) -> None:
    assert T.autograd.gradcheck(half, (double(),), raise_exception=False) is False
    assert T.autograd.gradgradcheck(half, (double(),), raise_exception=False) is False


def test_15_03_no_tracked_input(T: Any, raises: Any) -> None:
    with raises(ValueError, NO_INPUT):
        T.autograd.gradcheck(lambda x: x * 2, (T.ones(2, dtype=T.float64),), raise_exception=False)
    with raises(ValueError, NO_INPUT):
        T.autograd.gradcheck(lambda: 1, ())


def test_15_03_single_precision_warns(T: Any, leaf: Any, warns: Any) -> None:
    x = leaf()
    with warns(UserWarning, SINGLE):
        assert T.autograd.gradcheck(lambda x: x * x, (x,), eps=1e-2) is True


def test_15_03_expanded_input(T: Any, double: Any, raises: Any) -> None:
    with raises(RuntimeError, STRIDE):
        T.autograd.gradcheck(lambda x: x * 2, (double().expand(3, 2),))


def test_15_03_complex(T: Any, complex_leaf: Any, double: Any, failure: Any, raises: Any) -> None:
    z = complex_leaf
    assert T.autograd.gradcheck(lambda z: z * z, (z,)) is True
    assert T.autograd.gradcheck(lambda z: z * z, (z,), fast_mode=True) is True
    assert T.autograd.gradcheck(lambda z: (z * z).abs(), (z,)) is True
    assert T.autograd.gradcheck(lambda x, z: (x * z, x.exp()), (double(), z)) is True
    assert T.autograd.gradgradcheck(lambda z: z * z, (z,)) is True
    with raises(failure, COMPLEX):
        T.autograd.gradcheck(half, (z,))


def test_15_03_without_a_differentiable_output(T: Any, double: Any, failure: Any, raises: Any) -> None:
    assert T.autograd.gradcheck(lambda x: x.argmax(), (double(),)) is True
    assert T.autograd.gradcheck(lambda x: T.ones(2, dtype=T.float64), (double(),)) is True
    with raises(failure, "Numerical gradient for function expected to be zero"):
        T.autograd.gradcheck(lambda x: x.detach() * 2, (double(),))


def test_15_03_shapes_that_change(T: Any, double: Any, raises: Any) -> None:
    message = (
        "Expected `func` to return outputs with the same shape when inputs are perturbed on index (0,) by "
        "1e-06, but got: shapes torch.Size([2]) and torch.Size([1])."
    )
    with raises(AssertionError, message):
        T.autograd.gradcheck(lambda x: x[x <= 2.0], (double((2.0, 1.0)),))


def test_15_03_options_that_exclude_each_other(T: Any, double: Any, raises: Any) -> None:
    both = "Expected at least one of check_forward_ad or check_backward_ad to be True"
    with raises(AssertionError, both):
        T.autograd.gradcheck(half, double(), check_backward_ad=False)
    with raises(AssertionError, "Setting check_batched_grad=True requires check_backward_ad to be True"):
        T.autograd.gradcheck(
            half, double(), check_batched_grad=True, check_backward_ad=False, check_forward_ad=True
        )
    with raises(AssertionError, "Setting check_undefined_grad=True requires check_rev_over_rev to be True"):
        T.autograd.gradgradcheck(half, double(), check_rev_over_rev=False, check_fwd_over_rev=True)


def test_15_03_given_cotangents(T: Any, double: Any) -> None:
    v = double((0.5, -1.0))
    assert T.autograd.gradgradcheck(lambda x: x.exp(), (double(),), (v,)) is True
    assert T.autograd.gradgradcheck(lambda x: x.exp(), (double(),), gen_non_contig_grad_outputs=True) is True


def test_15_03_what_a_function_reads_by_the_way_is_moved_too(T: Any, double: Any) -> None:
    """The inputs are moved in place, so a module that holds them is checked as well."""
    w = double()
    assert T.autograd.gradcheck(lambda w_: (w * w).sum(), (w,)) is True
    assert w.tolist() == [1.0, 2.0]
    assert w._version == 0
    assert w.grad is None


FORWARD = MISMATCH.replace("Jacobian mismatch", "Jacobian computed with forward mode mismatch")


def test_15_03_forward_mode(T: Any, double: Any, complex_leaf: Any, failure: Any, raises: Any) -> None:
    assert T.autograd.gradcheck(lambda x: x * x, (double(),), check_forward_ad=True) is True
    assert T.autograd.gradcheck(lambda z: z * z, (complex_leaf,), check_forward_ad=True) is True
    assert T.autograd.gradcheck(lambda x: x * x, (double(),), check_forward_ad=True, fast_mode=True) is True
    assert T.autograd.gradgradcheck(lambda x: x.exp(), (double(),), check_fwd_over_rev=True) is True
    with raises(failure, FORWARD):
        T.autograd.gradcheck(half, (double(),), check_forward_ad=True, check_backward_ad=False)
    with raises(failure, "While considering the imaginary part of complex inputs only, …"):
        T.autograd.gradcheck(half, (complex_leaf,), check_forward_ad=True, check_backward_ad=False)


def test_15_03_batched(T: Any, double: Any) -> None:
    x, w = double([[1.0, 2.0], [3.0, 4.0]]), double([[0.5], [-1.5]])
    for f in (lambda x, w: (x @ w).exp(), lambda x, w: (x.var(0), w * 2.0)):
        assert T.autograd.gradcheck(f, (x, w), check_batched_grad=True) is True
        options = {"check_forward_ad": True, "check_batched_forward_grad": True}
        assert T.autograd.gradcheck(f, (x, w), **options) is True
        assert T.autograd.gradgradcheck(f, (x, w), check_batched_grad=True) is True


def test_15_03_forward_mode_of_users_own_functions(T: Any, double: Any, failure: Any, raises: Any) -> None:
    def square(factor: float) -> Any:
        class Square(T.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                ctx.save_for_backward(x)
                ctx.save_for_forward(x)
                return x * x

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return g * 2.0 * ctx.saved_tensors[0]

            @staticmethod
            def jvp(ctx: Any, t: Any) -> Any:
                return t * factor * ctx.saved_tensors[0]

        return Square.apply

    assert T.autograd.gradcheck(square(2.0), (double(),), check_forward_ad=True) is True
    with raises(failure, FORWARD):
        T.autograd.gradcheck(square(1.0), (double(),), check_forward_ad=True)


def of_gradient(T: Any, rule: Any, materialize: bool = True) -> Any:
    """The function 2 x with this rule for its gradient."""

    class Ruled(T.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(materialize)
            return x * 2.0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return rule(g)

    return Ruled.apply


def test_15_03_users_own_functions(T: Any, double: Any, failure: Any, raises: Any) -> None:
    assert T.autograd.gradcheck(of_gradient(T, lambda g: g * 2.0), (double(),)) is True
    assert T.autograd.gradgradcheck(of_gradient(T, lambda g: g * 2.0), (double(),)) is True
    with raises(failure, "Jacobian mismatch for output 0 with respect to input 0,…"):
        T.autograd.gradcheck(of_gradient(T, lambda g: g * 3.0), (double(),))


def test_15_03_not_multiplied_by_the_cotangent(T: Any, double: Any, failure: Any, raises: Any) -> None:
    with raises(failure, "backward not multiplied by grad_output"):
        T.autograd.gradcheck(of_gradient(T, lambda g: g * 2.0 + 1e-9), (double(),))


def test_15_03_not_reentrant(T: Any, double: Any, failure: Any, raises: Any) -> None:
    calls: list[None] = []

    def drifts(g: Any) -> Any:
        calls.append(None)
        return g * (2.0 + 1e-9 * len(calls))

    message = (
        "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
        "gives different values, although analytical gradient matches numerical gradient.The tolerance for "
        "nondeterminism was 0.0.…"
    )
    with raises(failure, message):
        T.autograd.gradcheck(of_gradient(T, drifts), (double(),))
    assert T.autograd.gradcheck(of_gradient(T, drifts), (double(),), nondet_tol=1e-6) is True


@pytest.mark.filterwarnings("ignore:Backwards compatibility")
def test_15_03_undefined_gradients(T: Any, double: Any, failure: Any, raises: Any) -> None:
    def refuses(g: Any) -> Any:
        if g is None:
            raise RuntimeError("no gradient came")
        return g * 2.0

    f = of_gradient(T, refuses, materialize=False)
    with raises(failure, "Expected backward function to handle undefined output grads.…"):
        T.autograd.gradcheck(f, (double(),))
    assert T.autograd.gradcheck(f, (double(),), check_undefined_grad=False) is True
    assert T.autograd.gradcheck(of_gradient(T, lambda g: g * 2.0), (double(),)) is True


@pytest.mark.parametrize(
    ("f", "kind"), [(lambda a: 3, "int"), (lambda a: None, "NoneType"), (lambda a: (a * 2, "x"), "str")]
)
def test_15_03_outputs_that_are_no_tensors(T: Any, double: Any, raises: Any, f: Any, kind: str) -> None:
    for check in (T.autograd.gradcheck, T.autograd.gradgradcheck):
        with raises(AttributeError, f"'{kind}' object has no attribute 'requires_grad'"):
            check(f, double())
