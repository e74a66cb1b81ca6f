"""Checks of derivative rules against central differences along random directions.

One direction per check takes a few evaluations whatever the size of the inputs, and misses a wrong rule with
probability zero. Inner products are real parts, <v, y> = Re sum conj(v) y, so complex functions need no extra
code. Source of the method: https://pytorch.org/docs/stable/notes/gradcheck.html (fast mode).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends import NUMPY
from ..backward import grad
from ..data import dtypes
from ..tensor import Tensor
from ..transforms import forward_ad

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Arrays = Sequence[np.ndarray[Any, Any]]
    Fn = Callable[..., Any]

#: step of the differences; with four points the error is step**4, plus rounding of 1e-16/step
STEP = 1e-3
TOLERANCE = 1e-6


class Mismatch(AssertionError):
    """A rule and the differences disagree."""


def leaves(arrays: Arrays) -> list[Tensor]:
    """Tensors over copies of `arrays`, requiring gradients if their dtype can."""
    out = []
    for a in arrays:
        t = NUMPY.from_array(np.array(a))
        t._requires_grad = t.dtype.differentiable
        out.append(t)
    return out


def _outputs(found: Any) -> list[Tensor]:
    some = found if isinstance(found, (tuple, list)) else (found,)
    return [o for o in some if o is not None and o.dtype.differentiable]


def _values(fn: Fn, arrays: Arrays) -> list[Any]:
    return [NUMPY.to_numpy(o) for o in _outputs(fn(*[NUMPY.from_array(np.array(a)) for a in arrays]))]


def _inner(a: Any, b: Any) -> float:
    return float(np.real(np.sum(np.conj(a) * b)))


def _random(like: Any, rng: np.random.Generator) -> Any:
    shape = np.shape(like)
    if np.iscomplexobj(like):
        return np.asarray(rng.standard_normal(shape) + 1j * rng.standard_normal(shape), like.dtype)
    return np.asarray(rng.standard_normal(shape), like.dtype)


def directional(fn: Fn, arrays: Arrays, directions: Sequence[Any], step: float = STEP) -> list[Any]:
    """The derivative of each differentiable output along `directions`: four-point central differences."""
    at = {}
    for k in (-2, -1, 1, 2):
        moved = [a if d is None else a + k * step * d for a, d in zip(arrays, directions, strict=True)]
        at[k] = _values(fn, moved)
    return [
        (8 * (p1 - m1) - (p2 - m2)) / (12 * step)
        for m2, m1, p1, p2 in zip(at[-2], at[-1], at[1], at[2], strict=True)
    ]


def _compare(what: str, got: float, want: float, tolerance: float) -> None:
    if not abs(got - want) <= tolerance * (1.0 + abs(want)):
        raise Mismatch(f"{what}: the rule gives {got!r}, differences give {want!r}")


def _gradients(fn: Fn, inputs: Sequence[Tensor], cotangents: Sequence[Tensor], create: bool) -> list[Tensor]:
    """Gradients of all differentiable inputs, zeros for unused ones."""
    outs = _outputs(fn(*inputs))
    roots = [(o, v) for o, v in zip(outs, cotangents, strict=True) if o.requires_grad]
    wanted = [t for t in inputs if t.requires_grad]
    if not roots:
        return [NUMPY.from_array(np.zeros(t.shape, t.dtype.np)) for t in wanted]
    found = grad(
        [o for o, _ in roots], wanted, [v for _, v in roots], create_graph=create, materialize_grads=True
    )
    return list(found)


def check_vjp(fn: Fn, arrays: Arrays, seed: int = 0, tolerance: float = TOLERANCE) -> None:
    """Raise `Mismatch` unless reverse mode agrees with differences, in every float64 or complex128 array."""
    rng = np.random.default_rng(seed)
    inputs = leaves(arrays)
    moving = [t.requires_grad for t in inputs]
    directions = [_random(a, rng) if m else None for a, m in zip(arrays, moving, strict=True)]
    weights = [_random(v, rng) for v in _values(fn, arrays)]
    found = _gradients(fn, inputs, [NUMPY.from_array(w.copy()) for w in weights], False)
    got = sum(
        _inner(NUMPY.to_numpy(g), d)
        for g, d in zip(found, [d for d in directions if d is not None], strict=True)
    )
    slopes = directional(fn, arrays, directions)
    _compare("vjp", got, sum(_inner(w, s) for w, s in zip(weights, slopes, strict=True)), tolerance)


def check_jvp(fn: Fn, arrays: Arrays, seed: int = 0, tolerance: float = TOLERANCE) -> None:
    """Raise `Mismatch` unless forward mode agrees with differences, element by element."""
    rng = np.random.default_rng(seed)
    directions = [
        _random(a, rng) if dtypes.from_numpy(np.asarray(a).dtype).differentiable else None for a in arrays
    ]
    slopes = directional(fn, arrays, directions)
    with forward_ad.dual_level():
        duals = [
            NUMPY.from_array(np.array(a))
            if d is None
            else forward_ad.make_dual(NUMPY.from_array(np.array(a)), NUMPY.from_array(np.array(d)))
            for a, d in zip(arrays, directions, strict=True)
        ]
        tangents = [forward_ad.unpack_dual(o).tangent for o in _outputs(fn(*duals))]
    for i, (t, s) in enumerate(zip(tangents, slopes, strict=True)):
        got = np.zeros(s.shape) if t is None else NUMPY.to_numpy(t)
        if np.shape(got) != s.shape:
            raise Mismatch(f"jvp: tangent {i} has shape {np.shape(got)}, its output {s.shape}")
        error = np.abs(got - s) - tolerance * (1.0 + np.abs(s))
        if not np.all(error <= 0):
            raise Mismatch(f"jvp: tangent {i} is {got!r}, differences give {s!r}")


def check_second(fn: Fn, arrays: Arrays, seed: int = 0, tolerance: float = TOLERANCE) -> None:
    """Raise `Mismatch` unless the gradient's own gradient agrees with differences."""
    rng = np.random.default_rng(seed)
    weights = [_random(v, rng) for v in _values(fn, arrays)]
    count = len(arrays)

    def gradient(*given: Tensor) -> list[Tensor]:
        inputs = list(given[:count])
        create = any(t.requires_grad for t in given)
        if not create:
            inputs = leaves([NUMPY.to_numpy(t) for t in inputs])
        return _gradients(fn, inputs, given[count:], create)

    check_vjp(gradient, [*arrays, *weights], seed=seed + 1, tolerance=tolerance)


def check_rules(
    fn: Fn,
    arrays: Arrays,
    *,
    forward: bool = True,
    second: bool = True,
    seed: int = 0,
    tolerance: float = TOLERANCE,
) -> None:
    """Run `check_vjp` and, if requested, `check_jvp` and `check_second`."""
    check_vjp(fn, arrays, seed=seed, tolerance=tolerance)
    if forward:
        check_jvp(fn, arrays, seed=seed, tolerance=tolerance)
    if second:
        check_second(fn, arrays, seed=seed, tolerance=10 * tolerance)
