"""Every sample of the op table through the transforms of functions, beside the same done without them.

Jacobians, Hessians, gradients of batches, passes over batches of cotangents and writes in place run in a
session; what they must give is put together row by row from plain passes of the engine. Prints a line for
each op that differs: ``python -m tests.ops.transformed [op ...]``, part of ``make gradcheck``.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import gradd
import numpy as np
from gradd import func
from gradd_engine.backends.array import NUMPY
from gradd_engine.backward import grad_op
from gradd_engine.data.rng import RandomStream
from gradd_engine.data.state import ambient
from gradd_engine.progress import counted, say
from gradd_engine.schema.registry import named
from gradd_engine.tensor.tensor import Tensor

from tests.ops import table
from tests.ops.table import Sample

#: inputs of more elements are left out where every second derivative is taken
ELEMENTS = 30
#: refused where samples differ: statistics that all of them would write to
SHARED = "Batch norm got a batched tensor as input while the running_mean"


class Differs(AssertionError):
    """A transform gave something else than the loop."""


class Case:
    """One sample: a function of its differentiable tensors, the others being captured, on either side."""

    def __init__(self, key: str, number: int, sample: Sample) -> None:
        self.key, self.number, self.sample = key, number, sample
        self.arrays = table.arrays(key, number, sample)
        specs = list(table.specs((sample.args, sample.attrs)))
        self.wanted = [s.grad and str(a.dtype) == "float64" for s, a in zip(specs, self.arrays, strict=True)]
        self.fn: Callable[..., Any] = sample.fn or table.lookup(key)

    def __str__(self) -> str:
        return f"{self.key}, sample {self.number}"

    @property
    def forward(self) -> bool:
        """Whether forward mode says what reverse mode says: not beside a kink, where NaN goes other ways."""
        return self.sample.jvp and self.sample.smooth

    @property
    def primals(self) -> list[Any]:
        """The arrays that are differentiated with respect to."""
        return [a for a, w in zip(self.arrays, self.wanted, strict=True) if w]

    def function(self, make: Callable[[Any], Any], fn: Callable[..., Any] | None = None) -> Any:
        """The call as a function of the differentiable tensors that gives its float64 outputs."""
        held = [None if w else make(a) for a, w in zip(self.arrays, self.wanted, strict=True)]

        def call(*given: Any) -> tuple[Any, ...]:
            left = iter(given)
            # What an op writes to must not be the caller's.
            values = iter([next(left) if h is None else h.clone() for h in held])
            args = table.swap(list(self.sample.args), values)
            found = table.flat((fn or self.fn)(*args, **table.swap(self.sample.attrs, values)))
            return tuple(o for o in found if isinstance(o, Tensor) and o.dtype.name == "float64")

        return call

    def scalar(self, make: Callable[[Any], Any]) -> Any:
        """`function` as one number that depends on every output."""
        whole = self.function(make)

        def call(*given: Any) -> Any:
            total = None
            for o in whole(*given):
                part = (o * make(weights(o.shape))).sum()
                total = part if total is None else total + part
            return total

        return call


def weights(shape: Sequence[int]) -> Any:
    """Numbers that tell elements apart."""
    return np.cos(np.arange(float(np.prod(shape))) + 1.0).reshape(tuple(shape))


# -- what must come out ------------------------------------------------------------------------------------


def _leaf(a: Any) -> Tensor:
    return table.ours(a, grad=True)


def _pull(outs: Sequence[Any], xs: Sequence[Any], seeds: Sequence[Any], again: bool = False) -> list[Any]:
    """Gradients of the outputs that have any, zeros where there are none."""
    pairs = [(o, s) for o, s in zip(outs, seeds, strict=True) if o.requires_grad]
    if not pairs:
        return [named.zeros_like(x) for x in xs]
    roots, given = zip(*pairs, strict=True)
    return list(grad_op.grad(roots, xs, given, retain_graph=True, create_graph=again, materialize_grads=True))


def _rows(out: Any, xs: Sequence[Any]) -> list[Any]:
    """The Jacobian of one output, a pass for each element."""
    if not out.numel():
        return [np.zeros((*out.shape, *x.shape)) for x in xs]
    units = np.eye(out.numel()).reshape(-1, *out.shape)
    found = [[table.to_numpy(g) for g in _pull([out], xs, [table.ours(u)])] for u in units]
    pairs = zip(zip(*found, strict=True), xs, strict=True)
    return [np.stack(rows).reshape((*out.shape, *x.shape)) for rows, x in pairs]


def jacobian(case: Case) -> list[Any]:
    """For each output and input the array of both shapes joined."""
    xs = [_leaf(a) for a in case.primals]
    return [row for o in case.function(table.ours)(*xs) for row in _rows(o, xs)]


def second(case: Case) -> list[Any]:
    """The Hessian of `Case.scalar`."""
    xs = [_leaf(a) for a in case.primals]
    y = case.scalar(table.ours)(*xs)
    first = _pull([y], xs, [table.ours(np.ones(()))], again=True)
    return [row for g in first for row in _rows(g, xs)]


def gradient(case: Case, primals: Sequence[Any]) -> list[Any]:
    """The gradient of `Case.scalar` at other values."""
    xs = [_leaf(a) for a in primals]
    return [table.to_numpy(g) for g in _pull([case.scalar(table.ours)(*xs)], xs, [table.ours(np.ones(()))])]


# -- what transforms give ----------------------------------------------------------------------------------


def _here(case: Case) -> list[Any]:
    return [gradd.tensor(a) for a in case.primals]


def _all(case: Case) -> tuple[int, ...]:
    return tuple(range(len(case.primals)))


def check_jacrev(case: Case) -> None:
    """All rows of a Jacobian in one pass."""
    found = func.jacrev(case.function(gradd.tensor), argnums=_all(case))(*_here(case))
    same(case, found, jacobian(case))


def check_jacfwd(case: Case) -> None:
    """All columns of a Jacobian in one run."""
    found = func.jacfwd(case.function(gradd.tensor), argnums=_all(case))(*_here(case))
    same(case, found, jacobian(case))


def check_hessian(case: Case) -> None:
    """Forward mode over a reverse pass, both over batches."""
    same(case, func.hessian(case.scalar(gradd.tensor), argnums=_all(case))(*_here(case)), second(case))


def check_reverse_twice(case: Case) -> None:
    """A reverse pass over a reverse pass, both over batches."""
    twice = func.jacrev(func.jacrev(case.scalar(gradd.tensor), argnums=_all(case)), argnums=_all(case))
    same(case, twice(*_here(case)), second(case))


def check_batch(case: Case) -> None:
    """vmap(grad(f)): of two samples, where one input differs and where all do."""
    primals = case.primals
    turned = [np.flip(a).copy() for a in primals]
    patterns = {(True,) * len(primals), (True, *[False] * (len(primals) - 1))}
    for mapped in patterns:
        other = [t if m else a for a, t, m in zip(primals, turned, mapped, strict=True)]
        try:
            wanted = list(zip(gradient(case, primals), gradient(case, other), strict=True))
        except Exception:
            continue  # the values are not those of an input any more
        fn = func.vmap(
            func.grad(case.scalar(gradd.tensor), argnums=_all(case)),
            in_dims=tuple(0 if m else None for m in mapped),
        )
        pairs = zip(primals, turned, mapped, strict=True)
        found = fn(*[gradd.tensor(np.stack([a, t]) if m else a) for a, t, m in pairs])
        same(case, found, [np.stack(w) for w in wanted])


def check_cotangents(case: Case) -> None:
    """vmap over the cotangents of a graph that was made outside."""
    xs = [_leaf(a) for a in case.primals]
    ours = [gradd.tensor(a).requires_grad_() for a in case.primals]
    for o, mine in zip(case.function(table.ours)(*xs), case.function(gradd.tensor)(*ours), strict=True):
        if not mine.requires_grad:
            continue
        seeds = [weights(o.shape), weights(o.shape) ** 2 - 0.5]
        rows = [_pull([o], xs, [table.ours(s)]) for s in seeds]

        def pulled(v: Any, mine: Any = mine) -> Any:
            return gradd.autograd.grad(mine, ours, v, retain_graph=True, materialize_grads=True)

        found = func.vmap(pulled)(gradd.tensor(np.stack(seeds)))
        same(case, found, [np.stack([table.to_numpy(g) for g in gs]) for gs in zip(*rows, strict=True)])


def check_write(case: Case) -> None:
    """Results written in place into tensors made inside, by forward and by reverse mode."""

    def written(make: Callable[[Any], Any]) -> Any:
        whole = case.function(make)

        def call(*given: Any) -> tuple[Any, ...]:
            made = []
            for o in whole(*given):
                row = make(np.zeros((2, *o.shape)))
                row[1] = o
                row[0].copy_(o).mul_(2.0)
                made.append(row)
            return tuple(made)

        return call

    rows = jacobian(case)
    wanted = [np.stack([2 * r, r]) for r in rows]
    same(case, func.jacrev(written(gradd.tensor), argnums=_all(case))(*_here(case)), wanted)
    if case.forward:
        same(case, func.jacfwd(written(gradd.tensor), argnums=_all(case))(*_here(case)), wanted)


def check_in_place(case: Case) -> None:
    """The in-place form of the op in a batch, and under forward mode."""
    name = f"{case.key.rpartition('.')[2]}_"
    form = getattr(gradd.Tensor, name)

    def placed(x: Any, *rest: Any, **more: Any) -> Any:
        return form(x.clone(), *rest, **more)

    if case.forward:
        found = func.jacfwd(case.function(gradd.tensor, placed), argnums=_all(case))(*_here(case))
        same(case, found, jacobian(case))
    fn = func.vmap(case.function(gradd.tensor, placed))
    pairs = [np.stack([a, np.flip(a)]) for a in case.primals]
    want = case.function(table.ours)
    try:
        outs = [want(*(table.ours(np.array(p[i])) for p in pairs)) for i in range(2)]
    except Exception:
        return
    rows = [np.stack([table.to_numpy(o) for o in both]) for both in zip(*outs, strict=True)]
    same(case, fn(*map(gradd.tensor, pairs)), rows)


def same(case: Case, found: Any, wanted: Sequence[Any]) -> None:
    """Differs unless the tensors are these arrays, and tensors of the session."""
    tensors = table.flat(found)
    if len(tensors) != len(wanted):
        raise Differs(f"{len(tensors)} results, not {len(wanted)}")
    tolerance = max(case.sample.tolerance, 1e-9)
    for t, w in zip(tensors, wanted, strict=True):
        if t.backend.level:
            raise Differs(f"a tensor of a level of vmap came out: {t!r}")
        a = t.detach().numpy()
        if a.shape != w.shape:
            raise Differs(f"a result of shape {a.shape}, not {w.shape}")
        if not np.allclose(a, w, rtol=tolerance, atol=tolerance, equal_nan=True):
            raise Differs(f"{a.tolist()} is not {w.tolist()}")


# -- which of them -----------------------------------------------------------------------------------------

CHECKS: dict[str, Callable[[Case], None]] = {
    "jacrev": check_jacrev,
    "jacfwd": check_jacfwd,
    "hessian": check_hessian,
    "jacrev twice": check_reverse_twice,
    "vmap of grad": check_batch,
    "vmap of cotangents": check_cotangents,
    "writes": check_write,
    "in place": check_in_place,
}


def _shapes(case: Case) -> list[Any]:
    return [tuple(o.shape) for o in case.function(table.ours)(*map(table.ours, case.primals))]


def _applies(kind: str, case: Case) -> bool:
    sample = case.sample
    if kind == "jacfwd":
        return case.forward
    if kind in ("hessian", "jacrev twice"):
        small = sum(a.size for a in case.primals) <= ELEMENTS
        return small and sample.second and (case.forward or kind == "jacrev twice")
    if kind == "vmap of grad":
        return not sample.is_dynamic
    if kind == "in place":
        first = sample.args[0] if sample.args else None
        return (
            sample.inplace
            and sample.fn is None
            and isinstance(first, table.Spec)
            and case.wanted[0]
            and hasattr(gradd.Tensor, f"{case.key.rpartition('.')[2]}_")
            and [o.shape for o in case.function(table.ours)(*map(table.ours, case.primals))][:1]
            == [first.shape]
        )
    return True


def cases(keys: Sequence[str] = ()) -> Iterator[Case]:
    """The samples that have derivatives."""
    for key, some in table.samples().items():
        if keys and key not in keys:
            continue
        for number, sample in enumerate(some):
            if not sample.first or not sample.values or sample.own:
                continue
            case = Case(key, number, sample)
            if any(case.wanted):
                outs = case.function(table.ours)(*map(_leaf, case.primals))
                if any(o.requires_grad for o in outs):
                    yield case


def failures(case: Case, kinds: Sequence[str] = tuple(CHECKS)) -> Iterator[tuple[str, str]]:
    """What is wrong with one case: the transform and the difference."""
    for kind in kinds:
        if _applies(kind, case):
            try:
                CHECKS[kind](case)
            except NotImplementedError:
                continue  # there is a rule for reverse mode alone, and it is said
            except Exception as error:
                if str(error).startswith(SHARED):
                    continue
                yield kind, f"{type(error).__name__}: {error}"


def check(some: Sequence[Case], show: Callable[[str], None], kinds: Sequence[str] = tuple(CHECKS)) -> int:
    """Check these cases in the current session; how many differ."""
    wrong = 0
    with warnings.catch_warnings(), ambient(generator=RandomStream(0), backend=NUMPY):
        warnings.simplefilter("ignore")
        for case in counted(some, "transformed", len(some)):
            for kind, text in failures(case, kinds):
                wrong += 1
                show(f"{kind} of {case}: {text[:300]}")
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 1 where anything differed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ops", nargs="*", help="ops to check, by their names in the table; all by default")
    parser.add_argument("--url", default="local:", help="a daemon; local: by default")
    parser.add_argument("--kind", choices=CHECKS, action="append", help="one transform; all by default")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        some = list(cases(options.ops))
    with gradd.connect(options.url):
        wrong = check(some, partial(say, to=sys.stdout), options.kind or tuple(CHECKS))
    passed = bool(some) and not wrong
    print(
        f"{'passed' if passed else 'FAILED'}: {len(some)} samples, {wrong} differences, "
        f"in {time.monotonic() - began:.0f} s"
    )
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
