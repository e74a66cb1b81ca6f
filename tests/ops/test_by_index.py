"""What the table cannot say of ops by index and random ones: padding, small indices, indices as data."""

from __future__ import annotations

import numpy as np
import pytest
from gradd_engine.backends.array import NUMPY
from gradd_engine.backward.grad_op import grad_op
from gradd_engine.check import testing
from gradd_engine.data.dtypes import bfloat16
from gradd_engine.data.rng import RandomStream
from gradd_engine.data.state import ambient, state
from gradd_engine.ops.create.multinomial import multinomial
from gradd_engine.ops.create.random_ops import bernoulli, rand, randint, randn, randperm
from gradd_engine.ops.index import subscript
from gradd_engine.ops.index.embedding import embedding
from gradd_engine.ops.index.scatter import scatter_add, scatter_op
from gradd_engine.ops.nn.dropout import dropout
from gradd_engine.ops.shared.constants import tensor
from gradd_engine.tensor.tensor import Tensor


def test_padding_gets_no_gradient() -> None:
    weight = tensor(np.ones((3, 2)), requires_grad=True)
    out = embedding(tensor([0, 1, 1, 2]), weight, padding_idx=1)
    (g,) = grad_op([out], [weight], [tensor(np.ones((4, 2)))])
    np.testing.assert_array_equal(g.array, [[1, 1], [0, 0], [1, 1]])


def test_gradients_scale_by_frequency() -> None:
    weight = tensor(np.ones((3, 2)), requires_grad=True)
    out = embedding(tensor([0, 1, 1]), weight, scale_grad_by_freq=True)
    (g,) = grad_op([out], [weight], [tensor(np.ones((3, 2)))])
    np.testing.assert_array_equal(g.array, [[1, 1], [1, 1], [0, 0]])


@pytest.mark.parametrize("op", [scatter_op, scatter_add])
def test_an_index_may_be_smaller_than_its_source(op: object) -> None:
    index = tensor([[0, 1]])

    def fn(x: Tensor, src: Tensor) -> Tensor:
        return op(x, 0, index, src)  # type: ignore[operator, no-any-return]

    rng = np.random.default_rng(0)
    testing.check_rules(fn, [rng.standard_normal((3, 4)), rng.standard_normal((2, 4))])
    assert fn(tensor(np.zeros((3, 4))), tensor(np.ones((2, 4)))).array.sum() == 2


def test_getitem_as_data() -> None:
    x = tensor(np.arange(24.0).reshape(4, 3, 2))
    index = [["slice", 1, None, 2], None, "...", ["input", 1]]
    found = subscript.getitem_op(x, [tensor([1, 0])], index=index)
    np.testing.assert_array_equal(found.array, x.array[1::2, None, ..., [1, 0]])
    subscript.setitem_op(x, [], 7.0, index=[{"slice": [0, 2, None]}, 0])
    assert (x.array[0:2, 0] == 7).all()
    with pytest.raises(IndexError, match="names input 2"):
        subscript.getitem_op(x, [tensor([1])], index=[["input", 2]])


def test_each_random_op_draws_one_step() -> None:
    x = tensor(np.full((2, 3), 0.5))
    calls = [
        lambda: rand(2, 3), lambda: randn(4), lambda: randint(3, (2,)), lambda: randperm(5),
        lambda: dropout(x, 0.5), lambda: bernoulli(x), lambda: x.normal_(), lambda: rand(0),
    ]  # fmt: skip
    for n, call in enumerate(calls):
        assert state.generator is not None
        assert state.generator.step == n
        call()
    assert state.generator is not None
    assert state.generator.step == len(calls)


def test_values_depend_on_seed_and_step_alone() -> None:
    def draw(seed: int) -> list[bytes]:
        with ambient(generator=RandomStream(seed), backend=NUMPY):
            return [t.array.tobytes() for t in (rand(3), randn(2, 2), randint(0, 9, (4,)), randperm(6))]

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)
    with ambient(generator=RandomStream(1)):
        long = rand(8)
    with ambient(generator=RandomStream(1)):
        np.testing.assert_array_equal(rand(3).array, long.array[:3])


def test_uniform_never_reaches_its_upper_bound() -> None:
    x = rand(20000, dtype=bfloat16)
    assert float(x.array.astype(np.float32).max()) < 1


def test_permutations_and_integers_cover_their_range() -> None:
    assert sorted(randperm(50).array.tolist()) == list(range(50))
    assert set(randint(2, 5, (200,)).array.tolist()) == {2, 3, 4}


def test_dropout_keeps_the_mean() -> None:
    x = tensor(np.ones(20000), requires_grad=True)
    out = dropout(x, 0.25)
    assert set(np.unique(out.array).round(6)) == {0.0, round(1 / 0.75, 6)}
    assert float(out.array.mean()) == pytest.approx(1, abs=0.02)
    (g,) = grad_op([out], [x], [tensor(np.ones(20000))])
    np.testing.assert_array_equal(g.array, out.array)


def test_multinomial_follows_the_weights() -> None:
    weights = tensor(np.array([0.0, 1.0, 3.0]))
    drawn = multinomial(weights, 4000, True).array
    assert set(np.unique(drawn)) == {1, 2}
    assert float((drawn == 2).mean()) == pytest.approx(0.75, abs=0.03)
    first = [int(multinomial(weights, 2).array[0]) for _ in range(600)]
    assert set(first) == {1, 2}
    assert first.count(2) / 600 == pytest.approx(0.75, abs=0.08)
    with pytest.raises(RuntimeError, match="sum of probabilities"):
        multinomial(tensor(np.zeros(3)), 1)
