"""Random loops give what PyTorch gives, in each of five repetitions: values, gradients, flags and errors."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import gradd
import numpy as np
import pytest

from tests.congruence.loops import Body, reads_what_it_wrote, run

if TYPE_CHECKING:
    from collections.abc import Iterator

#: loops in all; `make fuzz` asks for more
LOOPS = int(os.environ.get("GRADD_LOOPS", "60"))


def same(a: Any, b: Any, largest: float | None = None) -> bool:
    """Equal, numbers to nine digits of the largest of their tensor: where larger ones cancelled, what is left
    depends on the order in which they were added.
    """
    if isinstance(a, (list, tuple)) and type(a) is type(b):
        if isinstance(a, list) and largest is None:
            largest = max(_magnitudes(a), default=0.0)
        return len(a) == len(b) and all(same(x, y, largest) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return a == pytest.approx(b, rel=1e-9, abs=max(1e-12, 1e-9 * (largest or 0.0)), nan_ok=True)
    return type(a) is type(b) and bool(a == b)


def _magnitudes(values: list[Any]) -> Iterator[float]:
    """Those of the finite numbers of a tensor."""
    for x in values:
        if isinstance(x, list):
            yield from _magnitudes(x)
        elif isinstance(x, float) and math.isfinite(x):
            yield abs(x)


def test_numbers_are_compared_with_the_largest_of_their_tensor() -> None:
    assert same((True, [[1e9, 0.0], [1.0, math.nan]]), (True, [[1e9, 2.6e-8], [1.0, math.nan]]))
    assert not same((True, [[1e9, 0.0], [1.0, 2.0]]), (True, [[1e9, 0.0], [3.0, 2.0]]))
    assert not same([1e9, math.inf], [1e9, 1e9])
    assert not same(([1e9], [0.0]), ([1e9], [1e-8]))
    assert not same((1e9, 0.0), (1e9, 1e-8))
    assert not same([1.0, 2.0], [1.0, 2.00000001])
    assert not same([1.0], [1])


@pytest.mark.oracle
@pytest.mark.parametrize("part", range(4))
def test_random_loops_give_what_pytorch_gives(part: int) -> None:
    torch = pytest.importorskip("torch")
    values = cut = 0
    for seed in range(part, LOOPS, 4):
        theirs = run(torch, seed, reference=True)
        with gradd.connect("local:"):
            ours = run(gradd, seed)
        first = next((pair for pair in zip(theirs, ours, strict=False) if not same(*pair)), None)
        steps = "\n".join(text for text, _ in Body(seed).steps)
        assert first is None, f"seed {seed}: PyTorch {first[0]}\ngradd {first[1]}\n{steps}"
        cut += len(theirs) < len(ours)
        values += sum(not isinstance(what, str) for _, _, what in theirs)
    assert values > 20 * (LOOPS // 4)
    assert cut <= LOOPS // 4 * 0.05


LEAF = "a leaf Variable that requires grad is being used in an in-place operation."


@pytest.fixture(params=["local:", "daemon"])
def place(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue("daemon") if request.param == "daemon" else request.param
    return url


def _stale() -> tuple[Any, Any, Any]:
    """A base, a view of it that was taken before the base got a history, and the leaf behind that."""
    w = gradd.tensor([1.0, 2.0], requires_grad=True)
    s = gradd.zeros(2, 2)
    t = s.t()
    s[0] = w
    return s, t, w


def test_a_view_passes_for_a_leaf_until_somebody_looks_at_its_history(place: str) -> None:
    with gradd.connect(place):
        for write in ("mul_(2)", "zero_()", "copy_(s)", "t_()", "add_(w)"):
            s, t, w = _stale()
            with pytest.raises(RuntimeError, match=f"^{LEAF}"):
                eval(f"t.{write}", {"s": s, "t": t, "w": w})
        s, t, w = _stale()
        assert t.requires_grad
        t[0].mul_(3)
        t.mul_(2)
        s.sum().backward()
        assert w.grad.tolist() == [6.0, 2.0]


@pytest.mark.parametrize(
    "look",
    [lambda t: t.grad_fn, lambda t: t.is_leaf, str, lambda t: t.sum()],
    ids=["node", "leaf", "text", "op"],
)
def test_a_view_that_was_looked_at_may_be_written_to(place: str, look: Any) -> None:
    with gradd.connect(place) as session:
        for _ in range(4):
            s, t, w = _stale()
            look(t)
            session.flush()
            t.mul_(2)
            s.sum().backward()
            assert w.grad.tolist() == [2.0, 2.0]


def test_a_number_from_its_own_memory_is_written_into_a_tensor(place: str) -> None:
    with gradd.connect(place):
        for _ in range(4):
            s = gradd.arange(4).double() + 1
            s[1:] = s[2]
            assert s.tolist() == [1.0, 3.0, 3.0, 3.0]
            s[s > 1] = s[0]
            assert s.tolist() == [1.0] * 4
            s.add_(gradd.arange(4)).masked_fill_(s > 2, s[3])
            assert s.tolist() == [1.0, 2.0, 4.0, 4.0]
            s[:] = s[1]
            assert s.tolist() == [2.0] * 4
            m = gradd.arange(6).reshape(3, 2)
            m[1:] = m[1]
            assert m.tolist() == [[0, 1], [2, 3], [2, 3]]
            with pytest.raises(RuntimeError, match="refer to a single memory location"):
                s[1:].copy_(s[2])
            with pytest.raises(RuntimeError, match="refer to a single memory location"):
                s.add_(s[1])
            with pytest.raises(RuntimeError, match="refer to a single memory location"):
                s[gradd.tensor([0, 1])] = s[2]


def test_a_place_of_a_tensor_without_dimensions_is_out_of_bounds() -> None:
    with gradd.connect("local:"):
        for index in (1, -1):
            with pytest.raises(
                IndexError, match=f"^index {index} is out of bounds for dimension 0 with size 0"
            ):
                gradd.zeros(())[index]
        with pytest.raises(IndexError, match=r"^invalid index of a 0-dim tensor"):
            gradd.zeros(())[0]


def test_the_gradient_of_what_shares_memory_is_refused_before_nodes_behind_it(place: str) -> None:
    shared = r"^unsupported operation: more than one element of the written-to tensor refers"
    with gradd.connect(place) as session:
        for _ in range(4):
            w = gradd.ones(2, requires_grad=True)
            seen: list[str] = []
            y = w.exp()
            y.sum().backward()  # y's node is freed, and never asked
            y.grad_fn.register_prehook(lambda grads, seen=seen: seen.append("behind"))
            t = y.expand(2, 2)
            t.copy_(t)
            t.grad_fn.next_functions[0][0].register_prehook(lambda grads, seen=seen: seen.append("copied"))
            session.flush()
            for _ in range(2):
                with pytest.raises(RuntimeError, match=shared):
                    t.sum().backward(retain_graph=True)
            assert seen == ["copied", "copied"]


@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors is deprecated")
def test_a_tensor_that_shares_memory_is_filled_with_numbers_alone(place: str) -> None:
    with gradd.connect(place):
        for _ in range(4):
            t = gradd.ones(2)
            x = t.expand(3, 2)
            x.fill_(2)
            assert t.tolist() == [2.0, 2.0]
            x.zero_()
            for value in (gradd.tensor(3.0), t[0]):
                with pytest.raises(RuntimeError, match=r"^unsupported operation: more than one element"):
                    x.fill_(value)
            assert t.tolist() == [0.0, 0.0]
            t.fill_(t[1])
            x[x < 1] = 5
            assert t.tolist() == [5.0, 5.0]


def test_hooks_change_the_gradient_that_is_asked_for_where_the_pass_ends(place: str) -> None:
    with gradd.connect(place):
        for _ in range(4):
            w = gradd.tensor([0.5, -1.0], requires_grad=True)
            y = w * 1
            y.register_hook(lambda g: g * 0.5)
            z = y * 3
            (found,) = gradd.autograd.grad(z.sum(), [y], retain_graph=True)
            assert found.tolist() == [1.5, 1.5]
            on, end = gradd.autograd.grad(z.sum(), [y, w], retain_graph=True)
            assert (on.tolist(), end.tolist()) == ([3.0, 3.0], [1.5, 1.5])
            y.retain_grad()
            (end,) = gradd.autograd.grad(z.sum(), [w])
            assert (y.grad.tolist(), end.tolist()) == ([1.5, 1.5], [1.5, 1.5])


def test_a_loop_of_pytorch_is_compared_up_to_where_it_reads_what_it_wrote() -> None:
    a = np.arange(4.0).reshape(2, 2)
    env = {"a": _Strided(a.T), "b": _Strided(a.T[0]), "c": _Strided(a[0].copy())}
    assert reads_what_it_wrote(env, ("a", "a", "a", "a[0]", False))
    assert reads_what_it_wrote(env, ("a", "a", "b", "b", False))
    assert not reads_what_it_wrote(env, ("a", "a", "a", "a", False))
    assert not reads_what_it_wrote(env, ("a", "a", "c", "c", False))
    assert not reads_what_it_wrote(env, ("a", "a[1:]", "a", "a[0]", True))
    assert reads_what_it_wrote(env, ("b", "b", "b", "b[0]", False))
    assert not reads_what_it_wrote(env, ("b", "b", "b", "b[0]", True))
    assert not reads_what_it_wrote(env, ("b", "b", "a", "a[5]", False))
    assert not reads_what_it_wrote(env, ("b", "b", "gone", "gone", False))


class _Strided:
    """An array with what a tensor says of its memory."""

    def __init__(self, a: Any) -> None:
        self.shape, self.ndim = a.shape, a.ndim
        self.stride = lambda: [step // a.itemsize for step in a.strides]
        self.storage_offset = lambda: 0
        memory = a.base if a.base is not None else a
        self.untyped_storage = lambda: self
        self.data_ptr = lambda: memory.__array_interface__["data"][0]
