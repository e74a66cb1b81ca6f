"""Each kind of thing that tensors hold, frozen and thawed; and what cannot be."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
from gradd_engine import backward as api
from gradd_engine.backends.array import NUMPY
from gradd_engine.backends.meta import MetaBackend
from gradd_engine.backward import saved_tensors_hooks
from gradd_engine.custom import Function
from gradd_engine.data import Account, Meta, dtypes
from gradd_engine.data.rng import RandomStream
from gradd_engine.data.state import ambient
from gradd_engine.freezing import (
    BadFrozen,
    CannotFreeze,
    Frozen,
    FrozenGraph,
    check,
    freeze,
    thaw,
    uncollected,
)
from gradd_engine.graph import CopySlices, OpNode, modes
from gradd_engine.schema import REGISTRY, named
from gradd_engine.tensor import Tensor, next_priority

Roots = dict[str, Tensor]


@pytest.fixture(autouse=True)
def backend() -> Iterator[None]:
    with ambient(backend=NUMPY, generator=RandomStream(0)):
        yield


def text_of(roots: Roots) -> Any:
    """The rows of frozen tensors, as JSON reads them, and their memory."""
    frozen = freeze(roots)
    return msgspec.json.decode(msgspec.json.encode(frozen.graph)), [np.array(a) for a in frozen.memory]


def again(**roots: Tensor) -> list[Tensor]:
    """Tensors that were frozen and thawed, in order."""
    rows, memory = text_of(roots)
    frozen = Frozen(msgspec.convert(rows, FrozenGraph), memory)
    check(frozen)
    found = thaw(frozen, NUMPY)
    return [found[name] for name in roots]


def leaf(values: Any, grad: bool = True) -> Any:
    t = NUMPY.from_array(np.array(values))
    t.requires_grad = grad
    return t


def gradient(y: Tensor, x: Tensor, **more: Any) -> Any:
    (found,) = api.grad([y], [x], **more)
    return found


# -- memory ------------------------------------------------------------------------------------------

ALL = [dtypes.by_name(n) for n in (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128",
)]  # fmt: skip


@pytest.mark.parametrize("dtype", ALL, ids=lambda d: d.name)
def test_every_bit_of_every_dtype(dtype: Any) -> None:
    bits = np.random.default_rng(0).integers(0, 256, 16 * dtype.itemsize, dtype=np.uint8)
    array = (bits & 1).view(np.bool_) if dtype is dtypes.bool_ else bits.view(dtype.np)
    t = NUMPY.from_array(array.reshape(2, 8), dtype)
    whole, part = again(whole=t, part=named.as_strided(t, [3, 2], [1, 4], 1))
    assert whole.array.tobytes() == t.array.tobytes()
    assert (part.strides, part.offset, part.dtype) == ((1, 4), 1, dtype)
    assert part._storage is whole._storage
    whole.array[0, 1] = dtype.np.type(1)
    assert part.array[0, 0] == dtype.np.type(1)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x[:0],
        lambda x: x.expand(5, 3),
        lambda x: x[0],
        lambda x: x.unsqueeze(0).transpose(0, 1),
        lambda x: named.empty_strided([2, 2], [8, 3], dtype=dtypes.float64).fill_(2.0),
        lambda x: named.zeros([0, 4]),
    ],
)
def test_layouts(make: Callable[[Any], Any]) -> None:
    x = leaf([1.0, 2.0, 3.0], grad=False)
    t = make(x)
    y, found = again(x=x, t=t)
    assert (found.shape, found.strides, found.offset) == (t.shape, t.strides, t.offset)
    assert found.array.tobytes() == t.array.tobytes()
    assert (found._storage is y._storage) == (t._storage is x._storage)
    assert found._storage is not None
    assert found._storage.nbytes == t._storage.nbytes


def test_an_account_counts_what_was_thawed() -> None:
    x = leaf([1.0, 2.0])
    y = (x * x).sum()
    rows, memory = text_of({"y": y})
    account = Account(1 << 20)
    with ambient(account=account):
        found = thaw(Frozen(msgspec.convert(rows, FrozenGraph), memory), NUMPY)
    assert account.used == sum(row[0] for row in rows["storages"])
    assert found["y"]._fn is not None
    assert found["y"]._fn.counted is account.graphs
    found.clear()
    gc.collect()
    assert account.used == 0


# -- autograd's state --------------------------------------------------------------------------------


def test_conjugates_and_inference() -> None:
    z = NUMPY.from_array(np.array([1 + 2j, 3 - 1j]))
    with modes.inference_mode():
        made = leaf([1.0], grad=False) * 2
    c, i = again(c=named.conj(z), i=made)
    assert c.is_conj()
    assert NUMPY.to_numpy(c).tolist() == [1 - 2j, 3 + 1j]
    assert i.is_inference()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        i.add_(1)


def test_a_leaf_keeps_its_accumulator() -> None:
    x = leaf([2.0])
    y = x * x
    p, q = again(x=x, y=y)
    assert q.grad_fn is not None
    (q * p).backward()
    assert p.grad is not None
    assert p.grad.array.tolist() == [12.0]
    assert p._acc is not None
    assert q.grad_fn.next_functions[0][0] is p._acc()


def test_a_gradient_whose_graph_leads_back_to_its_leaf() -> None:
    x = leaf([2.0])
    x.grad = gradient(x * x * x, x, create_graph=True)
    (p,) = again(x=x)
    assert gradient(p.grad, p).array.tolist() == [12.0]  # type: ignore[arg-type]


def test_the_order_of_nodes_is_that_of_sums() -> None:
    """Three gradients meet in one sum, in the order of sequence numbers; a later node comes first."""
    x = leaf([1.0])
    parts = [x * c for c in (1e16, 1.0, -1e16)]
    p, *others = again(x=x, a=parts[0], b=parts[1], c=parts[2])

    def total(x: Any, some: list[Any], order: tuple[int, ...]) -> float:
        y = named.cat([some[i] for i in order] + [x * 3.0])
        return float(gradient(y.sum(), x, retain_graph=True).array.item())

    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        assert total(x, parts, order) == total(p, others, order)
    nodes = [t._fn.priority for t in others if t._fn is not None]
    assert nodes == sorted(nodes)
    assert max(nodes) < next_priority()
    rows, memory = text_of({"x": x, "a": parts[0], "b": parts[1], "c": parts[2]})
    for at, turned in zip((1, 2, 3), (2, 0, 1), strict=True):
        assert rows["nodes"][at - 1][0] == "OpNode"
        rows["nodes"][at - 1][1] = turned
    bad = thaw(Frozen(msgspec.convert(rows, FrozenGraph), memory), NUMPY)
    assert total(x, parts, (0, 1, 2)) != total(bad["x"], [bad["a"], bad["b"], bad["c"]], (0, 1, 2))


def test_what_detach_cut_is_still_told() -> None:
    x = leaf([1.0])
    h = x * 2
    y = h * h
    h.detach_()
    p, k, z = again(x=x, h=h, y=y)
    with pytest.raises(RuntimeError, match="detached in-place"):
        z.backward()
    assert k._fn is None
    assert p.grad is None


def test_stand_ins_and_nodes_behind_them() -> None:
    x = leaf([2.0])
    y = x * x
    edge = named.edge(y)
    stands, p = again(edge=edge, x=x)
    assert gradient(stands, p, grad_outputs=[leaf([1.0], grad=False)]).array.tolist() == [4.0]


def test_nodes_whose_body_is_elsewhere() -> None:
    x = leaf([1.0, 2.0])
    out = x.detach()
    named.set_history([out], [x], name="MineBackward", numbers=[0], width=2, dirty=[], kept=[0])
    y = out * 3
    found, p = again(y=y, x=x)
    assert found.grad_fn is not None
    assert found.grad_fn.next_functions[0][0].name() == "MineBackward"
    with pytest.raises(RuntimeError, match="runs in the process that made it"):
        named.backward([found], [leaf([1.0, 1.0], grad=False)])
    assert p.grad is None


def test_views_that_such_a_node_wrote_to() -> None:
    x = leaf([1.0, 2.0]) * 1
    view = x[:1]
    named.set_history([view], [view], name="MineBackward", numbers=[0], width=1, dirty=[0], kept=[])
    p, v = again(x=x, view=view)
    assert p.grad_fn is not None
    assert p.grad_fn.name() == "torch::autograd::CopySlices"
    assert type(p._fn).__mro__[1].__name__ == "DirtySlices"
    assert v._base is p


def test_an_error_that_waits_in_the_graph() -> None:
    (t,) = named.delayed_error([leaf([1.0])], message="too late")
    (found,) = again(t=t)
    with pytest.raises(RuntimeError, match="too late"):
        found.backward()


def test_what_is_packed_elsewhere_stays_away() -> None:
    x = leaf([2.0])
    y = x * x
    named.drop_saved(y, at=0)
    found, _ = again(y=y, x=x)
    with pytest.raises(RuntimeError, match="is packed, and the hook that unpacks it is in another process"):
        found.backward()


def test_forward_mode_goes_on() -> None:
    x, t = leaf([2.0], grad=False), leaf([5.0], grad=False)
    level = named.enter_dual_level(0)
    d = named.make_dual(x, t, level)
    other, token = again(d=d, level=level)
    y = other * other
    assert named.dual_tangent(y, token).array.tolist() == [20.0]
    named.exit_dual_level(token)
    assert other._tangents is None
    assert d._tangents is not None


def test_where_the_random_stream_was() -> None:
    token = named.stored_rng(leaf([1.0]))
    first = named.rand([3])
    (found,) = again(token=token)
    named.restore_rng(found)
    assert named.rand([3]).array.tolist() == first.array.tolist()


def test_looked_at_nodes_have_their_classes() -> None:
    y = leaf([1.0]).exp()
    assert type(y.grad_fn).__name__ == "ExpBackward0"
    (found,) = again(y=y)
    assert type(found.grad_fn) is type(y.grad_fn)


def test_hooks_go_by_their_names() -> None:
    x = leaf([2.0])
    h = x * 1
    seen: list[float] = []
    x.register_hook(lambda g: seen.append(g.array.item()))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.array.item()))
    h.register_hook(lambda g: g * 10)
    h.grad_fn.register_prehook(lambda gs: (gs[0] + 1,))
    h.grad_fn.register_hook(lambda found, gs: (found[0] * 2, *found[1:]))
    y = h * 3
    known: dict[str, Any] = {}

    def called(hook: Any) -> str:
        known[str(len(known))] = hook
        return str(len(known) - 1)

    frozen = freeze({"y": y}, called)
    found = thaw(
        Frozen(frozen.graph, [np.array(a) for a in frozen.memory]),
        NUMPY,
        lambda name, registry, owner: registry.append((known[name],)),
    )
    assert len(known) == 5
    y.backward()
    found["y"].backward()
    assert seen == [62.0] * 4


def test_a_long_graph_is_no_recursion() -> None:
    x = leaf([1.0])
    y = x
    for _ in range(20_000):
        y = y * 1.0
    p, z = again(x=x, y=y)
    assert gradient(z, p).array.tolist() == [1.0]


def test_only_what_is_held_is_frozen() -> None:
    x = leaf([1.0])
    other = leaf(np.zeros(1000)) + x
    y = x * 2
    rows, memory = text_of({"y": y})
    assert sum(a.nbytes for a in memory) < 100
    assert len(rows["nodes"]) == 2
    assert other.shape == (1000,)


def test_the_collector_runs_again_afterwards() -> None:
    assert gc.isenabled()
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            again(x=leaf([1.0]))
        assert not gc.isenabled()
    assert gc.isenabled()


# -- what cannot be frozen, or thawed ----------------------------------------------------------------


class Double(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


def hooked() -> Any:
    x = leaf([1.0])
    x.register_hook(lambda g: g)
    return x


def packed() -> Any:
    with saved_tensors_hooks(lambda t: t, lambda t: t):
        return leaf([1.0]).exp()


def under_way() -> Any:
    x = leaf([1.0])
    return named.begin_backward([x * 2], retain_graph=None)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (hooked, "a hook is a function of this process"),
        (packed, "packed by a hook of this process"),
        (under_way, "a backward pass is under way"),
        (lambda: Double.apply(leaf([1.0])), "DoubleBackward is an autograd.Function of this process"),
        (lambda: MetaBackend().empty(Meta((2,), dtypes.float32)), "no memory of its own"),
    ],
)
def test_what_is_of_this_process_is_refused(make: Callable[[], Any], reason: str) -> None:
    with pytest.raises(CannotFreeze, match=reason):
        freeze({"t": make()})


def test_a_pass_that_ended_is_none() -> None:
    x = leaf([1.0])
    token = named.begin_backward([x * 2], retain_graph=None)
    named.resume_pass(token, None)
    _, p = again(token=token, x=x)
    assert p.grad is not None


def test_another_format_is_refused() -> None:
    graph = freeze({"x": leaf([1.0])}).graph
    graph.format += 1
    with pytest.raises(BadFrozen, match="this version reads"):
        thaw(Frozen(graph, []), NUMPY)


def spoil(rows: Any, make: random.Random) -> None:
    """Change one thing, somewhere in the rows."""
    at = rows
    while True:
        key = make.choice(list(at) if isinstance(at, dict) else range(len(at)))
        if isinstance(at[key], (dict, list)) and at[key]:
            at = at[key]
            continue
        old = at[key]
        at[key] = make.choice([-5, 1 << 40, "x", None, [], 3, old, {}])
        return


def test_rows_that_do_not_go_together_are_refused() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    h = (x * x).clone()
    h[0].mul_(2)
    x.grad = gradient(h.exp().sum(), x, create_graph=True)
    refused = 0
    for seed in range(2000):
        rows, memory = text_of({"x": x, "h": h})
        spoil(rows, random.Random(seed))
        try:
            found = thaw(Frozen(msgspec.convert(rows, FrozenGraph), memory), NUMPY)
        except (BadFrozen, msgspec.ValidationError):
            refused += 1
        else:
            assert len(found) <= 3
    assert refused > 1000


def test_every_kind_of_node_an_op_leaves_has_its_rows() -> None:
    assert len(REGISTRY) > 500
    x = leaf([1.0, 2.0]) * 1
    x[:1].mul_(x[1:])
    (found,) = again(x=x)
    assert isinstance(found._fn, CopySlices)
    assert isinstance(found._fn.fn, OpNode)
    assert found._fn.fn.op is REGISTRY["mul_"]
