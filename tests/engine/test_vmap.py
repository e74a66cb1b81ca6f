"""`vmap` in the engine: levels, the views that they take, networks against the oracle. The table of ops is
checked in tests/ops/test_vmap.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradd_engine import ops
from gradd_engine.backends.array import NUMPY
from gradd_engine.backends.meta import MetaBackend
from gradd_engine.backward import grad_op
from gradd_engine.batching import rules, rules_index, rules_linear
from gradd_engine.batching.restride import restride
from gradd_engine.batching.tree import flatten, spread, unflatten
from gradd_engine.batching.vmap import lifted, vmap
from gradd_engine.declare.surface import functions
from gradd_engine.schema.registry import named
from gradd_engine.tensor import Tensor, detached
from gradd_engine.transforms import forward_ad

assert ops.__all__, "importing the families declares them"

RNG = np.random.default_rng(0)
FUNCTIONS = functions()


def tensor(*shape: int) -> Any:
    """Random numbers."""
    return NUMPY.from_array(RNG.uniform(-1, 1, shape))


def gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """The gradients of `f` for its first argument, a list of tensors; for use within vmap."""

    def inside(params: Any, *args: Any) -> Any:
        given = []
        for p in params:
            x: Any = lifted(p)
            if x.requires_grad:
                x = named.alias(x)
            else:
                x = detached(x)
                x._requires_grad = True
            given.append(x)
        return list(grad_op.grad(f(given, *args), given, create_graph=True))

    return inside


# -- the level's tensors -----------------------------------------------------------------------------


def test_a_level_has_a_samples_geometry() -> None:
    x = tensor(4, 2, 3)
    seen: list[Any] = []
    vmap(lambda t: (seen.append((tuple(t.shape), t.strides, t.backend.level)), t)[1], in_dims=1)(x)
    vmap(vmap(lambda t: (seen.append((tuple(t.shape), t.strides, t.backend.level)), t)[1]))(x)
    assert seen == [((4, 3), (6, 1), 1), ((3,), (1,), 2)]


def test_what_is_below_keeps_its_own_history() -> None:
    """Histories of a level and of what it stands on do not mix: an unmapped input is no leaf above."""
    w, x = tensor(3), tensor(2, 3)
    found = vmap(gradient(lambda p, x: named.sum(named.mul(p[0], x))), in_dims=(None, 0))([w], x)
    assert not found[0].requires_grad
    w._requires_grad = True
    found = vmap(gradient(lambda p, x: named.sum(named.mul(named.exp(p[0]), x))), in_dims=(None, 0))([w], x)
    (second,) = grad_op.grad(named.sum(found[0]), w)
    np.testing.assert_allclose(second.array, np.exp(w.array) * x.array.sum(0))


def test_tensors_of_two_sessions_do_not_meet_within_vmap() -> None:
    there = MetaBackend("cpu").from_array(np.zeros(3))
    with pytest.raises(RuntimeError, match="at least two sessions"):
        vmap(lambda x: named.add(x, there))(tensor(2, 3))


def test_an_error_ends_the_level() -> None:
    with pytest.raises(ZeroDivisionError):
        vmap(lambda x: 1 // 0)(tensor(2))
    assert named.rand([3]).shape == (3,)


def test_shape_errors_are_a_samples() -> None:
    with pytest.raises(RuntimeError, match=r"size mismatch, got input \(3\), mat \(3x4\), vec \(3\)"):
        vmap(named.mv)(tensor(2, 3, 4), tensor(2, 3))
    with pytest.raises(IndexError, match=r"expected to be in range of \[-1, 0\], but got 1"):
        vmap(lambda x: named.sum(x, [1]))(tensor(2, 3))


def test_zero_dimensional_samples_promote_as_numbers_do() -> None:
    x = NUMPY.from_array(np.ones((2, 3), np.float32))
    scale = NUMPY.from_array(np.array([2.0, 3.0]))
    found = vmap(named.mul)(x, scale)
    assert found.dtype.name == "float32"
    np.testing.assert_array_equal(found.array, [[2, 2, 2], [3, 3, 3]])


# -- views -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("view", "name"),
    [
        (lambda x: named.transpose(x, 0, 1), "permute"),
        (lambda x: named.permute(x, [1, 2, 0]), "permute"),
        (lambda x: named.view(x, [4, 15]), "view"),
        (lambda x: named.unsqueeze(x, 1), "view"),
        (lambda x: named.select(x, 1, 2), "select"),
        (lambda x: named.slice_from(x, 2, 1, 2, 2), "slice_from"),
        (lambda x: named.expand(named.view(x, [4, 1, 3, 5]), [4, 6, 3, 5]), "expand"),
        (lambda x: named.diagonal(x, 0, 1, 2), "as_strided"),
        (lambda x: named.unfold(x, 2, 2, 1), "as_strided"),
    ],
)
def test_a_view_is_taken_by_the_cheapest_op(view: Callable[..., Any], name: str) -> None:
    x = tensor(4, 3, 5)
    x._requires_grad = True
    want = view(x)
    found = restride(x, tuple(want.shape), tuple(want.strides), want.offset)
    assert (found.shape, found.strides, found.offset) == (want.shape, want.strides, want.offset)
    assert found._fn.op.name == name
    np.testing.assert_array_equal(found.array, want.array)


def test_views_share_memory_with_what_they_are_of() -> None:
    x = tensor(2, 4, 4)
    before = x.array.copy()

    def change(x: Any) -> Any:
        named.mul_(named.select(named.transpose(x, 0, 1), 0, 1), 10)
        named.zero_(named.diagonal(x))
        return x

    vmap(change)(x)
    wanted = before.copy()
    wanted[:, :, 1] *= 10
    wanted[:, range(4), range(4)] = 0
    np.testing.assert_allclose(x.array, wanted)


def test_writing_to_views_inside_is_differentiated() -> None:
    def f(p: Any, _: Any) -> Any:
        y = named.clone(p[0])
        named.mul_(named.select(y, 0, 0), named.select(p[0], 0, 1))
        named.sub_(named.slice_from(y, 0, 1, 2), named.exp(named.select(y, 0, 0)))
        named.add_(named.view(y, [1, 3]), named.sum(p[0]))
        return named.sum(named.mul(y, p[0]))

    x = tensor(3, 2)  # the mapped dimension is not the outermost in memory
    (found,) = vmap(gradient(f), in_dims=([1], None))([x], 0)
    for i in range(2):
        leaf = NUMPY.from_array(x.array[:, i].copy())
        leaf._requires_grad = True
        (alone,) = grad_op.grad(f([leaf], 0), leaf)
        np.testing.assert_allclose(found.array[i], alone.array)


# -- forward mode ------------------------------------------------------------------------------------


def test_forward_mode_inside_and_outside() -> None:
    x, v = tensor(2, 3), tensor(2, 3)

    def f(x: Any) -> Any:
        return named.sum(named.mul(named.exp(x), named.select(x, 0, 1)))

    def pushed(x: Any, v: Any) -> Any:
        with forward_ad.dual_level():
            return forward_ad.unpack_dual(f(forward_ad.make_dual(x, v))).tangent

    inside = vmap(pushed)(x, v)
    with forward_ad.dual_level():
        outside = forward_ad.unpack_dual(vmap(f)(forward_ad.make_dual(x, v))).tangent
    (rows,) = vmap(gradient(lambda p: f(p[0])))([x])
    np.testing.assert_allclose(inside.array, (rows.array * v.array).sum(1))
    np.testing.assert_allclose(outside.array, inside.array)


# -- containers --------------------------------------------------------------------------------------


def test_containers_come_apart_and_together() -> None:
    tree = ({"a": 1, "b": [2, None]}, (3,), [])
    leaves, structure = flatten(tree)
    assert leaves == [1, 2, None, 3]
    assert unflatten(leaves, structure) == tree
    assert spread(7, structure) == [7] * 4
    assert spread(({"a": 0, "b": 1}, (2,), []), structure) == [0, 1, 1, 2]
    assert spread((0, 1), structure) is None


# -- networks ----------------------------------------------------------------------------------------


def _mlp(F: Any, p: Any, x: Any, t: Any) -> Any:
    hidden = F.silu(F.layer_norm(F.linear(x, p[0], p[1]), (6,), p[2], p[3]))
    return F.cross_entropy(F.linear(hidden, p[4]), t)


def _images(F: Any, p: Any, x: Any, t: Any) -> Any:
    x = F.relu(F.conv2d(x, p[0], p[1], padding=1))
    x = F.max_pool2d(F.group_norm(x, 2, p[2], p[3]), 2)
    x = F.avg_pool2d(F.conv2d(x, p[4], stride=2), 1)
    return F.nll_loss(F.log_softmax(x.flatten(1), 1), t, reduction="sum")


def _tokens(F: Any, p: Any, x: Any, t: Any) -> Any:
    y = F.embedding(x, p[0], padding_idx=0)
    y = F.scaled_dot_product_attention(y, y @ p[1], F.dropout(y, 0.5, training=False))
    return F.mse_loss(y[1:, ::2], t)


NETWORKS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]], Any, Any]] = {
    "mlp": (_mlp, [(6, 4), (6,), (6,), (6,), (3, 6)], RNG.normal(size=(5, 4)), RNG.integers(0, 3, 5)),
    "images": (
        _images,
        [(4, 2, 3, 3), (4,), (4,), (4,), (3, 4, 2, 2)],
        RNG.normal(size=(3, 2, 2, 4, 4)),
        RNG.integers(0, 3, (3, 2)),
    ),
    "tokens": (_tokens, [(7, 4), (4, 4)], RNG.integers(0, 7, (4, 5)), RNG.normal(size=(4, 4, 2))),
}


@pytest.fixture(autouse=True)
def draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same draws for a test whatever ran before it: what the oracle says of them is recorded."""
    monkeypatch.setattr(sys.modules[__name__], "RNG", np.random.default_rng(1))


class Functional:
    """nn.functional of the engine."""

    def __getattr__(self, name: str) -> Any:
        return FUNCTIONS["nn.functional", name]


@pytest.fixture
def no_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """No op may run sample by sample."""

    def refuse(call: Any) -> Any:
        raise AssertionError(f"{call.op.name} runs sample by sample")

    for module in (rules, rules_index, rules_linear):
        monkeypatch.setattr(module, "one_by_one", refuse)


@pytest.mark.oracle
@pytest.mark.parametrize("name", list(NETWORKS))
def test_gradients_of_each_sample_are_the_oracles(torch: Any, no_loops: None, name: str) -> None:
    network, shapes, x, t = NETWORKS[name]
    params = [RNG.normal(size=s) for s in shapes]
    ours = vmap(gradient(lambda p, x, t: network(Functional(), p, x, t)), in_dims=(None, 0, 0))(
        [NUMPY.from_array(p) for p in params], NUMPY.from_array(x), NUMPY.from_array(t)
    )
    functional = torch.nn.functional
    theirs = torch.vmap(torch.func.grad(lambda p, x, t: network(functional, p, x, t)), in_dims=(None, 0, 0))(
        [torch.from_numpy(p) for p in params], torch.from_numpy(x), torch.from_numpy(t)
    )
    for got, wanted in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(got.array, wanted.numpy(), rtol=1e-8, atol=1e-10)


@pytest.mark.oracle
@pytest.mark.parametrize("name", list(NETWORKS))
def test_an_ensemble_is_the_oracles(torch: Any, no_loops: None, name: str) -> None:
    """Parameters of each model, one input: also its gradients, from outside."""
    network, shapes, x, t = NETWORKS[name]
    params = [RNG.normal(size=(3, *s)) for s in shapes]
    ours = [NUMPY.from_array(p) for p in params]
    theirs = [torch.from_numpy(p).requires_grad_() for p in params]
    for p in ours:
        p._requires_grad = True
    losses = vmap(lambda p, x, t: network(Functional(), p, x, t), in_dims=(0, None, None))(
        ours, NUMPY.from_array(x[0]), NUMPY.from_array(t[0])
    )
    wanted = torch.vmap(lambda p, x, t: network(torch.nn.functional, p, x, t), in_dims=(0, None, None))(
        theirs, torch.from_numpy(x[0]), torch.tensor(t[0])
    )
    np.testing.assert_allclose(losses.array, wanted.detach().numpy())
    for got, want in zip(
        grad_op.grad(named.sum(losses), ours), torch.autograd.grad(wanted.sum(), theirs), strict=True
    ):
        np.testing.assert_allclose(got.array, want.numpy(), rtol=1e-8, atol=1e-10)


def test_hessians_of_each_sample() -> None:
    """vmap(vmap(grad(grad))): a level inside a level, and a pass inside a pass."""
    x = tensor(3, 2)

    def f(x: Any) -> Any:
        return named.mul(named.exp(named.select(x, 0, 0)), named.square(named.select(x, 0, 1)))

    def along(x: Any, v: Any) -> Any:
        slope = gradient(lambda p: f(p[0]))
        return gradient(lambda p: named.sum(named.mul(slope(p)[0], v)))([x])[0]

    directions = NUMPY.from_array(np.eye(2))
    found = vmap(lambda x: vmap(along, in_dims=(None, 0))(x, directions))(x)
    a, b = x.array[:, 0], x.array[:, 1]
    rows = np.exp(a)[:, None, None] * np.stack([[b * b, 2 * b], [2 * b, 2 + 0 * b]]).transpose(2, 0, 1)
    np.testing.assert_allclose(found.array, rows)


def test_a_batched_pass_runs_each_rule_once(no_loops: None) -> None:
    x = tensor(4)
    x._requires_grad = True
    w = tensor(3, 4)
    y = named.tanh(named.mv(w, x))
    (jacobian,) = grad_op.grad(y, x, NUMPY.from_array(np.eye(3)), is_grads_batched=True)
    assert isinstance(jacobian, Tensor)
    np.testing.assert_allclose(jacobian.array, (1 - y.array**2)[:, None] * w.array)
