"""What can be done with one call of an op, each a body to be replayed: the samples of the op table in every
form, layout and dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import gradd
import numpy as np
from gradd.autograd import forward_ad

from tests.ops import table
from tests.ops.table import LAYOUTS, Sample

#: elements up to which whole Jacobians are taken
SMALL = 24
#: forms whose values change from repetition to repetition, and how: 0 is as they are in the sample
TURNS = {"spoiled": (0, 0, 1, 0), "spoiled_unused": (0, 0, 1, 0), "numbers": (0, 2, 1, 3)}
#: ops that change their inputs, besides those that end in "_"
WRITING = frozenset({"setitem", "nn.functional.batch_norm"})
#: forms that differentiate nothing
STILL = frozenset({"forward", "spoiled", "spoiled_unused"})
Tensors = list[Any]


def spoiled(a: Any) -> Any:
    """Values that many ops refuse, of the same shape and dtype."""
    with np.errstate(all="ignore"):
        return a if a.dtype == bool else (a * -77 - (a.dtype.kind in "iu") * 1000).astype(a.dtype)


@dataclass(frozen=True)
class Body:
    """One form of one sample; `run` is what is repeated."""

    form: str
    key: str
    number: int
    sample: Sample
    layout: str = "contiguous"
    dtype: str | None = None
    #: in which way its values are not the sample's
    turn: int = 0

    def __str__(self) -> str:
        turn = f"+{self.turn}" if self.turn else ""
        return f"{self.form}/{self.key}/{self.number}/{self.layout}/{self.dtype or 'as-is'}{turn}"

    @property
    def told(self) -> bool:
        """Whether the values that come out are determined."""
        return self.sample.values

    @property
    def writes(self) -> bool:
        """Whether inputs are changed, so that those that are kept are others the next time."""
        return self.key.endswith("_") or self.key in WRITING

    def at(self, n: int) -> Body:
        """As it is in the n-th repetition: the same, but where the form says that its values change."""
        return replace(self, turn=TURNS.get(self.form, (0,))[n % len(TURNS.get(self.form, (0,)))])

    def inputs(self) -> Tensors:
        """The tensors of the sample, made anew: leaves."""
        specs = table.specs((self.sample.args, self.sample.attrs))
        spoils, moves = self.turn and self.form != "numbers", self.form not in STILL
        return [
            _laid_out(spoiled(a) if spoils else a, self.layout).requires_grad_(
                moves and s.grad and a.dtype.kind in "fcV"
            )
            for s, a in zip(specs, self.arrays(), strict=True)
        ]

    def arrays(self) -> list[Any]:
        """The values of the tensors."""
        return table.arrays(self.key, self.number, self.sample, self.dtype)

    def call(self, *tensors: Any, fn: Callable[..., Any] | None = None) -> Any:
        """The op, or another function, on these tensors and the sample's numbers."""
        values, turned = iter(tensors), self._number if self.form == "numbers" else _same
        args = table.swap(list(self.sample.args), values, turned)
        fn = fn or self.sample.fn or table.lookup(self.key)
        return fn(*args, **table.swap(self.sample.attrs, values, turned))

    def _number(self, x: Any) -> Any:
        """A number of the call, in this turn: what rules look at (0 and 1) is among them."""
        if isinstance(x, float):
            return (x, 0.0, x + 0.25, 1.0)[self.turn]
        if isinstance(x, int) and not isinstance(x, bool):
            return (x, 0, x + 1, 1)[self.turn]
        return x

    def run(self, tensors: Tensors) -> list[Any]:
        """The form, on these inputs; what came of it, tensors and others."""
        return FORMS[self.form](self, tensors)


def _same(x: Any) -> Any:
    return x


def _laid_out(a: Any, layout: str) -> Any:
    if layout == "contiguous":
        return gradd.tensor(a)
    flat, strides, offset = table._store(a, layout)
    return gradd.tensor(flat).as_strided(a.shape, strides, offset)


def _moving(found: Any) -> Tensors:
    """Those outputs that gradients come from."""
    return [t for t in table.flat(found) if isinstance(t, gradd.Tensor) and t.requires_grad]


def _weights(outputs: Tensors, shift: float = 1.0) -> Tensors:
    """Cotangents, or tangents, that tell elements apart."""
    return [
        gradd.tensor(np.cos(np.arange(float(t.numel())) + shift).reshape(tuple(t.shape)).astype(t.dtype.np))
        for t in outputs
    ]


def _leaves(tensors: Tensors) -> Tensors:
    return [t for t in tensors if t.requires_grad]


def _gradients(tensors: Tensors) -> Tensors:
    return [t.grad for t in tensors if t.requires_grad]


def _squares(outputs: Tensors) -> Any:
    """One number that all outputs move."""
    return sum((t * t.conj()).real.sum() if t.is_complex() else (t * t).sum() for t in outputs)


def forward(body: Body, tensors: Tensors) -> list[Any]:
    return table.flat(body.call(*tensors))


def spoiled_values(body: Body, tensors: Tensors) -> list[Any]:
    """A write before and one behind; in some repetitions the op in between refuses its values."""
    count = gradd.ones(2)
    count.add_(1.0)
    found = table.flat(body.call(*tensors))
    count.mul_(2.0)
    return [count, *found]


def spoiled_unused(body: Body, tensors: Tensors) -> list[Any]:
    """Nobody looks at the result: refused values are refused all the same."""
    count = gradd.ones(2)
    body.call(*tensors)
    return [count.add_(1.0)]


def backward(body: Body, tensors: Tensors) -> list[Any]:
    found = table.flat(body.call(*tensors))
    outputs = _moving(found)
    if outputs:
        gradd.autograd.backward(outputs, _weights(outputs))
    return [*found, *_gradients(tensors)]


def retained(body: Body, tensors: Tensors) -> list[Any]:
    """Two passes through one graph, accumulated."""
    outputs = _moving(body.call(*tensors))
    if outputs:
        gradd.autograd.backward(outputs, _weights(outputs), retain_graph=True)
        gradd.autograd.backward(outputs, _weights(outputs, 2.0))
    return [*outputs, *_gradients(tensors)]


def double(body: Body, tensors: Tensors) -> list[Any]:
    """The gradient of the gradient."""
    outputs, leaves = _moving(body.call(*tensors)), _leaves(tensors)
    if not outputs:
        return []
    first = gradd.autograd.grad(outputs, leaves, _weights(outputs), create_graph=True, allow_unused=True)
    moving = _moving(first)
    if moving:
        _squares(moving).backward()
    return [*first, *_gradients(tensors)]


def hooked(body: Body, tensors: Tensors) -> list[Any]:
    """Hooks that look, and hooks that replace."""
    seen: list[Any] = []
    outputs, leaves = _moving(body.call(*tensors)), _leaves(tensors)
    handles = [t.register_hook(lambda g: g * 0.5) for t in outputs]
    handles += [t.register_hook(seen.append) for t in leaves]
    if outputs:
        gradd.autograd.backward(outputs, _weights(outputs))
    for handle in handles:
        handle.remove()
    return [*seen, *_gradients(tensors)]


def dual(body: Body, tensors: Tensors) -> list[Any]:
    """Forward mode."""
    with forward_ad.dual_level():
        given = [
            forward_ad.make_dual(t, w) if t.requires_grad else t
            for t, w in zip(tensors, _weights(tensors), strict=True)
        ]
        found = [t for t in table.flat(body.call(*given)) if isinstance(t, gradd.Tensor)]
        return [x for t in found for x in forward_ad.unpack_dual(t)]


def in_place(body: Body, tensors: Tensors) -> list[Any]:
    """The in-place form, on a copy."""
    target = tensors[0].clone()
    form = getattr(gradd.Tensor, f"{body.key.rpartition('.')[2]}_")
    body.call(target, *tensors[1:], fn=form)
    if target.requires_grad:
        _squares([target]).backward()
    return [target, *_gradients(tensors)]


def in_place_view(body: Body, tensors: Tensors) -> list[Any]:
    """The in-place form, on a view of something larger that was written to before."""
    base = gradd.zeros(3, *tensors[0].shape, dtype=tensors[0].dtype)
    base[0] = tensors[0]
    base[1] = tensors[0]
    form = getattr(gradd.Tensor, f"{body.key.rpartition('.')[2]}_")
    body.call(base[1], *tensors[1:], fn=form)
    if base.requires_grad:
        _squares([base]).backward()
    return [base, *_gradients(tensors)]


def from_slices(body: Body, tensors: Tensors) -> list[Any]:
    """Inputs that were put together by writes through views."""
    whole = []
    for t in tensors:
        if t.requires_grad and t.ndim and t.shape[0] > 1:
            base = gradd.zeros_like(t)
            base[0] = t[0]
            base[1:] = t[1:]
            t = base
        whole.append(t)
    outputs = _moving(body.call(*whole))
    if outputs:
        gradd.autograd.backward(outputs, _weights(outputs))
    return [*outputs, *_gradients(tensors)]


def into_slices(body: Body, tensors: Tensors) -> list[Any]:
    """Results that are written into views of views."""
    outputs = _moving(body.call(*tensors))
    bases = []
    for t in outputs:
        base = gradd.zeros(2, 2, *t.shape, dtype=t.dtype)
        base[0][1] = t
        base[1, 0] = t * 2
        base[1][0].mul_(base[0][1])
        bases.append(base)
    if bases:
        _squares(bases).backward()
    return [*bases, *_gradients(tensors)]


def mapped(body: Body, tensors: Tensors) -> list[Any]:
    """`vmap`, over two samples of each tensor."""
    pairs = [gradd.stack([t.detach(), t.detach().flip(list(range(t.ndim)))]) for t in tensors]

    def fn(*given: Any) -> Any:
        return tuple(t for t in table.flat(body.call(*given)) if isinstance(t, gradd.Tensor))

    return table.flat(gradd.func.vmap(fn, randomness="different")(*pairs))


def batched_pass(body: Body, tensors: Tensors) -> list[Any]:
    """`autograd.grad` of two cotangents at once."""
    outputs, leaves = _moving(body.call(*tensors)), _leaves(tensors)
    if not outputs:
        return []
    seeds = [gradd.stack([a, b]) for a, b in zip(_weights(outputs), _weights(outputs, 2.0), strict=True)]
    return list(gradd.autograd.grad(outputs, leaves, seeds, is_grads_batched=True, allow_unused=True))


def _jacobian(transform: Callable[..., Any]) -> Callable[[Body, Tensors], list[Any]]:
    def form(body: Body, tensors: Tensors) -> list[Any]:
        places = [i for i, t in enumerate(tensors) if t.requires_grad]

        def fn(*given: Any) -> Any:
            full = [t.detach() for t in tensors]
            for i, t in zip(places, given, strict=True):
                full[i] = t
            found = table.flat(body.call(*full))
            return tuple(t for t in found if isinstance(t, gradd.Tensor) and t.dtype.is_floating_point)

        moved = [tensors[i].detach() for i in places]
        return table.flat(transform(fn, argnums=tuple(range(len(moved))))(*moved))

    return form


FORMS: dict[str, Callable[[Body, Tensors], list[Any]]] = {
    "forward": forward,
    "spoiled": spoiled_values,
    "spoiled_unused": spoiled_unused,
    "numbers": backward,
    "backward": backward,
    "retained": retained,
    "double": double,
    "hooked": hooked,
    "dual": dual,
    "in_place": in_place,
    "in_place_view": in_place_view,
    "from_slices": from_slices,
    "into_slices": into_slices,
    "mapped": mapped,
    "batched_pass": batched_pass,
    "jacrev": _jacobian(gradd.func.jacrev),
    "jacfwd": _jacobian(gradd.func.jacfwd),
}
#: forms of what is differentiated in double precision alone
_DOUBLE = ("retained", "double", "hooked", "dual", "from_slices", "into_slices", "batched_pass")


def bodies(key: str, number: int, sample: Sample) -> Iterator[Body]:
    """All bodies of one sample."""

    def body(form: str, layout: str = "contiguous", dtype: str | None = None) -> Body:
        return Body(form, key, number, sample, layout, dtype)

    specs = list(table.specs((sample.args, sample.attrs)))
    layouts = LAYOUTS if sample.layouts and any(s.shape for s in specs) else LAYOUTS[:1]
    moves = sample.first and any(s.grad and s.floating for s in specs)
    yield from (body("forward", layout) for layout in layouts)
    if specs and sample.values:
        yield from (body(form) for form in ("spoiled", "spoiled_unused"))
    if sample.values and any(type(x) in (int, float) for x in _numbers((sample.args, sample.attrs))):
        yield body("numbers")
    if any(s.floating for s in specs):
        yield from (body("forward", dtype=dtype) for dtype in sample.only)
    if specs and sample.values and not sample.is_dynamic:
        yield body("mapped")
    if moves:
        yield from (body("backward", layout) for layout in layouts)
        yield from (
            body("backward", dtype=d) for d in sample.only if d in ("float32", "bfloat16", "complex64")
        )
        yield from (body(form) for form in _DOUBLE if sample.jvp or form != "dual")
        if sum(int(np.prod(s.shape)) for s in specs) <= SMALL and sample.smooth:
            yield from (body(form) for form in ("jacrev", "jacfwd"))
    if _has_in_place_form(key, sample):
        yield body("in_place")
        yield body("in_place_view")


def _numbers(x: Any) -> Iterator[Any]:
    for e in x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else ():
        yield e
        yield from _numbers(e)


def _has_in_place_form(key: str, sample: Sample) -> bool:
    first = sample.args[0] if sample.args else None
    form = getattr(gradd.Tensor, f"{key.rpartition('.')[2]}_", None)
    return sample.inplace and form is not None and isinstance(first, table.Spec) and bool(first.shape)


def all_bodies(place: int = 0, of: int = 1) -> Iterator[list[Body]]:
    """The bodies of every `of`-th sample, a list for each sample."""
    samples = ((key, n, s) for key, some in table.samples().items() for n, s in enumerate(some))
    for sample in islice(samples, place, None, of):
        yield list(bodies(*sample))
