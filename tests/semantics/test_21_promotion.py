"""§21: type promotion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip

# The tables have one row for each left operand and one column for each right one, in the order of DTYPES.
SHORT = {
    "b": "bool", "u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "f16": "float16", "bf": "bfloat16", "f32": "float32", "f64": "float64",
    "c64": "complex64", "c128": "complex128",
}  # fmt: skip
LATTICE = """
b    u8   i8   i16  i32  i64  f16  bf   f32  f64  c64  c128
u8   u8   i16  i16  i32  i64  f16  bf   f32  f64  c64  c128
i8   i16  i8   i16  i32  i64  f16  bf   f32  f64  c64  c128
i16  i16  i16  i16  i32  i64  f16  bf   f32  f64  c64  c128
i32  i32  i32  i32  i32  i64  f16  bf   f32  f64  c64  c128
i64  i64  i64  i64  i64  i64  f16  bf   f32  f64  c64  c128
f16  f16  f16  f16  f16  f16  f16  f32  f32  f64  c64  c128
bf   bf   bf   bf   bf   bf   f32  bf   f32  f64  c64  c128
f32  f32  f32  f32  f32  f32  f32  f32  f32  f64  c64  c128
f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128
c64  c64  c64  c64  c64  c64  c64  c64  c64  c128 c64  c128
c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128
"""
"""Two operands of the same rank."""
BELOW = """
b    u8   i8   i16  i32  i64  f16  bf   f32  f64  c64  c128
u8   u8   u8   u8   u8   u8   f16  bf   f32  f64  c64  c128
i8   i8   i8   i8   i8   i8   f16  bf   f32  f64  c64  c128
i16  i16  i16  i16  i16  i16  f16  bf   f32  f64  c64  c128
i32  i32  i32  i32  i32  i32  f16  bf   f32  f64  c64  c128
i64  i64  i64  i64  i64  i64  f16  bf   f32  f64  c64  c128
f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  -    -
bf   bf   bf   bf   bf   bf   bf   bf   bf   bf   c64  c64
f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  c64  c64
f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  c128 c128
c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64  c64
c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128
"""
"""One dimension on the left, none on the right. `-`: a half-precision complex dtype (see 21.3)."""


def rows(table: str) -> dict[str, list[str]]:
    """The dtypes of a table's rows, by left operand."""
    lines = [line.split() for line in table.strip().splitlines()]
    return {left: [SHORT.get(one, one) for one in line] for left, line in zip(DTYPES, lines, strict=True)}


def zeros(T: Any, dtype: str, *shape: int) -> Any:
    return T.zeros(shape, dtype=getattr(T, dtype))


@pytest.mark.parametrize("left", DTYPES)
def test_21_01_the_lattice(T: Any, left: str) -> None:
    results = [(zeros(T, left, 2) * zeros(T, right, 2)).dtype for right in DTYPES]
    assert [str(one) for one in results] == [f"torch.{one}" for one in rows(LATTICE)[left]]


@pytest.mark.parametrize("left", DTYPES)
def test_21_02_no_dimensions_count_by_category(T: Any, left: str) -> None:
    expected = {right: name for right, name in zip(DTYPES, rows(BELOW)[left], strict=True) if name != "-"}
    results = {right: str((zeros(T, left, 2) * zeros(T, right)).dtype) for right in expected}
    mirrored = {right: str((zeros(T, right) * zeros(T, left, 2)).dtype) for right in expected}
    assert results == mirrored == {right: f"torch.{name}" for right, name in expected.items()}


@pytest.mark.parametrize("left", DTYPES)
def test_21_02_two_without_dimensions_promote_normally(T: Any, left: str) -> None:
    results = [(zeros(T, left) * zeros(T, right)).dtype for right in DTYPES]
    assert [str(one) for one in results] == [f"torch.{one}" for one in rows(LATTICE)[left]]


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (True, "b u8 i8 i16 i32 i64 f16 bf f32 f64 c64 c128"),
        (2, "i64 u8 i8 i16 i32 i64 f16 bf f32 f64 c64 c128"),
        (2.5, "f32 f32 f32 f32 f32 f32 f16 bf f32 f64 c64 c128"),
        (1j, "c64 c64 c64 c64 c64 c64 - c64 c64 c128 c64 c128"),
    ],
)
@pytest.mark.parametrize("shape", [(2,), ()])
def test_21_03_python_numbers(T: Any, number: complex, expected: str, shape: tuple[int, ...]) -> None:
    for dtype, name in zip(DTYPES, expected.split(), strict=True):
        if name != "-":
            assert str((zeros(T, dtype, *shape) * number).dtype) == f"torch.{SHORT[name]}"
            assert str((number * zeros(T, dtype, *shape)).dtype) == f"torch.{SHORT[name]}"


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_21_03_float16_with_a_complex_number(T: Any, differs: Any) -> None:
    result = zeros(T, "float16", 2) * 1j
    assert str(result.dtype) == ("torch.complex64" if differs("21.3") else "torch.complex32")


def test_21_03_integers_wrap(T: Any) -> None:
    x = T.tensor([1, 2], dtype=T.uint8)
    assert (x + 300).tolist() == [45, 46]
    assert (x * 300).tolist() == [44, 88]
    assert (x - 3).tolist() == [254, 255]
    assert (x + 300).dtype == T.uint8


INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_21_04_true_division_and_unary_math_give_floats(T: Any, dtype: str) -> None:
    x = T.tensor([1, 1], dtype=getattr(T, dtype))
    assert (x / x).dtype == T.float32
    assert (x / x).tolist() == [1.0, 1.0]
    for name in ("sin", "exp", "sqrt", "log", "tanh", "sigmoid"):
        assert getattr(x, name)().dtype == T.float32


@pytest.mark.parametrize("dtype", INTEGERS)
def test_21_04_floor_division_and_powers_stay(T: Any, dtype: str) -> None:
    x = T.tensor([7, 9], dtype=getattr(T, dtype))
    assert (x // 2).dtype == x.dtype
    assert (x // 2).tolist() == [3, 4]
    assert (x**2).dtype == x.dtype
    assert (x**2).tolist() == [49, 81]


def test_21_04_negative_powers(T: Any, raises: Any) -> None:
    x = T.tensor([1, 2])
    with raises(RuntimeError, "Integers to negative integer powers are not allowed."):
        x**-1


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS])
def test_21_04_sums_widen(T: Any, dtype: str) -> None:
    x = T.tensor([1, 1], dtype=getattr(T, dtype))
    assert (x.sum().dtype, x.sum().item()) == (T.int64, 2)
    assert (x.prod().dtype, x.prod().item()) == (T.int64, 1)
    assert (x.cumsum(0).dtype, x.cumsum(0).tolist()) == (T.int64, [1, 2])


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("int64", "Long"),
        ("int32", "Int"),
        ("int16", "Short"),
        ("int8", "Char"),
        ("uint8", "Byte"),
        ("bool", "Bool"),
    ],
)
def test_21_04_mean_is_for_floats(T: Any, raises: Any, dtype: str, name: str) -> None:
    x = zeros(T, dtype, 2)
    message = (
        "mean(): could not infer output dtype. "
        f"Input dtype must be either a floating point or complex dtype. Got: {name}"
    )
    with raises(RuntimeError, message):
        x.mean()


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
def test_21_04_float_power_is_double(T: Any, dtype: str) -> None:
    x = T.tensor([2, 3], dtype=getattr(T, dtype))
    assert T.float_power(x, 2).dtype == T.float64
    assert T.float_power(x, 2).tolist() == [4.0, 9.0]


def test_21_04_float_power_in_place(T: Any, raises: Any) -> None:
    x = T.tensor([2.0, 3.0], dtype=T.float64)
    assert x.float_power_(2) is x
    assert x.tolist() == [4.0, 9.0]
    with raises(
        RuntimeError,
        "the base given to float_power_ has dtype Float but the operation's result requires dtype Double",
    ):
        T.ones(2).float_power_(2)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("digamma", "float32"),
        ("erfinv", "float32"),
        ("i0", "float32"),
        ("sinc", "float32"),
        ("rad2deg", "float32"),
    ],
)
def test_21_04_special_functions_of_integers(T: Any, name: str, expected: str) -> None:
    assert str(getattr(T, name)(T.tensor([0, 1])).dtype) == f"torch.{expected}"


# -- 21.5 ------------------------------------------------------------------------------------------


def test_21_05_joining_and_choosing_promote(T: Any) -> None:
    i, f, d = T.tensor([1, 2]), T.tensor([1.5, 2.5]), T.tensor([0.5, 3.5], dtype=T.float64)
    assert T.cat([i, f]).dtype == T.float32
    assert T.cat([i, f]).tolist() == [1.0, 2.0, 1.5, 2.5]
    assert T.cat([f, d]).dtype == T.float64
    assert T.stack([i, d]).dtype == T.float64
    assert T.where(i > 1, i, f).dtype == T.float32
    assert T.where(i > 1, 1.5, i).dtype == T.float32
    assert T.maximum(i, f).tolist() == [1.5, 2.5]
    assert T.maximum(f, d).dtype == T.float64
    assert T.nn.functional.mse_loss(f, d).dtype == T.float64
    for name in ("hypot", "atan2", "logaddexp", "fmax", "copysign"):
        assert getattr(T, name)(f, d).dtype == T.float64


def test_21_05_gradients_through_joining(T: Any, leaf: Any) -> None:
    f, d = leaf([1.5]), leaf([2.5], dtype=T.float64)
    T.cat([f, d]).sum().backward()
    assert (f.grad.dtype, d.grad.dtype) == (T.float32, T.float64)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mm", "expected m1 and m2 to have the same dtype, but got: float != double"),
        ("matmul", "expected m1 and m2 to have the same dtype, but got: float != double"),
    ],
)
def test_21_05_matrix_products_do_not(T: Any, raises: Any, name: str, message: str) -> None:
    with raises(RuntimeError, message):
        getattr(T, name)(T.ones(2, 2), T.ones(2, 2, dtype=T.float64))


def test_21_05_nor_do_linear_and_lerp(T: Any, raises: Any) -> None:
    f, d = T.ones(2, 2), T.ones(2, 2, dtype=T.float64)
    with raises(RuntimeError, "…same dtype…"):
        T.nn.functional.linear(f, d)
    with raises(RuntimeError, "expected dtype float for `end` but got dtype double"):
        T.lerp(f, d, 0.5)
    with raises(RuntimeError, "heaviside is not yet implemented for tensors with different dtypes."):
        T.heaviside(f, d)


def test_21_05_numpy(T: Any) -> None:
    x = T.ones(2)
    assert (x * np.float64(2.5)).dtype == T.float32
    assert (T.ones(2, dtype=T.int64) * np.float64(2.5)).dtype == T.float32
    assert T.tensor(np.array([2.5])).dtype == T.float64
    assert (x * T.tensor(np.array([2.5, 1.0]))).dtype == T.float64


# -- 21.6 ------------------------------------------------------------------------------------------


def test_21_06_bools(T: Any, raises: Any) -> None:
    b = T.tensor([True, False])
    with raises(
        RuntimeError,
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
        "`logical_xor()` operator instead.",
    ):
        b - b
    with raises(
        RuntimeError,
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
        "use the `~` or `logical_not()` operator instead.",
    ):
        -b  # noqa: B018 - negating it raises
    with raises(RuntimeError, "The `+` operator, on a bool tensor is not supported."):
        T.positive(b)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: x & x, "\"bitwise_and_cpu\" not implemented for 'Float'"),
        (lambda x: x | x, "\"bitwise_or_cpu\" not implemented for 'Float'"),
        (lambda x: x ^ x, "\"bitwise_xor_cpu\" not implemented for 'Float'"),
        (lambda x: x.bitwise_not(), "\"bitwise_not_cpu\" not implemented for 'Float'"),
        (lambda x: x.long().softmax(0), "\"softmax_lastdim_kernel_impl\" not implemented for 'Long'"),
        (lambda x: x.long().log_softmax(0), "\"log_softmax_lastdim_kernel_impl\" not implemented for 'Long'"),
        (lambda x: x.long().nextafter(x.long()), "\"nextafter_cpu\" not implemented for 'Long'"),
        (lambda x: x.long().logcumsumexp(0), "\"logcumsumexp_out_cpu\" not implemented for 'Long'"),
    ],
    ids=["and", "or", "xor", "not", "softmax", "log_softmax", "nextafter", "logcumsumexp"],
)
def test_21_06_kernels_that_are_not_there(T: Any, raises: Any, f: Any, message: str) -> None:
    with raises(NotImplementedError, message):
        f(T.ones(2))


def test_21_06_shifts(T: Any) -> None:
    x = T.tensor([1, -8, 3], dtype=T.int8)
    assert (x << 2).tolist() == [4, -32, 12]
    assert (x >> 1).tolist() == [0, -4, 1]
    assert (x << 9).tolist() == [0, 0, 0]
    assert (x >> 9).tolist() == [0, -1, 0]
    assert (x & 3).tolist() == [1, 0, 3]
    assert (x | T.tensor([4], dtype=T.int64)).dtype == T.int64
    assert (~x).tolist() == [-2, 7, -4]


# -- 21.7 ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mul", "add", "div", "maximum", "hypot", "atan2", "xlogy", "fmod", "dist"])
def test_21_07_gradients_go_back_in_each_dtype(T: Any, leaf: Any, name: str) -> None:
    a, b = leaf([1.5, 2.5]), leaf([0.5, 1.5], dtype=T.float64)
    out = getattr(T, name)(a, b)
    assert out.dtype == T.float64
    out.sum().backward()
    assert (a.grad.dtype, b.grad.dtype) == (T.float32, T.float64)


def test_21_07_a_tensor_without_dimensions(T: Any, leaf: Any) -> None:
    a, b = leaf([1.5, 2.5]), leaf(2.0, dtype=T.float64)
    (a * b).sum().backward()
    assert (a.grad.dtype, b.grad.dtype, b.grad.item()) == (T.float32, T.float64, 4.0)


def test_21_07_half_precision(T: Any, leaf: Any) -> None:
    a, b = leaf([1.5], dtype=T.bfloat16), leaf([0.5], dtype=T.float16)
    out = a * b
    assert out.dtype == T.float32
    out.backward()
    assert (a.grad.dtype, b.grad.dtype) == (T.bfloat16, T.float16)


def test_21_07_in_place_keeps_the_targets(T: Any, leaf: Any, raises: Any) -> None:
    a, b = leaf([1.5]), leaf([0.5], dtype=T.float64)
    out = a * 1
    out.mul_(b)
    assert out.dtype == T.float32
    out.backward()
    assert (a.grad.dtype, b.grad.dtype) == (T.float32, T.float64)
    with raises(RuntimeError, "result type Float can't be cast to the desired output type Long"):
        T.tensor([1]).add_(1.5)


def test_21_06_inverting_floats(T: Any, raises: Any) -> None:
    with raises(TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors"):
        ~T.ones(2)


def test_21_02_what_may_be_stored_as_what(T: Any) -> None:
    kinds = [T.bool, T.uint8, T.float32, T.complex64]
    for i, source in enumerate(kinds):
        assert [T.can_cast(source, target) for target in kinds] == [False] * i + [True] * (4 - i)


def test_21_05_interpolation_names_both_dtypes(T: Any, raises: Any) -> None:
    with raises(RuntimeError, "expected dtype float for `end` but got dtype c10::complex<double>"):
        T.lerp(T.ones(1), T.ones(1, dtype=T.complex128), 0.5)
    with raises(RuntimeError, "expected dtype double for `end` but got dtype long int"):
        T.lerp(T.ones(1, dtype=T.float64), T.tensor([1]), 0.5)


def test_21_06_deviations_and_losses_of_other_dtypes(T: Any, raises: Any) -> None:
    for f in (T.std, T.var):
        with raises(RuntimeError, "std and var only support floating point and complex dtypes"):
            f(T.tensor([1, 2]))
    z = T.ones(2, dtype=T.complex64)
    with raises(NotImplementedError, "\"mse_cpu\" not implemented for 'ComplexFloat'"):
        T.nn.functional.mse_loss(z, z)


def test_21_04_integers_give_the_default_dtype(T: Any) -> None:
    @getattr(T, "function", lambda f: f)
    def spread(n: Any) -> Any:
        return n.sqrt() / 3  # rounded as IEEE 754 says, whoever computes it

    before, one = T.get_default_dtype(), T.ones(1)
    try:
        for name in ("float64", "float32") * 4:
            dtype = getattr(T, name)
            T.set_default_dtype(dtype)
            n = T.arange(1, 4)
            third = (n / 3)[0]
            assert (third.dtype, n.sin().dtype, T.arange(2.0).dtype) == (dtype, dtype, dtype)
            assert third.item() == (np.float64(1) / 3 if name == "float64" else np.float32(1) / np.float32(3))
            found = spread(n)
            assert (found.dtype, (n * 0.5).sum().dtype, (one + n).dtype) == (dtype, dtype, T.float32)
            assert found.tolist() == (n.sqrt() / 3).tolist()
            assert found.numpy().dtype.name == name
        half = T.arange(3) * 0.5
        T.set_default_dtype(T.float64)
        assert (half.dtype, half.tolist()) == (T.float32, [0.0, 0.5, 1.0])
    finally:
        T.set_default_dtype(before)
