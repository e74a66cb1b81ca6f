"""Draws from distributions whose parameters are tensors: gamma, Dirichlet, Poisson, binomial.

Each element has its own place in the bits of the random step, in every round of a rejection, so that a draw
depends on the seed, the step's number, the element's index and its parameters alone. Computed in double
precision.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...data import Meta, broadcast_shapes, dtypes, holds, rng
from ...declare import kernel
from ..elementwise import lgamma
from ..shared import zeros_like
from .implicit import dirichlet_grad, standard_gamma_grad

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...schema import Op
    from ...tensor import Tensor

#: rounds of a rejection that accepts more than half: nothing is left after so many
_ROUNDS = 64


def _uniform(xp: Any, key: Any, turn: int, first: int, count: int) -> Any:
    """Numbers in (0, 1], others in every turn."""
    return 1 - rng.uniform(key, count, True, xp, (turn << 37) + first)


def _normal(xp: Any, key: Any, turn: int, first: int, count: int) -> Any:
    return rng.normal(key, count, True, xp, (turn << 36) + first)


def _each(xp: Any, make: Callable[..., Any], *parameters: Any) -> Any:
    """``make(first, count, *parameters of these elements)``, block by block, in the parameters' shape."""
    flat = [p.reshape(-1).astype(xp.float64) for p in parameters]

    def block(first: int, count: int) -> Any:
        return make(first, count, *(p[first : first + count] for p in flat))

    return rng.blockwise(flat[0].size, block, xp).reshape(parameters[0].shape)


def _gammas(xp: Any, key: Any, a: Any) -> Any:
    """Marsaglia and Tsang, "A simple method for generating gamma variables" (2000)."""

    def make(first: int, count: int, a: Any) -> Any:
        small = a < 1
        d = xp.where(small, a + 1, a) - 1 / 3
        usual = xp.isfinite(d) & (a > 0)
        d = xp.where(usual, d, 1.0)
        c, found, left = 1 / xp.sqrt(9 * d), d, usual
        for turn in range(1, 2 * _ROUNDS, 2):
            z, u = _normal(xp, key, turn, first, count), _uniform(xp, key, turn + 1, first, count)
            v = (1 + c * z) ** 3
            taken = (v > 0) & (xp.log(u) < z * z / 2 + d * (1 - v + xp.log(xp.where(v > 0, v, 1.0))))
            found = xp.where(left & taken, d * v, found)
            left = left & ~taken
            if not bool(left.any()):
                break
        boost = _uniform(xp, key, 0, first, count) ** (1 / xp.where(small & usual, a, 1.0))
        return xp.where(usual, xp.where(small, found * boost, found), xp.where(a < 0, math.nan, a))

    return _each(xp, make, a)


def _floats(kernel: str) -> Callable[..., Meta]:
    def infer(input: Tensor) -> Meta:
        if input.dtype.category != dtypes.FLOAT:
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.title}'")
        return Meta(tuple(input.shape), input.dtype)

    return infer


def _smallest(meta: Meta) -> float:
    """The smallest number that a draw may be: a logarithm of it is finite."""
    return 2.0**-1022 if meta.dtype is dtypes.float64 else 6e-8 if meta.dtype is dtypes.float16 else 2.0**-126


def _gamma_impl(xp: Any, a: Any, meta: Meta, key: Any) -> Any:
    return xp.maximum(_gammas(xp, key, a), _smallest(meta))


standard_gamma: Op = kernel(
    "_standard_gamma(Tensor input) -> Tensor",
    infer=_floats("gamma_cpu"),
    impl=_gamma_impl,
    vjp=lambda g, input, out: g * standard_gamma_grad(input, out),
    random=True,
    independent=True,
    namespace="-",
    outside=True,
    doc="Draws from gamma distributions of these concentrations and rate 1.",
    raises=False,
    waits=True,
)


def _dirichlet_infer(input: Tensor) -> Meta:
    if not input.ndim:
        raise RuntimeError("_sample_dirichlet(): expected at least one dimension")
    return _floats("dirichlet")(input)


def _dirichlet_impl(xp: Any, a: Any, meta: Meta, key: Any) -> Any:
    drawn = xp.maximum(_gammas(xp, key, a), 2.0**-1022)
    shares = drawn / drawn.sum(axis=-1, keepdims=True)
    return xp.clip(shares, _smallest(meta), 1 - 2.0**-53 if meta.dtype is dtypes.float64 else 1 - 2.0**-24)


def _dirichlet_vjp(g: Any, input: Any, out: Any) -> Any:
    slope = dirichlet_grad(out, input, input.sum(-1, keepdim=True))
    return slope * (g - (out * g).sum(-1, keepdim=True))


sample_dirichlet: Op = kernel(
    "_sample_dirichlet(Tensor input) -> Tensor",
    infer=_dirichlet_infer,
    impl=_dirichlet_impl,
    vjp=_dirichlet_vjp,
    random=True,
    node="_DirichletBackward",
    namespace="-",
    outside=True,
    doc="Draws from Dirichlet distributions with concentrations in the last dimension.",
    raises=False,
    waits=True,
)


def _inverted(xp: Any, u: Any, start: Any, ratio: Callable[[int], Any]) -> Any:
    """How many terms of a sum that begins with `start` are below `u`; a term is ``ratio(k)`` times the one
    before.
    """
    term, k = start, 0
    found, total = xp.zeros_like(start), start
    while bool((left := u > total).any()) and k < 4096:
        k += 1
        term = term * ratio(k)
        # A term that vanishes beside the sum ends it: `u` was within rounding of 1.
        found, total = xp.where(left, float(k), found), xp.where(term > total * 1e-17, total + term, 2.0)
    return found


class _Hat:
    """What `_rejected` proposes from: the table of Hoermann's papers for one distribution."""

    __slots__ = ("a", "b", "centre", "log_scale", "sure")

    def __init__(self, a: Any, b: Any, centre: Any, sure: Any, log_scale: Any) -> None:
        self.a, self.b, self.centre, self.sure, self.log_scale = a, b, centre, sure, log_scale


def _rejected(
    xp: Any, draw: Callable[[int], Any], wanted: Any, hat: _Hat, log_mass: Callable[[Any], Any], most: Any
) -> Any:
    """Transformed rejection with squeeze, where it is `wanted`: Hoermann, "The transformed rejection method
    for generating Poisson random variables" and "The generation of binomial random variates" (1993).
    """
    found, left = xp.zeros_like(hat.centre), wanted
    for turn in range(1, 2 * _ROUNDS, 2):
        u, v = draw(turn) - 0.5, draw(turn + 1)
        side = xp.maximum(0.5 - xp.abs(u), 1e-12)
        k = xp.floor((2 * hat.a / side + hat.b) * u + hat.centre)
        inside = (k >= 0) & (k <= most)
        at = xp.where(inside, k, 0.0)
        height = xp.log(v) + hat.log_scale - xp.log(hat.a / (side * side) + hat.b)
        taken = inside & (((side >= 0.07) & (v <= hat.sure)) | (height <= log_mass(at)))
        found = xp.where(left & taken, k, found)
        left = left & ~taken
        if not bool(left.any()):
            break
    return found


def _poissons(xp: Any, key: Any, rate: Any) -> Any:
    def make(first: int, count: int, rate: Any) -> Any:
        def draw(turn: int) -> Any:
            return _uniform(xp, key, turn, first, count)

        many = rate >= 10
        low, high = xp.where(many, 1.0, rate), xp.where(many, rate, 10.0)
        few = _inverted(xp, draw(0), xp.exp(-low), lambda k: low / k)
        b = 0.931 + 2.53 * xp.sqrt(high)
        scale = 1.1239 + 1.1328 / (b - 3.4)
        hat = _Hat(-0.059 + 0.02483 * b, b, high + 0.43, 0.9277 - 3.6224 / (b - 2), xp.log(scale))

        def log_mass(k: Any) -> Any:
            return k * xp.log(high) - high - lgamma.impl(xp, k + 1)

        return xp.where(many, _rejected(xp, draw, many, hat, log_mass, math.inf), few)

    return _each(xp, make, rate)


def _binomials(xp: Any, key: Any, counts: Any, probs: Any) -> Any:
    def make(first: int, count: int, n: Any, p: Any) -> Any:
        def draw(turn: int) -> Any:
            return _uniform(xp, key, turn, first, count)

        known = (n >= 0) & (p >= 0) & (p <= 1)
        n, given = xp.where(known, xp.floor(n), 0.0), xp.where(known, p, 0.0)
        p = xp.minimum(given, 1 - given)
        many = n * p >= 10
        # the smaller half, at most 10 expected; the log of (1 - p)^n stays above the smallest number
        n_few, p_few = xp.where(many, 1.0, n), xp.where(many, 0.0, p)
        odds = p_few / (1 - p_few)
        start = xp.exp(n_few * xp.log1p(-p_few))
        few = _inverted(xp, draw(0), start, lambda k: odds * xp.maximum(n_few - k + 1, 0.0) / k)
        n_many, p_many = xp.where(many, n, 100.0), xp.where(many, p, 0.5)
        spread = xp.sqrt(n_many * p_many * (1 - p_many))
        b = 1.15 + 2.53 * spread
        top = xp.floor((n_many + 1) * p_many)
        hat = _Hat(
            -0.0873 + 0.0248 * b + 0.01 * p_many,
            b,
            n_many * p_many + 0.5,
            0.92 - 4.2 / b,
            xp.log((2.83 + 5.1 / b) * spread),
        )

        def log_ways(k: Any) -> Any:
            return -lgamma.impl(xp, k + 1) - lgamma.impl(xp, n_many - k + 1)

        def log_mass(k: Any) -> Any:
            k = xp.minimum(k, n_many)
            return log_ways(k) - log_ways(top) + (k - top) * xp.log(p_many / (1 - p_many))

        found = xp.where(many, _rejected(xp, draw, many, hat, log_mass, n_many), few)
        return xp.where(known, xp.where(given > 0.5, n - found, found), math.nan)

    return _each(xp, make, counts, probs)


def _poisson_impl(xp: Any, a: Any, meta: Meta, key: Any) -> Any:
    text = "invalid Poisson rate, expected rate to be non-negative"
    holds(~(a >= 0), RuntimeError, text, "poisson")
    return _poissons(xp, key, a)


poisson: Op = kernel(
    "poisson(Tensor input) -> Tensor",
    infer=_floats("poisson_cpu"),
    impl=_poisson_impl,
    vjp=lambda g: zeros_like(g),
    random=True,
    independent=True,
    doc="Draws from Poisson distributions of these rates (torch.poisson).",
    waits=True,
)


def _binomial_infer(count: Tensor, prob: Tensor) -> Meta:
    for name, t in (("count", count), ("prob", prob)):
        if t.dtype.category != dtypes.FLOAT:
            raise ValueError(f"binomial only supports floating-point dtypes for {name}, got: {t.dtype.title}")
    if prob.dtype is not count.dtype:
        raise RuntimeError(f"Found dtype {prob.dtype.title} but expected {count.dtype.title}")
    return Meta(broadcast_shapes(tuple(count.shape), tuple(prob.shape)), count.dtype)


def _binomial_impl(xp: Any, counts: Any, probs: Any, meta: Meta, key: Any) -> Any:
    return _binomials(xp, key, *xp.broadcast_arrays(counts, probs))


binomial: Op = kernel(
    "binomial(Tensor count, Tensor prob) -> Tensor",
    infer=_binomial_infer,
    impl=_binomial_impl,
    random=True,
    doc="Draws from binomial distributions: how many of `count` trials succeed (torch.binomial).",
    raises=False,
    waits=True,
)
