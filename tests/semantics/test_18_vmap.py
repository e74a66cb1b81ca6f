"""§18.4: vmap."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a "
    "Tensor, please try to rewrite what you're doing with other operations. If error is occurring somewhere "
    "inside PyTorch internals, please file a bug report."
)
BRANCH = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't "
    "support that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"
RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)
UNBATCHED = (
    "vmap: {0}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that "
    "has more elements than `self`. This happened due to `other` being vmapped over but `self` not being "
    "vmapped over in a vmap. Please try to use out-of-place operators instead of {0}. If said operator is "
    "being called inside the PyTorch framework, please file a bug report instead."
)


@pytest.fixture
def grid(T: Any) -> Any:
    """Two samples of three numbers."""
    return T.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=T.float64)


def same(T: Any, got: Any, wanted: Any) -> None:
    """Equal shapes and close values."""
    assert tuple(got.shape) == tuple(wanted.shape)
    assert T.allclose(got, wanted, rtol=1e-10, atol=1e-12)


def loop(T: Any, f: Callable[..., Any], *args: Any) -> Any:
    """What vmap over dimension 0 of all arguments means."""
    return T.stack([f(*(a[i] for a in args)) for i in range(args[0].shape[0])])


# -- dimensions --------------------------------------------------------------------------------------


def test_18_04_a_function_of_a_sample(T: Any, grid: Any) -> None:
    def f(x: Any) -> Any:
        assert isinstance(x, T.Tensor)
        assert (tuple(x.shape), x.ndim, x.numel(), len(x)) == ((3,), 1, 3, 3)
        return (x.sin() * x[0] + x.sum()).reshape(3, 1).squeeze(1)[:2]

    same(T, T.vmap(f)(grid), loop(T, f, grid))
    assert T.vmap(f).__name__ == "f"
    assert T.func.vmap is T.vmap


def test_18_04_in_dims(T: Any, grid: Any) -> None:
    row = T.tensor([1.0, 10.0, 100.0], dtype=T.float64)
    add = lambda a, b: a + b  # noqa: E731 - two functions of two samples
    same(T, T.vmap(add, in_dims=(0, None))(grid, row), grid + row)
    same(T, T.vmap(add, in_dims=(1, 0))(grid, row), (grid + row).T)
    same(T, T.vmap(add, in_dims=-1)(grid, grid), (grid + grid).T)
    same(T, T.vmap(lambda a, n: a * n, in_dims=(0, None))(grid, 3), grid * 3)


def test_18_04_out_dims(T: Any, grid: Any) -> None:
    same(T, T.vmap(lambda x: x * 2, out_dims=1)(grid), (grid * 2).T)
    same(T, T.vmap(lambda x: x * 2, out_dims=-1)(grid), (grid * 2).T)
    first, second = T.vmap(lambda x: (x, x.sum()), out_dims=(1, 0))(grid)
    same(T, first, grid.T)
    same(T, second, grid.sum(1))
    kept, number = T.vmap(lambda x: (x, 3), out_dims=(0, None))(grid)
    same(T, kept, grid)
    assert number == 3


def test_18_04_nested_containers(T: Any, grid: Any) -> None:
    def f(d: Any, pair: Any, scale: float = 1.0) -> Any:
        a, (b, n) = d["a"], pair
        return {"sum": a + b * n, "list": [a * scale, (b,)]}

    row = T.tensor([1.0, 10.0, 100.0], dtype=T.float64)
    found = T.vmap(f, in_dims=({"a": 0}, (None, None)))({"a": grid}, (row, 2), scale=3.0)
    same(T, found["sum"], grid + row * 2)
    same(T, found["list"][0], grid * 3)
    same(T, found["list"][1][0], T.stack([row, row]))


def test_18_04_an_output_that_is_the_same_for_all_is_expanded(T: Any, grid: Any) -> None:
    row = T.tensor([1.0, 2.0])
    found = T.vmap(lambda x: row)(grid)
    assert found.tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert found.stride() == (0, 1)


def test_18_04_nested(T: Any, grid: Any) -> None:
    row = T.tensor([1.0, 10.0, 100.0], dtype=T.float64)
    outer = T.vmap(T.vmap(lambda a, b: a * b, in_dims=(None, 0)), in_dims=(0, None))
    same(T, outer(row, row), row.reshape(3, 1) * row)
    same(T, T.vmap(T.vmap(lambda a: a.exp()), in_dims=1)(grid), grid.T.exp())
    seen = []
    T.vmap(lambda x: T.vmap(lambda y: (seen.append(tuple((x @ x * y).shape)), y)[1])(x))(grid)
    assert seen == [()]


def test_18_04_chunks(T: Any, grid: Any) -> None:
    many = T.arange(10.0).reshape(5, 2)
    same(T, T.vmap(lambda x: x * 2, chunk_size=2)(many), many * 2)
    same(T, T.vmap(lambda x: x * 2, out_dims=1, chunk_size=3)(many), (many * 2).T)


def test_18_04_no_samples(T: Any) -> None:
    assert tuple(T.vmap(lambda x: x.exp() * x[1:2])(T.zeros(0, 3)).shape) == (0, 3)


# -- mistakes ----------------------------------------------------------------------------------------


def f(*args: Any) -> Any:
    return args[0]


def test_18_04_sizes(T: Any, grid: Any, raises: Any) -> None:
    message = (
        "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes [2, 3] for the "
        "mapped dimension"
    )
    with raises(ValueError, message):
        T.vmap(f)(grid, T.ones(3))


def test_18_04_in_dims_mistakes(T: Any, grid: Any, raises: Any) -> None:
    def refused(message: str, in_dims: Any, *args: Any) -> None:
        with raises(ValueError, message):
            T.vmap(f, in_dims=in_dims)(*args)

    kinds = (
        "expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: "
    )
    refused(f"vmap(f, in_dims=[0], ...)(<inputs>): {kinds}<class 'list'>.", [0], grid)
    refused(f"vmap(f, in_dims=None, ...)(<inputs>): {kinds}<class 'NoneType'>.", None, grid)
    refused(
        "vmap(f)(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
        "function with no inputs. The latter is unsupported.",
        0,
    )
    refused(
        "vmap(f, in_dims=(0, 0), ...)(<inputs>): in_dims is not compatible with the structure of `inputs`. "
        "in_dims has structure TreeSpec(tuple, None, [*,\n  *]) but inputs has structure "
        "TreeSpec(tuple, None, [*]).",
        (0, 0),
        grid,
    )
    refused(
        "vmap(f, in_dims=({'a': (0, 0)},), ...)(<inputs>): in_dims is not compatible with the structure of "
        "`inputs`. in_dims has structure TreeSpec(tuple, None, [TreeSpec(dict, ['a'], "
        "[TreeSpec(tuple, None, [*,\n      *])])]) but inputs has structure "
        "TreeSpec(tuple, None, [TreeSpec(dict, ['x'], [*])]).",
        ({"a": (0, 0)},),
        {"x": grid},
    )
    refused(
        "vmap(f, in_dims=(0.5,), ...)(<inputs>): Got in_dim=0.5 for an input but in_dim must be either an "
        "integer dimension or None.",
        (0.5,),
        grid,
    )
    refused(
        "vmap(f, in_dims=0, ...)(<inputs>): Got in_dim=0 for an input but the input is of type <class "
        "'int'>. We cannot vmap over non-Tensor arguments, please use None as the respective in_dim",
        0,
        grid,
        3,
    )
    refused(
        "vmap(f, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of "
        "dimensionality 0 so expected in_dim to satisfy -0 <= in_dim < 0.",
        0,
        T.tensor(1.0),
    )
    refused(
        "vmap(f, in_dims=-3, ...)(<inputs>): Got in_dim=-3 for some input, but that input is a Tensor of "
        "dimensionality 2 so expected in_dim to satisfy -2 <= in_dim < 2.",
        -3,
        grid,
    )
    refused("vmap: Expected at least one Tensor to vmap over", (None,), grid)


def test_18_04_out_dims_mistakes(T: Any, grid: Any, raises: Any) -> None:
    pair = lambda x: (x, x)  # noqa: E731 - messages name it <lambda>
    with raises(
        ValueError,
        "vmap(<lambda>, ..., out_dims=(0, 0, 0))(<inputs>): out_dims is not compatible with the structure of "
        "`outputs`. out_dims has structure TreeSpec(tuple, None, [*,\n  *,\n  *]) but outputs has structure "
        "TreeSpec(tuple, None, [*,\n  *]).",
    ):
        T.vmap(pair, out_dims=(0, 0, 0))(grid)
    with raises(
        ValueError,
        "vmap(f, ..., out_dims=(0, 0))(<inputs>): out_dims is not compatible with the structure of "
        "`outputs`. out_dims has structure TreeSpec(tuple, None, [*,\n  *]) but outputs has structure *.",
    ):
        T.vmap(f, out_dims=(0, 0))(grid)
    with raises(
        ValueError,
        "vmap(f, ..., out_dims=a): `out_dims` must be an int, None or a python collection of ints "
        "representing where in the outputs the vmapped dimension should appear.",
    ):
        T.vmap(f, out_dims="a")(grid)
    with raises(ValueError, "vmap(f, ...): `f` can not return a BatchedTensor when out_dim is None"):
        T.vmap(f, out_dims=None)(grid)
    with raises(IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 3)"):
        T.vmap(f, out_dims=3)(grid)


def test_18_04_outputs_are_tensors(T: Any, grid: Any, raises: Any) -> None:
    message = (
        "vmap({0}, ...): `{0}` must only return Tensors, got type <class 'int'>. Did you mean to set "
        "out_dims= to None for output?"
    )
    with raises(ValueError, message.format("<lambda>")):
        T.vmap(lambda x: 3)(grid)
    with raises(ValueError, message.format("functools.partial(<lambda>, ...)")):
        T.vmap(functools.partial(lambda n, x: n, 3))(grid)


def test_18_04_chunk_size_and_randomness_are_checked_at_once(T: Any, raises: Any) -> None:
    with raises(ValueError, "vmap: chunk_size should be None or greater than 0. (got 0)"):
        T.vmap(f, chunk_size=0)
    with raises(
        RuntimeError, "Only allowed values for randomness are 'error', 'different', or 'same'. Got foo"
    ):
        T.vmap(f, randomness="foo")


# -- values are not there ----------------------------------------------------------------------------


def test_18_04_item(T: Any, grid: Any, raises: Any) -> None:
    for read in (lambda x: x.item(), float, int, lambda x: f"{x}", lambda x: 1.0 in x):
        with raises(RuntimeError, ITEM):
            T.vmap(read)(grid[0])


def test_18_04_branches(T: Any, grid: Any, raises: Any) -> None:
    with raises(RuntimeError, BRANCH):
        T.vmap(lambda x: x if x > 0 else -x)(grid[0])
    with raises(RuntimeError, BRANCH):
        T.vmap(lambda x: x if (x > 0).all() else -x)(grid)


def test_18_04_arrays(T: Any, grid: Any, raises: Any) -> None:
    for read in (lambda x: x.numpy(), lambda x: x.tolist()):
        with raises(RuntimeError, STORAGE):
            T.vmap(read)(grid)


def test_18_04_data(T: Any, grid: Any, raises: Any) -> None:
    def change(x: Any) -> None:
        x.data = x * 2

    with raises(RuntimeError, "accessing `data` under vmap transform is not allowed"):
        T.vmap(lambda x: x.data)(grid)
    with raises(RuntimeError, "mutating directly with `.data` under vmap transform is not allowed."):
        T.vmap(change)(grid)


def test_18_04_what_is_the_same_for_all_can_be_read(T: Any, grid: Any) -> None:
    scale = T.tensor(3.0)
    same(T, T.vmap(lambda x: x * scale.item() if scale > 0 else x)(grid), grid * 3)


def test_18_04_shapes_that_depend_on_values(T: Any, grid: Any, raises: Any) -> None:
    please = "Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."
    with raises(
        RuntimeError,
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"aten::nonzero. {please}",
    ):
        T.vmap(lambda x: x.nonzero())(grid)
    with raises(
        RuntimeError,
        "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over "
        "indexing with a boolean mask.",
    ):
        T.vmap(lambda x: x[x > 2])(grid)
    with raises(
        RuntimeError,
        "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this "
        f"because for each batch this would return a differently shaped Tensor. {please}",
    ):
        T.vmap(lambda x: T.masked_select(x, x > 2))(grid)
    mask = T.tensor([True, False, True])
    same(T, T.vmap(lambda x: x[mask])(grid), grid[:, mask])


def test_18_04_whole_comparisons(T: Any, grid: Any, raises: Any) -> None:
    with raises(RuntimeError, "vmap over torch.allclose isn't supported yet. …"):
        T.vmap(lambda x: T.allclose(x, x))(grid)
    with raises(
        RuntimeError, "Batching rule not implemented for aten::equal. We could not generate a fallback."
    ):
        T.vmap(lambda x: T.equal(x, x))(grid)


def test_18_04_printing_shows_all_samples(T: Any, grid: Any) -> None:
    seen: list[str] = []
    T.vmap(T.vmap(lambda x: (seen.append(repr(x)), x)[1]))(grid)
    assert seen == [
        "BatchedTensor(lvl=2, bdim=0, value=\n    BatchedTensor(lvl=1, bdim=0, value=\n"
        "        tensor([[1., 2., 3.],\n                [4., 5., 6.]], dtype=torch.float64)\n    )\n)"
    ]


# -- random ------------------------------------------------------------------------------------------


def test_18_04_random_ops_are_refused(T: Any, grid: Any, raises: Any) -> None:
    dropout = T.nn.functional.dropout
    for draw in (
        lambda x: x + T.rand(3),
        lambda x: T.randn_like(x),
        lambda x: T.randn_like(grid),
        lambda x: dropout(x, 0.5),
        lambda x: x.clone().normal_(),
        lambda x: T.bernoulli(x * 0),
    ):
        with raises(RuntimeError, RANDOM):
            T.vmap(draw)(grid)
    same(T, T.vmap(lambda x: dropout(x, 0.5, training=False))(grid), grid)


def test_18_04_the_same_for_all(T: Any, grid: Any, raises: Any) -> None:
    for draw in (
        lambda x: x * 0 + T.rand(3),
        lambda x: T.randn_like(x),
        lambda x: T.nn.functional.dropout(x * 0 + 1, 0.5),
        lambda x: T.zeros(3).uniform_() + x * 0,
        lambda x: T.randperm(7),
    ):
        first, second = T.vmap(draw, randomness="same")(grid)
        assert first.tolist() == second.tolist()
    many = T.vmap(lambda x: T.rand(3).add_(1) + x, randomness="same", chunk_size=1)(grid * 0)
    assert many[0].tolist() == many[1].tolist()
    message = (
        "Vmap does not currently support same randomness with a batched tensor input. Please file an issue "
        "with functorch"
    )
    with raises(RuntimeError, message):
        T.vmap(lambda x: T.bernoulli(x * 0 + 0.5), randomness="same")(grid)


def test_18_04_different_for_each(T: Any, raises: Any) -> None:
    many = T.ones(2, 50)
    for draw in (
        lambda x: T.rand(50),
        lambda x: T.randn_like(x),
        lambda x: T.nn.functional.dropout(x, 0.5),
        lambda x: T.bernoulli(x * 0.5),
        lambda x: x.clone().uniform_(),
        lambda x: T.randperm(50),
        lambda x: T.multinomial(x, 30),
    ):
        first, second = T.vmap(draw, randomness="different")(many)
        assert first.tolist() != second.tolist()
    message = (
        "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like "
        "same randomness. If this is necessary for your usage, please file an issue with functorch."
    )
    with raises(RuntimeError, message):
        T.vmap(lambda x: x + T.zeros(50).normal_(), randomness="different")(many)


# -- in place ----------------------------------------------------------------------------------------


def test_18_04_in_place(T: Any, grid: Any) -> None:
    def change(x: Any) -> Any:
        y = x.clone()
        y.mul_(2).add_(x)
        y[0] = x[1]
        y[1:] += 1
        y[T.tensor([2])] = 7.0
        new = x.new_zeros(3)
        new.copy_(y)
        return new

    same(T, T.vmap(change)(grid), loop(T, change, grid))
    twice = grid.clone()
    T.vmap(lambda x: x.mul_(2))(twice)
    same(T, twice, grid * 2)


def test_18_04_in_place_on_what_is_the_same_for_all(T: Any, grid: Any, raises: Any) -> None:
    one = T.zeros(3, dtype=T.float64)

    def store(x: Any) -> None:
        one[0] = x[0]

    for write in (lambda x: one.mul_(x), lambda x: one.copy_(x), store):
        with raises(RuntimeError, UNBATCHED.format("inplace arithmetic")):
            T.vmap(write)(grid)
    with raises(RuntimeError, UNBATCHED.format("fill_")):
        T.vmap(lambda x: one.fill_(x[0]))(grid)
    with raises(RuntimeError, "output with shape [3] doesn't match the broadcast shape [2, 3]"):
        T.vmap(lambda x: one.add_(x))(grid)
    assert one.tolist() == [0.0, 0.0, 0.0]


def test_18_04_one_step_for_all_samples(T: Any, place: Any, grid: Any) -> None:
    if place.module == "torch":
        return  # only a session records steps
    session = T.current_session()
    session.flush()
    before = session.stats()["steps"]
    T.vmap(lambda x: (x * 2).exp())(grid.clone())
    session.flush()
    few = session.stats()["steps"] - before
    T.vmap(lambda x: (x * 2).exp())(T.cat([grid] * 50))
    session.flush()
    assert session.stats()["steps"] - before == 2 * few
