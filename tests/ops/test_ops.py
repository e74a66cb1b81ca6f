"""Every op against its declaration, differences and the oracle: checks are here, samples in the table."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gradd_engine.backward.grad_op import grad_op
from gradd_engine.check import testing
from gradd_engine.data import dtypes
from gradd_engine.data.state import ambient
from gradd_engine.ops.index.dynamic import ShapeDependsOnValuesError
from gradd_engine.ops.shape.copies import clone
from gradd_engine.tensor.tensor import Tensor

from tests.ops import table
from tests.ops.table import LAYOUTS, META, PUBLIC, Sample

SAMPLES = table.samples()


def each(wanted: Callable[[str, int, Sample], bool]) -> pytest.MarkDecorator:
    """One test for each sample that is `wanted`."""
    cases = [
        pytest.param(key, i, s, id=f"{key}-{i}")
        for key, some in SAMPLES.items()
        for i, s in enumerate(some)
        if wanted(key, i, s)
    ]
    return pytest.mark.parametrize(("key", "number", "sample"), cases)


each_sample = each(lambda key, number, sample: True)
#: what differences can be taken of
DOUBLE = ("float64", "complex128")
#: relative tolerance of values by dtype
CLOSE = {"float32": 1e-5, "complex64": 1e-5}


class Case:
    """A sample with its values, callable on both sides."""

    def __init__(self, key: str, number: int, sample: Sample, dtype: str | None = None) -> None:
        self.key = key
        self.sample = sample
        self.arrays = table.arrays(key, number, sample, dtype)
        self.grads = [s.grad for s in table.specs((sample.args, sample.attrs))]

    def call(
        self, fn: Callable[..., Any], tensors: list[Any], turn: Callable[[Any], Any] = lambda x: x
    ) -> Any:
        values = iter(tensors)
        args = table.swap(list(self.sample.args), values, turn)
        return fn(*args, **table.swap(self.sample.attrs, values, turn))

    def ours(self, tensors: list[Tensor]) -> Any:
        return self.call(self.sample.fn or table.lookup(self.key), tensors)

    def theirs(self, torch: Any, tensors: list[Any]) -> Any:
        def turn(x: Any) -> Any:
            return getattr(torch, x.name) if isinstance(x, dtypes.DType) else x

        spelling = self.sample.oracle
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if spelling is not None:
                return self.call(lambda *a, **k: spelling(torch, *a, **k), tensors, turn)
            return self.call(table.oracle(torch, self.key), tensors, turn)

    def our_tensors(
        self, layout: str = "contiguous", grad: bool = False, backend: Any = table.NUMPY
    ) -> list[Tensor]:
        return [
            table.ours(a, layout, grad and g, backend) for a, g in zip(self.arrays, self.grads, strict=True)
        ]

    def their_tensors(self, torch: Any, layout: str = "contiguous", grad: bool = False) -> list[Any]:
        return [
            table.theirs(torch, a, layout, grad and g) for a, g in zip(self.arrays, self.grads, strict=True)
        ]


def equal(got: Any, want: Any, sample: Sample, what: str, strides: bool = True) -> None:
    """Same geometry, and values within the tolerance of their dtype."""
    if not hasattr(want, "shape"):
        assert not hasattr(got, "shape"), what
        if sample.values:
            assert got == pytest.approx(want, nan_ok=True), what
        return
    assert tuple(got.shape) == tuple(want.shape), f"{what}: shape"
    assert str(got.dtype) == str(want.dtype), f"{what}: dtype"
    if strides:
        mine = got.strides if isinstance(got, Tensor) else got.stride()
        other = want.strides if isinstance(want, Tensor) else want.stride()
        assert tuple(mine) == tuple(other), f"{what}: strides"
    if not sample.values:
        return
    name = str(got.dtype).removeprefix("torch.")
    close = sample.half_tolerance if name in ("float16", "bfloat16") else CLOSE.get(name, sample.tolerance)
    a, b = table.to_numpy(got), table.to_numpy(want)
    np.testing.assert_allclose(a, b, rtol=close, atol=close, err_msg=what, equal_nan=True)


def compare(torch: Any, case: Case, layout: str) -> None:
    """Both sides, forward: the same values and geometry, or the same class of exception."""
    theirs = case.their_tensors(torch, layout)
    refusal, want = None, None
    try:
        want = case.theirs(torch, theirs)
    except Exception as error:
        refusal = error
    if refusal is not None:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - the class is compared below
            case.ours(case.our_tensors(layout))
        got = caught.value
        kin = isinstance(got, type(refusal)) or isinstance(refusal, type(got))
        assert kin, f"{got!r} is not the oracle's {refusal!r}"
        return
    got = case.ours(case.our_tensors(layout))
    for i, (g, w) in enumerate(zip(table.flat(got), table.flat(want), strict=True)):
        equal(g, w, case.sample, f"{case.key} ({layout}), output {i}")


@pytest.mark.oracle
@each_sample
def test_forward_is_the_oracles(torch: Any, key: str, number: int, sample: Sample) -> None:
    case = Case(key, number, sample)
    for layout in LAYOUTS if sample.layouts else LAYOUTS[:1]:
        compare(torch, case, layout)


@pytest.mark.oracle
@each_sample
def test_dtypes_are_the_oracles(torch: Any, key: str, number: int, sample: Sample) -> None:
    tried = 0
    for dtype in sample.only:
        case = Case(key, number, sample, dtype)
        if any(str(a.dtype) == dtype for a in case.arrays):
            compare(torch, case, "contiguous")
            tried += 1
    assert tried or not sample.only or not any(s.floating for s in table.specs((sample.args, sample.attrs)))


@each(lambda key, number, sample: sample.meta)
def test_meta_gives_the_same_geometry(key: str, number: int, sample: Sample) -> None:
    case = Case(key, number, sample)
    for layout in LAYOUTS if sample.layouts else LAYOUTS[:1]:
        try:
            real = table.flat(case.ours(case.our_tensors(layout)))
        except Exception as error:
            with pytest.raises(type(error)):
                case.ours(case.our_tensors(layout, backend=META))
            continue
        if sample.is_dynamic:
            with ambient(backend=META), pytest.raises(ShapeDependsOnValuesError):
                case.ours(case.our_tensors(layout, backend=META))
            continue
        with ambient(backend=META):
            seen = table.flat(case.ours(case.our_tensors(layout, backend=META)))
        assert len(seen) == len(real)
        for m, r in zip(seen, real, strict=True):
            if isinstance(r, Tensor):
                assert (m.shape, m.dtype, m.strides, m.offset) == (r.shape, r.dtype, r.strides, r.offset)


def rules(case: Case) -> int:
    """Check the declared rules of a sample against differences; how many inputs were moved."""
    sample = case.sample
    moving = [
        i
        for i, (a, g) in enumerate(zip(case.arrays, case.grads, strict=True))
        if g and str(a.dtype) in DOUBLE
    ]
    if not moving:
        return 0

    def fn(*given: Tensor) -> Any:
        tensors = case.our_tensors()
        for i, t in zip(moving, given, strict=True):
            tensors[i] = t
        return [o for o in table.flat(case.ours(tensors)) if isinstance(o, Tensor)]

    values = [case.arrays[i] for i in moving]
    testing.check_rules(fn, values, forward=sample.jvp, second=sample.second, tolerance=sample.tolerance)
    return len(moving)


def moves(key: str, number: int, sample: Sample) -> bool:
    """Whether differences can be taken of a sample."""
    given = table.specs((sample.args, sample.attrs))
    return sample.first and sample.smooth and any(s.grad and s.dtype in DOUBLE for s in given)


@each(moves)
def test_rules_agree_with_differences(key: str, number: int, sample: Sample) -> None:
    checked = rules(Case(key, number, sample))
    if sample.complex:
        checked += rules(Case(key, number, sample, "complex128"))
    assert checked


def chain(fn: Any) -> list[str]:
    """Names of all nodes above, breadth first, each with the numbers of its parents' outputs."""
    seen: dict[Any, int] = {fn: 0}
    out: list[str] = []
    order = [fn]
    for node in order:
        parents = []
        for parent, nr in node.next_functions:
            if parent is None:
                parents.append("-")
                continue
            if parent not in seen:
                seen[parent] = len(order)
                order.append(parent)
            parents.append(f"{seen[parent]}.{nr}")
        out.append(f"{node.name()}({', '.join(parents)})")
    return out


def differentiated(key: str, number: int, sample: Sample) -> bool:
    """Whether the oracle has gradients of a sample."""
    return sample.first and not sample.own and any(s.grad for s in table.specs((sample.args, sample.attrs)))


@pytest.mark.oracle
@each(differentiated)
def test_gradients_and_nodes_are_the_oracles(torch: Any, key: str, number: int, sample: Sample) -> None:
    case = Case(key, number, sample)
    for layout in LAYOUTS if sample.layouts else LAYOUTS[:1]:
        theirs = case.their_tensors(torch, layout, True)
        mine = case.our_tensors(layout, True)
        try:
            want = [o for o in table.flat(case.theirs(torch, theirs)) if getattr(o, "requires_grad", False)]
        except RuntimeError:
            continue
        got = [o for o in table.flat(case.ours(mine)) if isinstance(o, Tensor) and o.requires_grad]
        assert len(got) == len(want), f"{len(got)} outputs require gradients, the oracle's {len(want)}"
        if sample.graph:
            assert [chain(o.grad_fn) for o in got] == [chain(o.grad_fn) for o in want]
        rng = np.random.default_rng(1)
        weights = [rng.standard_normal(o.shape).astype(table.to_numpy(o).dtype) for o in want]
        ends = [t for t in theirs if t.requires_grad]
        expected = torch.autograd.grad(want, ends, [torch.from_numpy(w) for w in weights], allow_unused=True)
        leaves = [t for t in mine if t.requires_grad]
        found = grad_op(got, leaves, [table.ours(w) for w in weights], allow_unused=True)
        for i, (g, w) in enumerate(zip(found, expected, strict=True)):
            assert (g is None) == (w is None), f"gradient {i}: {g!r}, the oracle's {w!r}"
            if w is not None:
                equal(g, w, sample, f"{key} ({layout}), gradient {i}", strides=False)


def in_place(key: str) -> Any:
    """The in-place form of the op a key names, or None."""
    name = key.rpartition(".")[2]
    return getattr(Tensor, f"{name}_", None)


def has_in_place_form(key: str, number: int, sample: Sample) -> bool:
    """Whether the op has an in-place form, and the sample's result fits its first input."""
    if in_place(key) is None or not sample.inplace or not sample.args:
        return False
    if not isinstance(sample.args[0], table.Spec):
        return False
    case = Case(key, number, sample)
    first, *_ = tensors = case.our_tensors()
    with ambient(backend=table.NUMPY):
        out = case.ours(tensors)
    return tuple(out.shape) == tuple(first.shape) and out.dtype is first.dtype


@each(has_in_place_form)
def test_the_in_place_form_is_the_functional_one(key: str, number: int, sample: Sample) -> None:
    form = in_place(key)
    case = Case(key, number, sample)
    want = case.ours(case.our_tensors(grad=True))
    leaves = case.our_tensors(grad=True)
    target = clone(leaves[0])
    got = case.call(form, [target, *leaves[1:]])
    assert got is target
    assert target._version == 1
    equal(got, want, sample, "in place")
    if want.requires_grad and sample.first:
        first = case.our_tensors(grad=True)
        weight = table.ours(np.random.default_rng(1).standard_normal(want.shape).astype(want.dtype.np))
        expected = grad_op(
            [case.ours(first)], [t for t in first if t.requires_grad], [weight], materialize_grads=True
        )
        found = grad_op([got], [t for t in leaves if t.requires_grad], [weight], materialize_grads=True)
        for g, w in zip(found, expected, strict=True):
            equal(g, w, sample, "gradient in place", strides=False)


def test_every_public_name_has_a_sample() -> None:
    sampled = {
        fn for place, fn in PUBLIC.items() if ".".join(place).strip(".") in SAMPLES or place[1] in SAMPLES
    }
    missing = [
        f"{space}.{name}".strip(".")
        for (space, name), fn in PUBLIC.items()
        if fn not in sampled and space != "nn.init"
    ]
    assert not missing, f"no sample: {sorted(missing)}"
