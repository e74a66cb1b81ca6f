"""Frozen and thawed tensors go on as the ones they were made of: to the bit, and with the same errors.

``GRADD_FREEZE=20000 pytest tests/engine/test_freezing.py`` runs that many random programs.
"""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
from gradd_engine import backward as api
from gradd_engine.backends.array import NUMPY
from gradd_engine.data import RandomStream
from gradd_engine.data.state import ambient
from gradd_engine.freezing import Frozen, FrozenGraph, freeze, thaw
from gradd_engine.freezing import check as sound
from gradd_engine.schema import named
from gradd_engine.tensor import Tensor

from tests.engine.programs import Side, halve, new_leaf, statement
from tests.ops import table

PROGRAMS, STATEMENTS = int(os.environ.get("GRADD_FREEZE", "300")), 24
GROUP = max(20, PROGRAMS // 20)
Roots = dict[str, Tensor]
#: what was thawed is frozen once more, and compared
TWICE = True


@pytest.fixture(autouse=True)
def backend() -> Iterator[None]:
    with ambient(backend=NUMPY, generator=RandomStream(0)):
        yield


def through_text(frozen: Frozen) -> Frozen:
    """What was frozen, as it is read from a file."""
    text = msgspec.json.encode(frozen.graph)
    read = Frozen(msgspec.json.decode(text, type=FrozenGraph), [np.array(a) for a in frozen.memory])
    sound(read)
    return read


def again(roots: Roots) -> Roots:
    """Tensors that were frozen and thawed."""
    return thaw(through_text(freeze(roots)), NUMPY)


# -- random programs ---------------------------------------------------------------------------------


def thawed(side: Side) -> Side:
    """Another side, of what was frozen of this one."""

    def called(hook: Any) -> str:
        return "halve" if hook is halve else "watch"

    roots = {str(i): t for i, t in enumerate(side.pool)}
    frozen = freeze(roots, called)
    other = Side()
    hooks = {"halve": halve, "watch": other.watch}
    found = thaw(through_text(frozen), NUMPY, lambda name, registry, owner: registry.append((hooks[name],)))
    other.pool = [found[str(i)] for i in range(len(side.pool))]
    other.seen, other.created = list(side.seen), side.created
    if TWICE:
        twice = freeze({str(i): t for i, t in enumerate(other.pool)}, called)
        same = twice.graph == frozen.graph
        assert same, "what was thawed is frozen as something else"
        assert [a.tobytes() for a in twice.memory] == [a.tobytes() for a in frozen.memory]
    return other


def facts(t: Tensor) -> Any:
    """What a program can see of a tensor."""
    try:
        fn = t.grad_fn
        graph = fn and (fn.name(), [(p and p.name(), nr) for p, nr in fn.next_functions])
    except RuntimeError as error:
        graph = str(error)
    return (
        tuple(t.shape), t.strides, t.offset, t.dtype, t._version, t.requires_grad, t._nr, t._retains,
        t._creation, t._conj, graph, t.array.tobytes(),
    )  # fmt: skip


def sharing(pool: list[Tensor]) -> Any:
    """Which tensors share memory, versions and bases."""

    def first(of: Callable[[Tensor], Any]) -> list[int]:
        found = [of(t) for t in pool]
        return [next(i for i, y in enumerate(found) if y is x) for x in found]

    return first(lambda t: t._storage), first(lambda t: t._vc), first(lambda t: t._base)


def compare(one: list[Tensor], other: list[Tensor], what: str) -> None:
    for i, (a, b) in enumerate(zip(one, other, strict=True)):
        assert facts(a) == facts(b), f"{what}, tensor {i}"
        assert (a._grad is None) == (b._grad is None), f"{what}, gradient {i}"
        if a._grad is not None and b._grad is not None:
            assert facts(a._grad) == facts(b._grad), f"{what}, gradient {i}"
    assert sharing(one) == sharing(other), what


def check(seed: int) -> int:
    """Run the program of `seed`, freeze it midway, and end it on both; how many statements followed."""
    make = random.Random(seed)
    side = Side()
    for _ in range(3):
        side.run(new_leaf(make))
    middle, looks = make.randrange(2, STATEMENTS), make.random() < 0.5
    for _ in range(middle):
        side.run(statement(make, len(side.pool)))
    other = thawed(side)
    if looks:
        compare(side.pool, other.pool, f"seed {seed}, thawed")
    for n in range(middle, STATEMENTS):
        run = statement(make, len(side.pool))
        one, two = side.run(run), other.run(run)
        what = f"seed {seed}, statement {n}"
        assert (type(one), str(one)) == (type(two), str(two)), what
        assert [a.tobytes() for a in side.seen] == [a.tobytes() for a in other.seen], what
        if looks:
            compare(side.pool, other.pool, what)
    compare(side.pool, other.pool, f"seed {seed}, at the end")
    return STATEMENTS - middle


@pytest.mark.parametrize("group", range(0, PROGRAMS, GROUP))
def test_random_programs_go_on(group: int) -> None:
    assert sum(check(seed) for seed in range(group, group + GROUP)) > GROUP


# -- op samples --------------------------------------------------------------------------------------

SAMPLES = table.samples()


def tensors_in(found: Any) -> list[Tensor]:
    some = found if isinstance(found, (tuple, list)) else [found]
    return [t for t in some if isinstance(t, Tensor)]


def attempt(run: Callable[[], Any]) -> Any:
    """What `run` gives, or how it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run()
        except Exception as error:
            return type(error), str(error)


def shown(found: Any) -> list[Any]:
    return [None if t is None else facts(t) for t in found]


def passes_over(roots: Roots, leaves: list[str]) -> list[Any]:
    """What a recorded pass over the outputs gives, one over that, and one more that comes too late."""
    seen: list[Any] = []
    outs = [t for name, t in roots.items() if name not in leaves and t.requires_grad]
    at = [roots[name] for name in leaves if roots[name].requires_grad]

    def grads(of: list[Tensor], create: bool) -> Any:
        ones = [named.ones_like(t) for t in of]
        return api.grad(of, at, ones, create_graph=create, retain_graph=create, allow_unused=True)

    for create in (True, False, False):
        found = attempt(lambda outs=outs, create=create: grads(outs, create))
        if found and isinstance(found[0], type):
            seen.append(found)
            continue
        seen.append(shown(found))
        if create:
            further = [t for t in found if t is not None and t.requires_grad]
            seen.append(attempt(lambda further=further: shown(grads(further, False))))
    return seen


def check_sample(key: str, number: int, sample: table.Sample) -> int:
    layout = table.LAYOUTS[number % 3] if sample.layouts else "contiguous"
    specs = list(table.specs((sample.args, sample.attrs)))
    made = [
        table.ours(a, layout, s.grad and sample.first)
        for a, s in zip(table.arrays(key, number, sample), specs, strict=True)
    ]
    given = iter(made)
    args, attrs = table.swap(sample.args, given), table.swap(sample.attrs, given)
    found = attempt(lambda: (sample.fn or table.lookup(key))(*args, **attrs))
    outs = tensors_in(found)
    roots = {f"in{i}": t for i, t in enumerate(made)} | {f"out{i}": t for i, t in enumerate(outs)}
    leaves = [f"in{i}" for i in range(len(made))]
    other = again(roots)
    compare(list(roots.values()), list(other.values()), f"{key} {number}")
    with ambient(generator=RandomStream(1)):
        one = passes_over(roots, leaves)
    with ambient(generator=RandomStream(1)):
        two = passes_over(other, leaves)
    assert one == two, f"{key} {number}"
    return len(outs)


@pytest.mark.parametrize("key", sorted(SAMPLES))
def test_passes_over_what_ops_saved_go_on(key: str) -> None:
    made = [check_sample(key, n, s) for n, s in enumerate(SAMPLES[key])]
    assert len(made) == len(SAMPLES[key])


# -- faults ------------------------------------------------------------------------------------------


def versions(graph: FrozenGraph) -> None:
    graph.counters = [(0, inference) for _, inference in graph.counters]


def versions_of_views(graph: FrozenGraph) -> None:
    for t in graph.tensors:
        t.view_version = 0


def shared_memory(graph: FrozenGraph) -> None:
    for t in graph.tensors[1:]:
        t.counter = graph.tensors[0].counter


def flags(graph: FrozenGraph) -> None:
    for t in graph.tensors:
        t.flags &= ~2


def bases(graph: FrozenGraph) -> None:
    for t in graph.tensors:
        t.base = -1


def gradients(graph: FrozenGraph) -> None:
    for t in graph.tensors:
        t.grad = -1


def edges(graph: FrozenGraph) -> None:
    for n in graph.nodes:
        n.edges = [x for at in range(0, len(n.edges), 2) for x in (-1, 0)]


def numbers_of_outputs(graph: FrozenGraph) -> None:
    for n in graph.nodes:
        n.edges[1::2] = [0] * (len(n.edges) // 2)


def what_was_freed(graph: FrozenGraph) -> None:
    for n in graph.nodes:
        if n.kind == "OpNode" and n.data[6] is None:
            n.data[6] = []


def what_was_saved(graph: FrozenGraph) -> None:
    for n in graph.nodes:
        if n.kind == "OpNode":
            for _, entry in n.data[6] or ():
                if type(entry) is list and entry[0] == "saved":
                    entry[2] += 1


def written_views(graph: FrozenGraph) -> None:
    for n in graph.nodes:
        if n.kind == "CopySlices":
            n.data[0] = -1


def retained(graph: FrozenGraph) -> None:
    for n in graph.nodes:
        if n.more:
            n.more.pop("retainers", None)


def hooks(graph: FrozenGraph) -> None:
    for x in (*graph.nodes, *graph.tensors):
        for name in ("hooks", "tensor_hooks"):
            if x.more:
                x.more.pop(name, None)


def how_views_were_made(graph: FrozenGraph) -> None:
    for t in graph.tensors:
        if t.more:
            t.more.pop("creation", None)


FAULTS = [
    versions, versions_of_views, shared_memory, flags, bases, gradients, edges, numbers_of_outputs,
    what_was_freed, what_was_saved, written_views, retained, hooks, how_views_were_made,
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.__name__)
def test_what_is_left_out_is_missed(
    fault: Callable[[FrozenGraph], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def forgetful(frozen: Frozen) -> Frozen:
        graph = msgspec.json.decode(msgspec.json.encode(frozen.graph), type=FrozenGraph)
        fault(graph)
        return Frozen(graph, [np.array(a) for a in frozen.memory])

    monkeypatch.setitem(globals(), "TWICE", False)
    monkeypatch.setitem(globals(), "through_text", forgetful)
    for seed in range(400):
        try:
            check(seed)
        except Exception:
            return
    pytest.fail("nothing differs")
