"""gradcheck and gradgradcheck of every differentiable op of the table, in a daemon: `make gradcheck`.

Prints a line an op and fails where any of its samples does. The daemon is one of its own, or `--url`.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

import gradd
from gradd.autograd import gradcheck, gradgradcheck
from gradd_engine.declare.declarators import REGISTRY

from benchmarks.daemon import serving
from tests.ops import table
from tests.ops.table import Sample

DOUBLE = ("float64", "complex128")
#: what a function of more elements has is looked at along random directions, not element by element
ELEMENTS = 24


@dataclass(frozen=True)
class Case:
    """A call of one op with one sample's tensors."""

    key: str
    number: int
    sample: Sample
    dtype: str | None = None
    in_place: bool = False

    @property
    def name(self) -> str:
        """The op as a user would say it."""
        return f"{self.key}_" if self.in_place else self.key

    def __str__(self) -> str:
        return f"{self.name}, sample {self.number}{' complex' if self.dtype else ''}"

    def tensors(self) -> list[Any]:
        """The sample's tensors in the session; those that are differentiated are in double precision."""
        specs = table.specs((self.sample.args, self.sample.attrs))
        arrays = table.arrays(self.key, self.number, self.sample, self.dtype)
        return [
            gradd.tensor(a).requires_grad_(s.grad and str(a.dtype) in DOUBLE)
            for s, a in zip(specs, arrays, strict=True)
        ]

    def __call__(self, *given: Any) -> tuple[Any, ...]:
        """The outputs of the call that have double precision."""
        tensors = list(given)
        fn: Callable[..., Any] = self.sample.fn or table.lookup(self.key)
        if self.in_place:
            fn = in_place(self.key)
            tensors[0] = tensors[0].clone()
        values = iter(tensors)
        args = table.swap(list(self.sample.args), values)
        found = table.flat(fn(*args, **table.swap(self.sample.attrs, values)))
        return tuple(o for o in found if isinstance(o, gradd.Tensor) and str(o.dtype)[6:] in DOUBLE)


def in_place(key: str) -> Any:
    """The in-place form of an op, or None."""
    return getattr(gradd.Tensor, f"{key.rpartition('.')[2]}_", None)


def _fits(case: Case) -> bool:
    """Whether the in-place form can hold the result."""
    first = case.sample.args[0] if case.sample.args else None
    if not case.sample.inplace or in_place(case.key) is None or not isinstance(first, table.Spec):
        return False
    (out, *_) = (*Case(case.key, case.number, case.sample)(*case.tensors()), None)
    return out is not None and tuple(out.shape) == first.shape and str(out.dtype)[6:] == first.dtype


def cases(keys: Sequence[str] = ()) -> Iterator[Case]:
    """What is checked of these ops, or of all: each smooth sample, its complex form, one form in place."""
    for key, some in table.samples().items():
        if keys and key not in keys:
            continue
        placed: list[Case] = []
        for number, sample in enumerate(some):
            specs = table.specs((sample.args, sample.attrs))
            if not (sample.first and sample.smooth and any(s.grad and s.dtype in DOUBLE for s in specs)):
                continue
            yield Case(key, number, sample)
            if sample.complex:
                yield Case(key, number, sample, "complex128")
            if not placed and _fits(Case(key, number, sample)):
                placed.append(Case(key, number, sample, in_place=True))
        yield from placed


def failures(case: Case) -> Iterator[str]:
    """What is wrong with the derivatives of one call: of reverse and forward mode, and of second order."""
    tensors = tuple(case.tensors())
    try:
        outputs = case(*tensors)
        if not outputs:
            return
        elements = sum(t.numel() for t in (*tensors, *outputs))
        options = {"fast_mode": elements > ELEMENTS or case.in_place}
        gradcheck(case, tensors, check_forward_ad=case.sample.jvp, **options)
        if case.sample.second:
            gradgradcheck(case, tensors, **options)
    except Exception as error:
        yield f"{case}: {type(error).__name__}: {error}"


def unreached() -> list[str]:
    """Ops with a derivative that nothing in this process recorded; in-place forms share their op's."""
    return sorted(o.name for o in REGISTRY.values() if o.rules and o.base is None and not o.caches.recipes)


def check(keys: Sequence[str], show: Callable[[str], None]) -> bool:
    """Check these ops, or all, in the current session; whether there are such and all passed."""
    results = []
    for name, group in groupby(cases(keys), lambda case: case.name):
        found = [list(failures(case)) for case in group]
        for failure in chain(*found):
            show(failure)
        passed = not any(found)
        results.append(passed)
        show(f"{name:<50} {'passed' if passed else 'FAILED'} {found.count([]):>3} of {len(found)}")
    return bool(results) and all(results)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 1 where anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ops", nargs="*", help="ops to check, by their names in the table; all by default")
    parser.add_argument("--url", help="a daemon, or local:; by default one is started")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    with (
        nullcontext((options.url, 0)) if options.url else serving() as (url, _),
        gradd.connect(url) as session,
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            passed = check(options.ops, print)
        trips = session.stats()["round_trips"]
    if not options.ops:
        print(f"not differentiated by any sample: {', '.join(unreached()) or 'none'}")
    print(f"{'passed' if passed else 'FAILED'} in {time.monotonic() - began:.0f} s, {trips} round trips")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
