"""The checks of gradcheck: each records what it needs, yields, and compares once values are fetched.

Checks and messages follow https://pytorch.org/docs/stable/notes/gradcheck.html
"""

from __future__ import annotations

import warnings
from functools import partial
from itertools import chain, product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backward import grad_op
from ..batching import vmap
from ..data import ambient, dtypes
from ..schema import named
from ..tensor import Tensor, format_tensor
from .jacobians import (
    IMAGINARY,
    REAL,
    Part,
    Pulled,
    Pushed,
    Subject,
    floating,
    pushed,
    tensor_like,
    turns,
    unrecorded,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Array = np.ndarray[Any, Any]
    #: records up to its only yield, compares after it
    Check = Iterator[None]


class GradcheckError(RuntimeError):
    """Derivatives and differences disagree, or a derivative is otherwise wrong."""


def _close(a: Array, n: Array, atol: float, rtol: float) -> bool:
    return bool(np.allclose(a, n, rtol, atol))


def _text(a: Array) -> str:
    return format_tensor(a, dtypes.from_numpy(a.dtype)) if a.ndim else str(a.item())


def _mismatch(i: int, j: int, a: Array, n: Array, prefix: str, mode: str) -> str:
    return (
        f"{prefix}Jacobian {mode}mismatch for output {i} with respect to input {j},\n"
        f"numerical:{_text(n)}\nanalytical:{_text(a)}\n"
    )


def _prefix(what: str, t: Tensor, part: Part) -> str:
    return f"While considering the {part.name} part of complex {what} only, " if t.dtype.is_complex else ""


def _numerical(s: Subject, i: int, j: int, part: Part) -> Array:
    """The derivative of this part of output `i` by differences, complex for a complex input."""
    along = part.of(s.slopes(i, j, REAL))
    if s.wanted[j].dtype.is_complex:
        along = along + 1j * part.of(s.slopes(i, j, IMAGINARY))
    return along


def _slow_too(s: Subject, i: int, j: int, part: Part, forward: bool) -> str:
    """The message for a failed fast check, with Jacobians recomputed in slow mode: a second fetch."""
    whole = Subject(s.fn, s.inputs, s.limits, fast=False)
    whole.moves()
    if forward:
        at = s.places[j]
        tangents = whole.directions(j, part)
        columns = Pushed(s.fn, s.inputs, s.places, at, tangents, whole.reading)
        whole.reading.fetch()
        a, n = columns.rows[whole.differentiable[i]], whole.slopes(i, j, part)
    else:
        pulled = Pulled(whole.outputs[i], whole.wanted, whole.cotangents(i, part), whole.reading)
        whole.reading.fetch()
        a, n = pulled.columns[j], _numerical(whole, i, j, part)
    text = (
        "\nThe above quantities relating the numerical and analytical jacobians are computed \n"
        "in fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background \n"
        "about fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\n"
        f"Numerical:\n {_text(n)}\nAnalytical:\n{_text(a)}\n\n"
        f"The max per-element difference (slow mode) is: {np.abs(n - a).max().item()}.\n"
    )
    if _close(a, n, s.limits.atol, s.limits.rtol):
        text += "Element by element they agree: call it with fast_mode=False, where this passes."
    return text


def flat(s: Subject) -> Check:
    """For a function without a differentiable output, differences must be zero."""
    moves = s.moves()
    yield
    if any(np.any(slopes != 0) for one in moves for slopes in one.slopes):
        raise GradcheckError("Numerical gradient for function expected to be zero")


def backward(s: Subject) -> Check:
    """Compare reverse mode with differences, and with itself run again."""
    limits = s.limits
    s.moves()
    found = []
    for i, part in chain(*turns(s.outputs, s.any_complex)):
        given = (s.outputs[i], s.wanted, s.cotangents(i, part), s.reading)
        found.append((i, part, Pulled(*given), Pulled(*given)))
    yield
    for i, part, once, again in found:
        if limits.check_dtypes and not once.same_dtypes:
            raise GradcheckError("Gradient has dtype mismatch")
        for a, b in zip(once.columns, again.columns, strict=True):
            with np.errstate(invalid="ignore"):
                if a.size and np.abs(a - b).max() > limits.nondet:
                    raise GradcheckError(
                        "Backward is not reentrant, i.e., running backward with same input and grad_output "
                        "multiple times gives different values, although analytical gradient matches "
                        f"numerical gradient.The tolerance for nondeterminism was {limits.nondet}.\n\n"
                        "Where that is meant, pass `nondet_tol`."
                    )
        for j, a in enumerate(once.columns):
            n, atol = _numerical(s, i, j, part), limits.atol
            if s.fast:
                n, a = n[0] @ s.v[i], _along(a[:, 0], s.u[j])
                atol *= float(sum(d.sum() for d in s.u[j].values()) * s.v[i].sum())
            if not _close(a, n, atol, limits.rtol):
                text = _mismatch(i, j, a, n, _prefix("outputs", s.outputs[i], part), "")
                raise GradcheckError(text + (_slow_too(s, i, j, part, False) if s.fast else ""))


def _along(a: Array, u: dict[Part, Array]) -> Any:
    """The products of a gradient's parts with the directions of an input's parts."""
    return a @ u[REAL] if IMAGINARY not in u else a.real @ u[REAL] + 1j * (a.imag @ u[IMAGINARY])


def forward(s: Subject) -> Check:
    """Compare forward mode with differences."""
    limits = s.limits
    s.moves()
    any_complex = any(isinstance(x, Tensor) and x.dtype.is_complex for x in s.inputs)
    rounds = [
        [
            (j, part, Pushed(s.fn, s.inputs, s.places, s.places[j], s.directions(j, part), s.reading))
            for j, part in turn
        ]
        for turn in turns(s.wanted, any_complex)
    ]
    yield
    if limits.check_dtypes and not all(found.same_dtypes for turn in rounds for _, _, found in turn):
        raise GradcheckError("Forward AD gradient has dtype mismatch.")
    for turn, (i, at) in product(rounds, enumerate(s.differentiable)):
        for j, part, found in turn:
            n, atol = s.slopes(i, j, part), limits.atol
            a = found.rows[at] if found.rows else n  # an empty input has no directions
            if s.fast:
                a, n = a[0], n[0]
                atol *= float(s.u[j][part].sum())
            if not _close(a, n, atol, limits.rtol):
                prefix = _prefix("inputs", s.wanted[j], part)
                text = _mismatch(i, j, a, n, prefix, "computed with forward mode ")
                raise GradcheckError(text + (_slow_too(s, i, j, part, True) if s.fast else ""))


def undefined_tangents(s: Subject) -> Check:
    """An input without a tangent must count as one with a zero tangent."""
    given: dict[int, Tensor | None] = {}
    for j, at in enumerate(s.places):
        given[at] = tensor_like(s.wanted[j], np.sum([u * p.unit for p, u in s.u[j].items()], 0))
    found = []
    for at in s.places:
        zero = named.zeros_like(named.detach(s.inputs[at]))
        with_zero = pushed(s.fn, s.inputs, {**given, at: zero})
        without = pushed(s.fn, s.inputs, {**given, at: None})
        for i, ((_, t), (_, u)) in enumerate(zip(with_zero, without, strict=True)):
            if t is not None and u is not None:
                found.append((at, i, s.reading.note([t, u])))
    yield
    for at, i, values in found:
        a, b = values()
        if a.shape != b.shape or not np.allclose(a, b):
            raise GradcheckError(
                f"Mismatch in tangent values for output with index: {i} when input: {at} has an undefined "
                f"tangent value. Got: {_text(a)} but expected: {_text(b)}"
            )


def batched(s: Subject) -> Check:
    """Compare the gradients of a batch of cotangents with those of each."""
    chance = np.random.default_rng(0)
    found = []
    for i, o in enumerate(s.outputs):

        def pull(v: Tensor, o: Tensor = o, batched: bool = False) -> tuple[Tensor | None, ...]:
            options = {"retain_graph": True, "allow_unused": True, "is_grads_batched": batched}
            rows: tuple[Tensor | None, ...] = grad_op.grad(o, s.wanted, v, **options)
            return rows

        some = [tensor_like(o, _normal(chance, o)) for _ in range(2)]
        for j, values in enumerate(_both_ways(s, pull, partial(pull, batched=True), some)):
            found.append((i, j, values))
    yield
    _compare_batches(found)


def batched_tangents(s: Subject) -> Check:
    """Compare the tangents of a batch of tangents with those of each."""
    chance = np.random.default_rng(0)
    found = []
    for j, at in enumerate(s.places):

        def push(t: Tensor, at: int = at) -> tuple[Tensor, ...]:
            given: dict[int, Tensor | None] = {**dict.fromkeys(s.places), at: t}
            return tuple(_or_zeros(u, o) for o, u in pushed(s.fn, s.inputs, given))

        some = [tensor_like(s.wanted[j], _normal(chance, s.wanted[j])) for _ in range(2)]
        for i, values in enumerate(_both_ways(s, push, vmap(push), some)):
            found.append((i, j, values))
    yield
    _compare_batches(found)


def _or_zeros(t: Tensor | None, like: Tensor) -> Tensor:
    return named.zeros_like(named.detach(like)) if t is None else t


def _both_ways(
    s: Subject, one: Callable[[Tensor], Any], all_: Callable[[Tensor], Any], some: Sequence[Tensor]
) -> list[Callable[[], list[Array]]]:
    """For each output, the results of `one` for each of `some` and of `all_` for their stack."""
    alone = [one(t) for t in some]
    try:
        with ambient(direct=True):
            together = all_(named.stack(some))
    except RuntimeError as error:
        raise GradcheckError(f"While computing batched gradients, got: {error}") from error
    return [
        s.reading.note([t for t in (*each, whole) if t is not None])
        for each, whole in zip(zip(*alone, strict=True), together, strict=True)
    ]


def _compare_batches(found: Sequence[tuple[int, int, Callable[[], list[Array]]]]) -> None:
    for i, j, values in found:
        *each, got = values() or [np.zeros(0)]
        want = np.concatenate([got[:0], *each])
        if not np.allclose(got, want):
            raise GradcheckError(
                f"For output {i} and input {j}: a batch gives other derivatives than each of its elements "
                f"alone.\n\nGot:\n{_text(got)}\n\nExpected:\n{_text(want)}"
            )


def _normal(chance: np.random.Generator, like: Tensor) -> Array:
    a: Array = chance.standard_normal(like.numel())
    return a + 1j * chance.standard_normal(like.numel()) if like.dtype.is_complex else a


def zero_in_zero_out(s: Subject, masked: bool | None) -> Check:
    """A backward of zeros must give zeros."""
    found = _of_zeros(s.outputs, s.wanted)
    values = s.reading.note(found)
    yield
    for a in values():
        if not (np.allclose(a, 0) if masked else np.all(a == 0)):
            raise GradcheckError("backward not multiplied by grad_output")


def _of_zeros(outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> list[Tensor]:
    with unrecorded():
        zeros = [named.zeros_like(named.detach(o)) for o in outputs]
    return [g for g in grad_op.grad(outputs, inputs, zeros, allow_unused=True) if g is not None]


def undefined_grads(s: Subject) -> Check:
    """Backward must handle undefined output gradients: all of them, and one at a time."""
    count = len(s.outputs)
    found = []
    for which in [range(count), *([k] for k in range(count) if count > 1)]:
        outputs = [o for o in floating(s.fn(*s.inputs)) if o.requires_grad]
        outputs = [named.undefined_grad(o) if k in which else o for k, o in enumerate(outputs)]
        try:
            found.append(s.reading.note(_of_zeros(outputs, s.wanted)))
        except RuntimeError as error:
            _warn_undefined()
            raise GradcheckError("Expected backward function to handle undefined output grads.") from error
    yield
    if any(np.any(a != 0) for values in found for a in values()):
        _warn_undefined()
        raise GradcheckError(
            "Expected all input grads to be undefined or zero when all output grads are undefined or zero."
        )


def _warn_undefined() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but "
        "it may break existing callers of this function. If this is true for you, you can call this function "
        'with "check_undefined_grad=False" to disable the feature',
        stacklevel=2,
    )
