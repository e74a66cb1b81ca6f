"""One sample of PyTorch's on both sides, and what is compared of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import gradd
import numpy as np

from tests.ops.peers import CLOSE, NO_VALUES, Differs, Peer, compare, mirror, swapped, tensors, values

EXACT = ("float64", "complex128")


class NothingToCompare(Exception):
    """PyTorch has no such result for this sample."""


class Call:
    """One sample on one side: ``torch`` or gradd as `side`."""

    def __init__(self, side: Any, fn: Callable[..., Any], sample: Any, process: Any) -> None:
        self.side, self.fn, self.process = side, fn, process
        self.args = (sample[0], *sample[1])
        self.kwargs = sample[2]
        self.leaves = [t for t in tensors((self.args, self.kwargs)) if t.requires_grad]

    def call(self) -> Any:
        """The outputs."""
        return self.fn(*self.args, **self.kwargs)

    def processed(self, found: Any) -> Any:
        """Of the outputs what is differentiated."""
        return found if self.process is None else self.process(found)

    def run(self) -> Any:
        """The outputs, computed: what raises on values has raised."""
        found = self.call()
        for t in tensors(found):
            values(t)
        return found

    def gradients(
        self, outs: Sequence[Any], turn: Callable[[Any], Any]
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Gradients of `outs` with a history, the same again of those, and the cotangents of the first."""
        some = [o for o in tensors(outs) if o.requires_grad]
        seeds = [turn(_weights(o.shape, str(o.dtype))).requires_grad_() for o in some]
        grad = self.side.autograd.grad
        first = list(grad(some, self.leaves, seeds, create_graph=True, allow_unused=True))
        return first, some, seeds

    def again(self, first: Sequence[Any], seeds: Sequence[Any], turn: Callable[[Any], Any]) -> list[Any]:
        """Second gradients with respect to the inputs and the cotangents; None where nothing is to be had."""
        some = [g for g in first if g is not None and g.requires_grad]
        if not some:
            return []
        weights = [turn(_weights(g.shape, str(g.dtype)) * 0.5) for g in some]
        return list(self.side.autograd.grad(some, [*self.leaves, *seeds], weights, allow_unused=True))

    def tangents(self, turn: Callable[[Any], Any]) -> list[Any]:
        """The tangent of each output, every differentiable input having one."""
        ad = self.side.autograd.forward_ad
        with ad.dual_level():

            def dual(t: Any) -> Any:
                if not t.requires_grad:
                    return t
                return ad.make_dual(t.detach(), turn(_weights(t.shape, str(t.dtype))))

            found = self.fn(*_mapped(self.args, dual), **_mapped(self.kwargs, dual))
            return [ad.unpack_dual(o).tangent for o in tensors(self.processed(found))]

    def batched(self) -> list[Any]:
        """The outputs of the function mapped over two of each tensor: itself, and less where no index."""
        given: list[Any] = []

        def two(t: Any) -> Any:
            t = t.detach()
            given.append(self.side.stack([t, t * 0.75 if t.is_floating_point() or t.is_complex() else t]))
            return t

        _mapped((self.args, self.kwargs), two)
        if not given:
            raise NothingToCompare

        def mapped(*each: Any) -> tuple[Any, ...]:
            rest = iter(each)
            args, kwargs = _mapped((self.args, self.kwargs), lambda _: next(rest))
            return tuple(tensors(self.processed(self.fn(*args, **kwargs))))

        return list(self.side.func.vmap(mapped, randomness="same")(*given))


def _mapped(x: Any, fn: Callable[[Any], Any]) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)(_mapped(e, fn) for e in x)
    if isinstance(x, dict):
        return {k: _mapped(v, fn) for k, v in x.items()}
    return fn(x) if hasattr(x, "requires_grad") else x


def _weights(shape: Sequence[int], dtype: str) -> Any:
    """Numbers that tell elements apart, the same on both sides."""
    n = np.arange(float(np.prod(shape)))
    a = np.cos(n + 1.0).reshape(tuple(shape))
    return a + 1j * np.sin(n + 2.0).reshape(tuple(shape)) if "complex" in dtype else a


def _attempt(fn: Callable[..., Any], *args: Any) -> tuple[Any, Exception | None]:
    try:
        return fn(*args), None
    except Exception as error:
        return None, error


def _agree(ours: Exception | None, theirs: Exception | None, what: str) -> bool:
    """Whether both went well; Differs where one alone was refused. What is said to be not there is not."""
    if isinstance(ours, NotImplementedError) or (
        isinstance(ours, AttributeError) and "has no attribute" in str(ours)
    ):
        return False
    if (ours is None) != (theirs is None):
        one = ours or theirs
        who = "refused" if ours is not None else "PyTorch refuses"
        raise Differs(f"{what}: {who}: {type(one).__name__}: {str(one)[:160]}")
    return theirs is None


class Trial:
    """One sample on both sides. A comparison raises Differs where they do not agree, and NothingToCompare
    where PyTorch has nothing to compare with.
    """

    def __init__(self, peer: Peer, sample: Any, dtype: str) -> None:
        import torch

        self.peer, self.dtype, self.torch = peer, dtype, torch
        self.close, self.slopes = (NO_VALUES,) * 2 if peer.draws else CLOSE.get(dtype, CLOSE["float32"])
        process = sample.output_process_fn_grad
        self.theirs = Call(torch, peer.info.op, (sample.input, sample.args, sample.kwargs), process)
        mine = mirror(sample.input), mirror(sample.args), mirror(sample.kwargs)
        self.ours = Call(gradd, peer.fn, mine, swapped(process))

    @cached_property
    def wanted(self) -> tuple[Any, Exception | None]:
        """PyTorch's outputs, or what it raised."""
        return _attempt(lambda: self.theirs.processed(self.theirs.run()))

    @cached_property
    def found(self) -> tuple[Any, Exception | None]:
        """Our outputs, or what was raised."""
        return _attempt(lambda: self.ours.processed(self.ours.run()))

    def forward(self) -> None:
        """Dtypes, shapes, values and `requires_grad` of the outputs; or both refuse."""
        (wanted, refusal), (found, error) = self.wanted, self.found
        _both(error, refusal)
        if refusal is not None:
            return
        _lengths(tensors(found), tensors(wanted))
        for i, (a, b) in enumerate(zip(tensors(found), tensors(wanted), strict=True)):
            compare(a, b, self.close, f"output {i}")
            if bool(a.requires_grad) != b.requires_grad:
                raise Differs(f"output {i} requires_grad is {a.requires_grad}, not {b.requires_grad}")

    def meta(self) -> None:
        """What is known of the outputs before they are computed: dtype, shape, and strides of views."""
        wanted = self._wanted()
        found, error = _attempt(lambda: self.ours.processed(self.ours.call()))
        _both(error, None)
        _lengths(tensors(found), tensors(wanted))
        for i, (a, b) in enumerate(zip(tensors(found), tensors(wanted), strict=True)):
            compare(a, b, NO_VALUES, f"output {i}")
            if b._is_view() and a.numel() and a.stride() != b.stride():
                raise Differs(f"output {i}: strides {a.stride()}, not {b.stride()}")

    def backward(self) -> None:
        """The gradients of all inputs that require them."""
        (_, w), (_, f) = self._wanted_gradients(), self._found_gradients()
        for i, (a, b) in enumerate(zip(f[0], w[0], strict=True)):
            if not (_nothing(a) and _nothing(b)):
                compare(a, b, self.slopes, f"gradient {i}")

    def double_backward(self) -> None:
        """The gradients of the gradients, by inputs and cotangents; in double precision."""
        if not self.peer.info.supports_gradgrad or self.dtype not in EXACT:
            raise NothingToCompare
        (kind, w), (_, f) = self._wanted_gradients(), self._found_gradients()
        if all(map(_nothing, (*f[0], *w[0]))):
            raise NothingToCompare
        w2, refusal = _attempt(self.theirs.again, w[0], w[2], lambda a: _cast(self.torch, a, kind))
        if refusal is not None:
            raise NothingToCompare
        f2, error = _attempt(self.ours.again, f[0], f[2], lambda a: _cast(gradd, a, kind))
        _both(error, None)
        if len(f2) != len(w2):
            raise Differs("gradients of which one side alone has a history")
        for i, (a, b) in enumerate(zip(f2, w2, strict=True)):
            if not _as_good_as_none(a, b):
                compare(a, b, self.slopes, f"gradient {i}")

    def jvp(self) -> None:
        """The tangents of the outputs; in double precision."""
        if not (self.peer.info.supports_forward_ad and self.theirs.leaves and self.dtype in EXACT):
            raise NothingToCompare
        self._wanted()
        w, refusal = _attempt(self.theirs.tangents, lambda a: _cast(self.torch, a, self.dtype))
        if refusal is not None:
            raise NothingToCompare
        f, error = _attempt(self.ours.tangents, lambda a: _cast(gradd, a, self.dtype))
        _both(error, None)
        for i, (a, b) in enumerate(zip(f, w, strict=True)):
            if not _as_good_as_none(a, b):
                compare(a, b, self.slopes, f"tangent {i}")

    def batched(self) -> None:
        """The outputs of `func.vmap` over two of each tensor; in double precision."""
        if self.dtype not in EXACT:
            raise NothingToCompare
        self._wanted()
        w, refusal = _attempt(self.theirs.batched)
        if refusal is not None:
            raise NothingToCompare
        f, error = _attempt(self.ours.batched)
        _both(error, None)
        _lengths(f, w)
        for i, (a, b) in enumerate(zip(f, w, strict=True)):
            compare(a, b, self.close, f"output {i}")

    def _wanted(self) -> Any:
        wanted, refusal = self.wanted
        if refusal is not None:
            raise NothingToCompare
        return wanted

    def _wanted_gradients(self) -> tuple[str, Any]:
        grown = [o for o in tensors(self._wanted()) if o.requires_grad]
        if not (self.theirs.leaves and grown):
            raise NothingToCompare
        if self._gradients_there[1] is not None:
            raise NothingToCompare
        return str(grown[0].dtype).removeprefix("torch."), self._gradients_there[0]

    def _found_gradients(self) -> tuple[str, Any]:
        kind, _ = self._wanted_gradients()
        _both(self.found[1], None)
        f, error = self._gradients_here
        _both(error, None)
        return kind, f

    @cached_property
    def _gradients_there(self) -> tuple[Any, Exception | None]:
        return self._gradients(self.theirs, self.torch, self.wanted[0])

    @cached_property
    def _gradients_here(self) -> tuple[Any, Exception | None]:
        return self._gradients(self.ours, gradd, self.found[0])

    def _gradients(self, call: Call, side: Any, outs: Any) -> tuple[Any, Exception | None]:
        kind = next(str(o.dtype).removeprefix("torch.") for o in tensors(self.wanted[0]) if o.requires_grad)
        return _attempt(call.gradients, outs, lambda a: _cast(side, a, kind))


def _both(ours: Exception | None, theirs: Exception | None) -> None:
    """Differs where one side alone refused."""
    if (ours is None) == (theirs is None):
        return
    one = ours or theirs
    who = "refused" if ours is not None else "PyTorch refuses"
    differs = Differs(f"{who}: {type(one).__name__}: {str(one)[:160]}")
    differs.unsupported = isinstance(ours, NotImplementedError) or (
        isinstance(ours, AttributeError) and "has no attribute" in str(ours)
    )
    raise differs


def _lengths(found: Sequence[Any], wanted: Sequence[Any]) -> None:
    if len(found) != len(wanted):
        raise Differs(f"{len(found)} outputs, not {len(wanted)}")


def _cast(side: Any, a: Any, dtype: str) -> Any:
    a = a if "complex" in dtype or a.dtype.kind != "c" else a.real
    return side.tensor(a, dtype=getattr(side, dtype))


def _nothing(g: Any) -> bool:
    """Whether a gradient is none, or has no elements, which says as much."""
    return g is None or not g.numel()


def _as_good_as_none(a: Any, b: Any) -> bool:
    """Whether one side alone has a tensor, of zeros, which says what none says."""
    return (a is None) != (b is None) and not np.any(values(b if a is None else a))
