"""§18: func, but for vmap."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest

SCALAR = (
    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with 1 dims. Maybe "
    "you wanted to use the vjp or jacrev APIs instead?"
)
Pair = namedtuple("Pair", "first second")

# What the oracle says when it makes its first dual tensor, and when it linearizes.
pytestmark = [
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node:UserWarning"),
]


@pytest.fixture
def x(T: Any) -> Any:
    """A vector."""
    return T.tensor([1.0, 2.0])


def lists(found: Any) -> Any:
    """Tensors as lists, in the containers they come in."""
    if isinstance(found, dict):
        return {name: lists(part) for name, part in found.items()}
    if isinstance(found, (tuple, list)):
        return [lists(part) for part in found]
    return found.tolist()


def cubes(x: Any) -> Any:
    return (x**3).sum()


@pytest.mark.parametrize("name", ["grad", "grad_and_value"])
def test_18_01_grad_wants_a_scalar(T: Any, x: Any, raises: Any, name: str) -> None:
    transform = getattr(T.func, name)
    with raises(RuntimeError, SCALAR):
        transform(lambda x: x)(x)
    with raises(RuntimeError, SCALAR):
        transform(lambda x: x.sum().reshape(1))(x)
    with raises(
        RuntimeError, "grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got <class 'float'>"
    ):
        transform(lambda x: 1.0)(x)
    with raises(
        RuntimeError, "grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got <class 'tuple'>"
    ):
        transform(lambda x: (x.sum(), x))(x)


def test_18_01_grad_wants_real_outputs_and_floating_inputs(T: Any, x: Any, raises: Any) -> None:
    with raises(
        RuntimeError, "grad can be implicitly created only for real scalar outputs but got torch.complex64"
    ):
        T.func.grad(lambda x: (x * 1j).sum())(x)
    with raises(RuntimeError, "only Tensors of floating point dtype can require gradients"):
        T.func.grad(lambda x: x.sum())(T.tensor([1, 2]))
    with raises(ValueError, "Thing passed to transform API must be Tensor, got <class 'float'>"):
        T.func.grad(lambda x: x)(2.0)


def test_18_02_argnums(T: Any, x: Any) -> None:
    def func(a: Any, b: Any) -> Any:
        return (a * b * b).sum()

    y = T.tensor([3.0, 4.0])
    assert lists(T.func.grad(func)(x, y)) == [9.0, 16.0]
    assert lists(T.func.grad(func, argnums=1)(x, y)) == [6.0, 16.0]
    assert lists(T.func.grad(func, argnums=-1)(x, y)) == [6.0, 16.0]
    found = T.func.grad(func, argnums=(1, 0))(x, y)
    assert type(found) is tuple
    assert lists(found) == [[6.0, 16.0], [9.0, 16.0]]
    assert lists(T.func.grad(func)(x, b=y)) == [9.0, 16.0]


@pytest.mark.parametrize("name", ["grad", "jacrev", "jacfwd"])
def test_18_02_argnums_that_are_refused(T: Any, x: Any, raises: Any, name: str) -> None:
    transform = getattr(T.func, name)

    def func(a: Any, b: Any) -> Any:
        return (a * b).sum()

    with raises(RuntimeError, "Got argnum=5, but only 2 positional inputs"):
        transform(func, argnums=5)(x, x)
    with raises(RuntimeError, "Got argnum=-3, but only 2 positional inputs"):
        transform(func, argnums=(0, -3))(x, x)
    with raises(RuntimeError, "argnums must be non-empty"):
        transform(func, argnums=())(x, x)
    with raises(RuntimeError, "argnums elements must be unique, got (0, 0)"):
        transform(func, argnums=(0, -2))(x, x)
    with raises(RuntimeError, "argnums must be int or Tuple[int, ...], got: <class 'list'>"):
        transform(func, argnums=[0])(x, x)


def test_18_02_has_aux(T: Any, x: Any, raises: Any) -> None:
    found, aux = T.func.grad(lambda x: (x.sum(), [x * 2, {"a": x}]), has_aux=True)(x)
    assert found.tolist() == [1.0, 1.0]
    assert lists(aux) == [[2.0, 4.0], {"a": [1.0, 2.0]}]
    assert not aux[0].requires_grad
    found, (value, aux) = T.func.grad_and_value(lambda x: (x.sum(), x * 2), has_aux=True)(x)
    assert (lists(found), lists(value), lists(aux)) == ([1.0, 1.0], 3.0, [2.0, 4.0])
    for call, run in (
        ("grad_and_value(f)(*args)", lambda: T.func.grad(lambda x: x.sum(), has_aux=True)(x)),
        ("vjp(f, *primals)", lambda: T.func.vjp(lambda x: x, x, has_aux=True)),
        ("jvp(f, primals, tangents)", lambda: T.func.jvp(lambda x: x, (x,), (x,), has_aux=True)),
    ):
        with raises(
            RuntimeError,
            f"{call}: output of function f should be a tuple: (output, aux) if has_aux is True",
        ):
            run()
    with raises(RuntimeError, "Expected tensors, got unsupported type <class 'float'>"):
        T.func.grad(lambda x: (x.sum(), 1.0), has_aux=True)(x)


def test_18_02_pytrees(T: Any, x: Any) -> None:
    found = T.func.grad(lambda tree: (tree["a"] * tree["b"][0]).sum())({"a": x, "b": [x * 3, x]})
    assert lists(found) == {"a": [3.0, 6.0], "b": [[1.0, 2.0], [0.0, 0.0]]}
    found = T.func.grad(lambda pair: (pair.first * pair.second).sum())(Pair(x, x * 2))
    assert type(found) is Pair
    assert lists(found) == [[2.0, 4.0], [1.0, 2.0]]


def test_18_02_an_unused_argument_gives_zeros(T: Any, x: Any) -> None:
    assert T.func.grad(lambda a, b: a.sum(), argnums=1)(x, x).tolist() == [0.0, 0.0]
    assert T.func.grad(lambda a: T.tensor(1.0))(x).tolist() == [0.0, 0.0]
    assert lists(T.func.vjp(lambda a, b: a, x, x)[1](x)) == [[1.0, 2.0], [0.0, 0.0]]
    assert lists(T.func.jvp(lambda a: T.ones(1), (x,), (x,))) == [[1.0], [0.0]]


def test_18_02_any_order(T: Any) -> None:
    func, x = (lambda x: x**5), T.tensor(2.0)
    for expected in (80.0, 160.0, 240.0, 240.0, 120.0, 0.0):
        func = T.func.grad(func)
        assert func(x).item() == expected


def test_18_02_transforms_nest_in_each_other(T: Any, x: Any) -> None:
    one = T.ones(2)
    grad, jvp = T.func.grad, T.func.jvp
    assert lists(jvp(grad(cubes), (x,), (x,))) == [[3.0, 12.0], [6.0, 24.0]]
    assert lists(grad(lambda x: jvp(lambda y: y**3, (x,), (one,))[1].sum())(x)) == [6.0, 12.0]
    second = jvp(lambda x: jvp(lambda y: y**3, (x,), (one,))[1], (x,), (one,))
    assert lists(second) == [[3.0, 12.0], [6.0, 12.0]]
    third = jvp(lambda x: jvp(lambda y: jvp(lambda z: z**3, (y,), (one,))[1], (x,), (one,))[1], (x,), (one,))
    assert lists(third) == [[6.0, 12.0], [6.0, 6.0]]


def test_18_02_an_inner_function_may_use_outer_arguments(T: Any, x: Any) -> None:
    def func(x: Any) -> Any:
        return T.func.grad(lambda y: (x * y * y).sum())(x).sum()

    # d/dx of 2 x y at y = x
    assert T.func.grad(func)(x).tolist() == [4.0, 8.0]
    tangent = T.func.jvp(lambda x: T.func.jvp(lambda y: x * y * y, (x,), (x,))[1], (x,), (T.ones(2),))[1]
    assert tangent.tolist() == [6.0, 24.0]


def test_18_02_an_outer_tape_sees_it(T: Any, x: Any, leaf: Any) -> None:
    tracked, weight = leaf(), leaf([3.0, 4.0])
    found = T.func.grad(cubes)(tracked)
    assert found.requires_grad
    assert T.autograd.grad(found.sum(), tracked)[0].tolist() == [6.0, 12.0]
    found, value = T.func.grad_and_value(lambda x: (weight * x**3).sum())(x)
    assert found.requires_grad
    assert value.requires_grad
    (found.sum() + value).backward()
    assert weight.grad.tolist() == [4.0, 20.0]
    assert tracked.grad is None
    for plain in (*T.func.grad_and_value(cubes)(x), T.func.vjp(cubes, x)[0], T.func.jacrev(cubes)(x)):
        assert not plain.requires_grad


def test_18_02_results_that_nobody_tracks_have_no_history(T: Any, x: Any, leaf: Any) -> None:
    weight = leaf()
    by_x, by_y = T.func.grad(lambda x, y: (weight * x).sum() + cubes(y), argnums=(0, 1))(x, x)
    assert by_x.requires_grad
    assert not by_y.requires_grad


def test_18_02_modes_outside_and_inside(T: Any, x: Any, leaf: Any) -> None:
    with T.no_grad():
        found = T.func.grad(cubes)(leaf())
        assert found.tolist() == [3.0, 12.0]
        assert not found.requires_grad

    def func(x: Any) -> Any:
        with T.no_grad():
            constant = x**2
        return (x - constant).sum()

    assert T.func.grad(func)(x).tolist() == [1.0, 1.0]


def test_18_03_grad_and_value(T: Any, x: Any) -> None:
    found = T.func.grad_and_value(cubes)(x)
    assert type(found) is tuple
    assert lists(found) == [[3.0, 12.0], 9.0]


def test_18_03_vjp(T: Any, x: Any, raises: Any) -> None:
    out, pull = T.func.vjp(lambda x: x**3, x)
    assert out.tolist() == [1.0, 8.0]
    for _ in range(2):
        found = pull(T.tensor([1.0, 10.0]))
        assert type(found) is tuple
        assert lists(found) == [[3.0, 120.0]]
    out, pull = T.func.vjp(lambda a, b: (a * b, {"c": a}), x, x)
    assert lists(pull((x, {"c": x}))) == [[2.0, 6.0], [1.0, 4.0]]
    with raises(
        RuntimeError,
        "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
        "function. cotangents: *, primal output: (*, {'c': *})",
    ):
        pull(x)
    out, pull, aux = T.func.vjp(lambda x: (x * 2, x + 1), x, has_aux=True)
    assert (lists(pull(x)), lists(aux)) == ([[2.0, 4.0]], [2.0, 3.0])


def test_18_03_vjp_outputs(T: Any, x: Any, raises: Any) -> None:
    call = "vjp(f, *primals)"
    with raises(
        RuntimeError,
        f"{call}: expected f(*primals) to return only tensors, got unsupported type <class 'int'>",
    ):
        T.func.vjp(lambda x: (x, 1), x)
    with raises(
        RuntimeError,
        f"{call}: Expected f to be a function that has non-empty output (got output = [None])",
    ):
        T.func.vjp(lambda x: None, x)
    with raises(
        RuntimeError,
        "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
        "torch.int64",
    ):
        T.func.vjp(lambda x: x.long(), x)


def test_18_03_vjp_cotangents_may_be_tracked(T: Any, x: Any, leaf: Any) -> None:
    weight = leaf([3.0, 4.0])
    (found,) = T.func.vjp(lambda x: x**3, x)[1](weight)
    assert found.tolist() == [9.0, 48.0]
    assert T.autograd.grad(found.sum(), weight)[0].tolist() == [3.0, 12.0]


def test_18_03_jvp(T: Any, x: Any, raises: Any) -> None:
    found = T.func.jvp(lambda x: x**3, (x,), (T.tensor([1.0, 10.0]),))
    assert type(found) is tuple
    assert lists(found) == [[1.0, 8.0], [3.0, 120.0]]
    out, tangent = T.func.jvp(lambda tree: {"a": tree["b"] * 2}, ({"b": x},), ({"b": x},))
    assert (lists(out), lists(tangent)) == ({"a": [2.0, 4.0]}, {"a": [2.0, 4.0]})
    out, tangent, aux = T.func.jvp(lambda x: (x * 2, x + 1), (x,), (x,), has_aux=True)
    assert (lists(tangent), lists(aux)) == ([2.0, 4.0], [2.0, 3.0])


def test_18_03_jvp_wants_tuples(T: Any, x: Any, raises: Any) -> None:
    call = "jvp(f, primals, tangents)"
    with raises(
        RuntimeError, f"{call}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
    ):
        T.func.jvp(cubes, x, x)
    with raises(
        RuntimeError,
        f"{call}: Expected primals and tangents to have the same python structure. For example, if primals "
        "is a tuple of 3 tensors, tangents also must be. Got primals with structure TreeSpec(tuple, None, "
        "[*]) and tangents with structure *",
    ):
        T.func.jvp(cubes, (x,), x)
    with raises(RuntimeError, f"{call}: Expected primals to contain at least one Tensor."):
        T.func.jvp(cubes, (), ())
    with raises(RuntimeError, f"{call}: Expected tangents to only contain Tensors, got <class 'float'>"):
        T.func.jvp(cubes, (x,), (1.0,))
    with raises(
        RuntimeError,
        "Trying to set a forward gradient that has a different size than that of the original Tensor, this "
        "is not supported. Tensor is of size [2] while the given forward gradient is of size [1].",
    ):
        T.func.jvp(cubes, (x,), (x[:1],))
    with raises(
        RuntimeError,
        f"{call}: expected f(*primals) to return only tensors, got unsupported type <class 'int'>",
    ):
        T.func.jvp(lambda x: 1, (x,), (x,))


def test_18_03_jvp_strict(T: Any, x: Any, raises: Any) -> None:
    with raises(
        RuntimeError,
        "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
        "allowed with strict=True.",
    ):
        T.func.jvp(lambda x: T.ones(1), (x,), (x,), strict=True)


@pytest.mark.parametrize("name", ["jacrev", "jacfwd"])
def test_18_03_jacobians(T: Any, x: Any, name: str) -> None:
    transform = getattr(T.func, name)
    assert transform(lambda x: x**2)(x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert tuple(transform(lambda x: x.reshape(2, 1) + x)(x).shape) == (2, 2, 2)
    found = transform(lambda a, b: (a * b, {"c": a.sum()}), argnums=(0, 1))(x, x)
    by_one = [[1.0, 0.0], [0.0, 2.0]]
    assert lists(found) == [[by_one, by_one], {"c": [[1.0, 1.0], [0.0, 0.0]]}]
    found, aux = transform(lambda x: (x**2, x + 1), has_aux=True)(x)
    assert (lists(found), lists(aux)) == ([[2.0, 0.0], [0.0, 4.0]], [2.0, 3.0])
    assert lists(transform(lambda tree: tree["a"] * 2)({"a": x})) == {"a": [[2.0, 0.0], [0.0, 2.0]]}


@pytest.mark.parametrize("name", ["jacrev", "jacfwd"])
def test_18_03_jacobians_are_real(T: Any, x: Any, raises: Any, name: str) -> None:
    transform = getattr(T.func, name)
    for what, run in (
        ("inputs", lambda: transform(lambda x: x.real)(x * 1j)),
        ("outputs", lambda: transform(lambda x: x * 1j)(x)),
    ):
        with raises(
            RuntimeError,
            f"{name}: Expected all {what} to be real but received complex tensor at flattened input idx: 0",
        ):
            run()


def test_18_03_chunk_size(T: Any, x: Any, raises: Any) -> None:
    for size in (None, 1, 3):
        found = T.func.jacrev(lambda x: x**2, chunk_size=size)(x)
        assert found.tolist() == [[2.0, 0.0], [0.0, 4.0]]
    with raises(ValueError, "jacrev: `chunk_size` should be greater than 0."):
        T.func.jacrev(lambda x: x, chunk_size=0)


def test_18_03_jacobians_compose(T: Any, x: Any) -> None:
    rev, fwd = T.func.jacrev, T.func.jacfwd
    expected = [[[6.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 12.0]]]
    for outer in (rev, fwd):
        for inner in (rev, fwd):
            assert outer(inner(lambda x: x**3))(x).tolist() == expected
    assert T.func.hessian(cubes)(x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    found = T.func.hessian(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x)
    none, one = [[0.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]
    assert lists(found) == [[none, one], [one, none]]


def test_18_03_jacobians_are_seen_by_an_outer_tape(T: Any, leaf: Any) -> None:
    for transform in (T.func.jacrev, T.func.jacfwd, T.func.hessian):
        x = leaf()
        found = transform(cubes)(x)
        assert T.autograd.grad(found.sum(), x)[0].tolist() == (
            [6.0, 6.0] if transform is T.func.hessian else [6.0, 12.0]
        )


def test_18_03_linearize(T: Any, x: Any, raises: Any) -> None:
    out, push = T.func.linearize(lambda x: x**3, x)
    assert out.tolist() == [1.0, 8.0]
    for _ in range(2):
        assert push(T.tensor([1.0, 10.0])).tolist() == [3.0, 120.0]
    out, push = T.func.linearize(lambda a, b: (a * b, {"c": a}), x, x)
    assert lists(push(x, x)) == [[2.0, 8.0], {"c": [1.0, 2.0]}]
    with raises(
        RuntimeError,
        "tangent:1 with shape torch.Size([1]) in flattened pytree doesn't match the shape torch.Size([2]) of "
        "the corresponding primal.",
    ):
        push(x, x[:1])
    with raises(
        RuntimeError,
        "tangent:0 with dtype torch.float64 in flattened pytree doesn't match the dtype torch.float32 of the "
        "corresponding primal.",
    ):
        push(x.double(), x)
    with raises(RuntimeError, "Expected the tangents TreeSpec(tuple, None, [*]) to have the same argspec…"):
        push(x)


@pytest.mark.parametrize("name", ["grad", "grad_and_value", "jacrev", "hessian"])
def test_18_02_none_is_no_argnums(T: Any, x: Any, raises: Any, name: str) -> None:
    with raises(RuntimeError, "argnums must be int or Tuple[int, ...], got: <class 'NoneType'>"):
        getattr(T.func, name)(cubes, argnums=None)(x)


def test_18_02_auxiliary_output_is_tensors(T: Any, x: Any, raises: Any) -> None:
    for name in ("grad", "jacrev", "jacfwd"):
        with raises(RuntimeError, "Expected tensors, got unsupported type <class 'str'>"):
            getattr(T.func, name)(lambda x: (cubes(x), "text"), has_aux=True)(x)


def test_18_03_cotangents_are_tensors(T: Any, x: Any, raises: Any) -> None:
    _, pull = T.func.vjp(cubes, x)
    with raises(TypeError, "gradients can be either Tensors or None, but got float"):
        pull(1.0)
