"""§19: complex numbers."""

from __future__ import annotations

import cmath
import warnings
from collections.abc import Callable
from typing import Any

import pytest

Z = [3 + 4j, 1 - 2j]


@pytest.fixture
def z(T: Any, leaf: Any) -> Any:
    return leaf(Z, dtype=T.complex128)


def gradient(z: Any, loss: Any) -> Any:
    loss.sum().backward()
    return z.grad.tolist()


# -- 19.1 ------------------------------------------------------------------------------------------


def test_19_01_absolute_value(z: Any) -> None:
    (first, second) = gradient(z, z.abs())
    assert first == pytest.approx(0.6 + 0.8j)
    assert second == pytest.approx((1 - 2j) / 5**0.5)


def test_19_01_its_square(z: Any) -> None:
    assert gradient(z, z.abs() ** 2) == pytest.approx([6 + 8j, 2 - 4j])


@pytest.mark.parametrize(("part", "expected"), [("real", 1), ("imag", 1j)])
def test_19_01_parts(z: Any, part: str, expected: complex) -> None:
    assert gradient(z, getattr(z, part)) == [expected, expected]


def test_19_01_by_parts(T: Any, z: Any) -> None:
    weights = T.tensor([[1.0, 10.0], [100.0, 1000.0]], dtype=T.float64)
    assert gradient(z, T.view_as_real(z) * weights) == [1 + 10j, 100 + 1000j]


def test_19_01_angle(T: Any, z: Any) -> None:
    assert gradient(z, z.angle())[0] == pytest.approx((3 + 4j) * 1j / 25)


def test_19_01_a_conjugate_times_itself(z: Any) -> None:
    assert gradient(z, (z.conj() * z).real) == pytest.approx([6 + 8j, 2 - 4j])


# -- 19.2 ------------------------------------------------------------------------------------------


def test_19_02_holomorphic(T: Any, z: Any) -> None:
    (z * z).backward(T.ones(2, dtype=T.complex128))
    assert z.grad.tolist() == [6 - 8j, 2 + 4j]


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[complex], complex]]] = {
    "exp": (lambda z: z.exp(), cmath.exp),
    "log": (lambda z: z.log(), lambda z: 1 / z),
    "sin": (lambda z: z.sin(), cmath.cos),
    "sqrt": (lambda z: z.sqrt(), lambda z: 0.5 / z**0.5),
    "reciprocal": (lambda z: 1 / z, lambda z: -1 / z**2),
    "cube": (lambda z: z**3, lambda z: 3 * z**2),
    "power": (lambda z: z ** (1 + 1j), lambda z: (1 + 1j) * z**1j),
    "times": (lambda z: z * (2 - 1j), lambda z: 2 - 1j),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_19_02_a_cotangent_times_the_conjugate_derivative(T: Any, z: Any, name: str) -> None:
    f, slope = FUNCTIONS[name]
    v = T.tensor([1 + 2j, -3j], dtype=T.complex128)
    (found,) = T.autograd.grad(f(z), z, v)
    expected = [c * slope(x).conjugate() for c, x in zip([1 + 2j, -3j], Z, strict=True)]
    assert found.tolist() == pytest.approx(expected)


def test_19_02_a_conjugate_of_a_cotangent(T: Any, z: Any) -> None:
    (found,) = T.autograd.grad(z.conj(), z, T.tensor([1 + 2j, -3j], dtype=T.complex128))
    assert found.tolist() == [1 - 2j, 3j]


def test_19_02_matrix_products(T: Any, leaf: Any) -> None:
    a = leaf([[1 + 1j, 2], [0, 1j]], dtype=T.complex128)
    b = leaf([[1j, 1], [1, 2 - 1j]], dtype=T.complex128)
    v = T.tensor([[1, 1j], [2, 0]], dtype=T.complex128)
    (a @ b).backward(v)
    assert a.grad.tolist() == (v @ b.detach().mH).tolist()
    assert b.grad.tolist() == (a.detach().mH @ v).tolist()


def test_19_02_second_order(T: Any, z: Any) -> None:
    (g,) = T.autograd.grad((z * z * z).sum(), z, T.tensor(1, dtype=T.complex128), create_graph=True)
    assert g.resolve_conj().tolist() == pytest.approx([(3 * x * x).conjugate() for x in Z])
    (h,) = T.autograd.grad(g, z, T.ones(2, dtype=T.complex128))
    assert h.resolve_conj().tolist() == pytest.approx([6 * x.conjugate() for x in Z])


# -- 19.3 ------------------------------------------------------------------------------------------


def test_19_03_a_real_leaf_gets_the_real_part(T: Any, leaf: Any) -> None:
    x = leaf([1.0, 2.0], dtype=T.float64)
    (x * T.tensor([1 + 2j, 3 - 4j], dtype=T.complex128)).sum().abs().backward()
    assert x.grad.dtype == T.float64
    out = 1 + 2j + 2 * (3 - 4j)
    unit = out / abs(out)
    assert x.grad.tolist() == pytest.approx([((1 - 2j) * unit).real, ((3 + 4j) * unit).real])


def test_19_03_a_real_leaf_of_single_precision(T: Any, leaf: Any) -> None:
    x = leaf([1.0, 2.0])
    (x * T.tensor([1j, 2], dtype=T.complex64)).abs().sum().backward()
    assert (x.grad.dtype, x.grad.tolist()) == (T.float32, [1.0, 2.0])


def test_19_03_zero(T: Any, leaf: Any) -> None:
    x = leaf([0j], dtype=T.complex128)
    assert gradient(x, x.abs()) == [0]
    (found,) = T.autograd.grad(x.sgn(), x, T.ones(1, dtype=T.complex128))
    assert found.tolist() == [0]
    assert x.sgn().tolist() == [0]


def test_19_03_parts_make_a_complex_number(T: Any, leaf: Any) -> None:
    a, b = leaf([3.0], dtype=T.float64), leaf([4.0], dtype=T.float64)
    T.complex(a, b).abs().backward()
    assert (a.grad.item(), b.grad.item()) == pytest.approx((0.6, 0.8))
    r, t = leaf([2.0], dtype=T.float64), leaf([0.5], dtype=T.float64)
    T.polar(r, t).real.backward()
    assert (r.grad.item(), t.grad.item()) == pytest.approx((0.8775825618903728, -0.958851077208406))


# -- 19.4 ------------------------------------------------------------------------------------------


def test_19_04_conj_is_a_lazy_view(T: Any) -> None:
    z = T.tensor(Z)
    c = z.conj()
    assert (c.is_conj(), T.is_conj(c), z.is_conj()) == (True, True, False)
    assert c._is_view()
    assert c.tolist() == [3 - 4j, 1 + 2j]
    z.mul_(2)
    assert c.tolist() == [6 - 8j, 2 + 4j]


def test_19_04_twice_is_none(T: Any) -> None:
    z = T.tensor(Z)
    assert not z.conj().conj().is_conj()
    assert z.conj().conj().tolist() == Z
    assert z.conj().conj().grad_fn is None


def test_19_04_views_of_conjugates_stay(T: Any) -> None:
    c = T.tensor([Z, Z]).conj()
    assert c[0].is_conj()
    assert c.t().is_conj()
    assert c.reshape(4).is_conj()
    assert c.detach().is_conj()
    assert not c.real.is_conj()
    assert c.real.tolist() == [[3.0, 1.0]] * 2
    assert c.imag.tolist() == [[-4.0, 2.0]] * 2


def test_19_04_results_are_computed(T: Any) -> None:
    c = T.tensor(Z).conj()
    assert not (c + 1).is_conj()
    assert (c + 1).tolist() == [4 - 4j, 2 + 2j]
    assert not c.conj_physical().is_conj()
    assert not T.zeros_like(c).is_conj()


def test_19_04_resolve(T: Any) -> None:
    z = T.tensor(Z)
    c = z.conj().resolve_conj()
    assert not c.is_conj()
    assert c.tolist() == [3 - 4j, 1 + 2j]
    assert z.resolve_conj() is z
    assert z.resolve_neg() is z
    z.zero_()
    assert c.tolist() == [3 - 4j, 1 + 2j]


def test_19_04_writes_go_through(T: Any) -> None:
    z = T.tensor(Z)
    c = z.conj()
    c.add_(1j)
    c[1] = 5 + 5j
    assert c.is_conj()
    assert z.tolist() == [3 + 3j, 5 - 5j]


def test_19_04_writes_are_differentiated(T: Any, z: Any) -> None:
    y = z * 1
    y.conj().mul_(1j)
    y.backward(T.tensor([1, 2j], dtype=T.complex128))
    assert y.tolist() == [x * -1j for x in Z]
    assert z.grad.tolist() == [1j, -2]


def test_19_04_a_view_of_what_was_written(T: Any, z: Any) -> None:
    y = z * 1
    c, part = y.conj(), y.imag
    y.mul_(2j)
    c.backward(T.tensor([1, 2j], dtype=T.complex128), retain_graph=True)
    assert z.grad.resolve_conj().tolist() == [-2j, -4]
    z.grad = None
    part.sum().backward()
    assert z.grad.tolist() == [2, 2]


def test_19_04_parts_are_views(T: Any) -> None:
    z = T.tensor(Z)
    z.real.zero_()
    z.imag.add_(1)
    assert z.tolist() == [5j, -1j]
    z.real = T.tensor([7.0, 8.0])
    assert z.tolist() == [7 + 5j, 8 - 1j]
    pairs = T.view_as_real(z)
    pairs[0, 1] = 0.0
    assert z.tolist() == [7, 8 - 1j]
    assert T.view_as_complex(pairs).tolist() == z.tolist()


def test_19_04_what_is_computed(T: Any, differs: Any) -> None:
    c = T.tensor(Z).conj()
    assert c.imag.is_neg() is not differs("19.4")
    assert not c.clone().is_conj()
    assert c.imag.tolist() == [-4.0, 2.0]
    assert c.clone().tolist() == [3 - 4j, 1 + 2j]


def test_19_04_nodes(T: Any, z: Any) -> None:
    assert z.conj().grad_fn.name() == "ConjBackward0"
    assert z.real.grad_fn.name() == "SelectBackward0"
    assert z.real.grad_fn.next_functions[0][0].name() == "ViewAsRealBackward0"
    assert T.view_as_real(z).grad_fn.name() == "ViewAsRealBackward0"


def test_19_04_real_tensors(T: Any, raises: Any) -> None:
    x = T.ones(2)
    assert x.conj() is x
    assert x.real is x
    assert T.real(x) is x
    message = "imag is not implemented for tensors with non-complex dtypes."
    with raises(RuntimeError, message):
        x.imag  # noqa: B018 - reading it raises
    with raises(RuntimeError, message):
        T.imag(x)
    with raises(RuntimeError, message):
        T.tensor([1]).imag  # noqa: B018 - reading it raises


def test_19_04_views_that_cannot_be(T: Any, raises: Any) -> None:
    with raises(RuntimeError, "view_as_real is only supported for complex tensors"):
        T.view_as_real(T.ones(2))
    with raises(
        RuntimeError,
        "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you "
        "can view it as real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT "
        "alias the original.",
    ):
        T.view_as_real(T.tensor(Z).conj())
    with raises(RuntimeError, "Tensor must have a last dimension of size 2"):
        T.view_as_complex(T.ones(3))
    with raises(RuntimeError, "Tensor must have a last dimension with stride 1"):
        T.view_as_complex(T.ones(2, 4)[:, ::2])
    with raises(RuntimeError, "Input tensor must have one or more dimensions"):
        T.view_as_complex(T.tensor(1.0))
    with raises(RuntimeError, "Tensor must have a storage_offset divisible by 2"):
        T.view_as_complex(T.ones(5)[1:3])


def test_19_04_numpy_wants_it_resolved(T: Any, raises: Any) -> None:
    c = T.tensor(Z).conj()
    with raises(
        RuntimeError,
        "Can't call numpy() on Tensor that has conjugate bit set. Use tensor.resolve_conj().numpy() instead.",
    ):
        c.numpy()
    assert c.resolve_conj().numpy().tolist() == [3 - 4j, 1 + 2j]


def test_19_04_transposed_conjugates(T: Any, raises: Any) -> None:
    a = T.tensor([[1j, 2], [3, 4]])
    for found in (a.mH, a.H, a.adjoint(), T.adjoint(a)):
        assert found.is_conj()
        assert found.tolist() == [[-1j, 3], [2, 4]]
    with raises(RuntimeError, "tensor.H is only supported on matrices (2-D tensors). Got 1-D tensor."):
        a[0].H  # noqa: B018 - reading it raises


def test_19_04_in_a_loop(T: Any, leaf: Any) -> None:
    """A step that meets the view again and again: recorded once, then run as a plan."""
    w = leaf([1 + 1j, 2 - 1j], dtype=T.complex128)
    other = w.detach().clone().conj()
    seen = []
    for _ in range(5):
        loss = (other * w).abs().sum() + (w.conj() * w).real.sum()
        loss.backward()
        with T.no_grad():
            other.mul_(0.5)
            w -= 0.1 * w.grad.conj()
            w.grad = None
        seen.append(loss.item())
    assert other.is_conj()
    assert other.tolist() == [(1 - 1j) / 32, (2 + 1j) / 32]
    assert seen == pytest.approx(
        [14.0, 9.010031587220437, 8.349400093484242, 9.735330481716375, 12.744334263063921]
    )


def test_19_04_errors_of_constructors(T: Any, raises: Any) -> None:
    with raises(
        RuntimeError, "Expected object of scalar type Float but got scalar type Double for second argument"
    ):
        T.complex(T.ones(1), T.ones(1, dtype=T.float64))
    with raises(TypeError, "is_complex(): argument 'input' (position 1) must be Tensor, not int"):
        T.is_complex(3)
    assert T.is_complex(T.tensor(1j))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert T.tensor([1 + 2j]).real.tolist() == [1.0]


# -- complex numbers beside tensors ----------------------------------------------------------------


def pulled(T: Any, x: Any, y: Any) -> Any:
    """What a cotangent of ones gives `x`."""
    (found,) = T.autograd.grad(y, x, T.ones_like(y.detach()))
    return found.tolist()


def slope(base: complex, exponent: complex) -> complex:
    """The derivative of a power by its exponent, conjugated."""
    return (base**exponent * cmath.log(base)).conjugate()


def test_19_02_a_complex_number_to_the_power_of_a_tensor(T: Any, z: Any, leaf: Any) -> None:
    c = 0.1 + 0.2j
    y = c**z
    assert y.grad_fn.name() == "PowBackward2"
    assert pulled(T, z, y) == pytest.approx([slope(c, e) for e in Z])
    x = leaf([2.0, -1.0], dtype=T.float64)
    assert pulled(T, x, c**x) == pytest.approx([slope(c, e).real for e in (2.0, -1.0)])


def test_19_02_powers_by_a_complex_number(T: Any, z: Any) -> None:
    c = 0.1 + 0.2j
    y = z**c
    assert y.grad_fn.name() == "PowBackward0"
    assert y.tolist() == pytest.approx([b**c for b in Z], rel=1e-12)
    assert pulled(T, z, y) == pytest.approx([(c * b ** (c - 1)).conjugate() for b in Z])


def test_19_02_a_negative_base_has_a_logarithm_where_the_exponent_is_complex(T: Any, z: Any) -> None:
    bases = [-2.0, -0.5]
    y = T.tensor(bases, dtype=T.float64) ** z
    assert pulled(T, z, y) == pytest.approx([slope(b, e) for b, e in zip(bases, Z, strict=True)])
    assert pulled(T, z, (-2.0) ** z) == pytest.approx([slope(-2.0, e) for e in Z])


def test_19_02_complex_factors_of_a_product_of_matrices(T: Any) -> None:
    a = T.tensor([[1 + 1j, 2.0], [0.5j, -1.0]], dtype=T.complex128, requires_grad=True)
    found = T.addmm(a, a, a, beta=2j, alpha=1 - 1j)
    assert T.allclose(found, 2j * a + (1 - 1j) * (a @ a))
    (g,) = T.autograd.grad(found.abs().sum(), a)
    (h,) = T.autograd.grad((2j * a + (1 - 1j) * (a @ a)).abs().sum(), a)
    assert T.allclose(g, h)


def test_19_04_truth_is_not_of_the_real_part_alone(T: Any) -> None:
    z = T.tensor([0j, 2j, 1 + 0j])
    assert z.bool().tolist() == [False, True, True]
    assert z.to(T.bool).logical_not().tolist() == [True, False, False]


def test_19_04_python_numbers_of_complex_tensors(T: Any, raises: Any) -> None:
    assert (float(T.tensor(2 + 0j)), int(T.tensor(2 + 0j)), complex(T.tensor(2 + 1j))) == (2.0, 2, 2 + 1j)
    with raises(RuntimeError, "value cannot be converted to type double without overflow"):
        float(T.tensor(2 + 1j))
    with raises(RuntimeError, "value cannot be converted to type int64_t without overflow"):
        int(T.tensor(2 + 1j))


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("max", NotImplementedError, "\"max_all\" not implemented for 'ComplexDouble'"),
        ("min", NotImplementedError, "\"min_all\" not implemented for 'ComplexDouble'"),
        ("amax", NotImplementedError, "\"max_values_cpu\" not implemented for 'ComplexDouble'"),
        ("aminmax", NotImplementedError, "\"aminmax_cpu\" not implemented for 'ComplexDouble'"),
        ("floor", NotImplementedError, "floor is not supported for complex inputs"),
        ("relu", NotImplementedError, "clamp is not supported for complex types"),
        ("signbit", NotImplementedError, "signbit is not implemented for complex tensors."),
        ("isposinf", RuntimeError, "isposinf does not support complex inputs."),
        ("deg2rad", RuntimeError, "deg2rad is not supported for complex tensors."),
        (
            "sign",
            NotImplementedError,
            "Unlike NumPy, torch.sign is not intended to support complex numbers. "
            "Please use torch.sgn instead.",
        ),
    ],
)
def test_19_04_complex_numbers_have_no_order(
    T: Any, z: Any, raises: Any, name: str, kind: type[Exception], text: str
) -> None:
    with raises(kind, text):
        getattr(T, name)(z.detach())


def test_19_04_complex_numbers_have_no_order_between_two(T: Any, z: Any, raises: Any) -> None:
    z = z.detach()
    with raises(RuntimeError, "maximum not implemented for complex tensors."):
        T.maximum(z, z)
    with raises(NotImplementedError, "clamp is not supported for complex types"):
        z.clamp(min=0)
    with raises(RuntimeError, "max(): does not support complex input"):
        z.max(0)
    with raises(RuntimeError, "In-place abs is not supported for complex tensors."):
        z.abs_()
