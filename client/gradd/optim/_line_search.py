"""A line search for the strong Wolfe conditions, by cubic interpolation, with PyTorch's constants.

Source: J. Nocedal and S. Wright, "Numerical Optimization", 2nd edition, algorithms 3.5 and 3.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_DECREASE, _CURVATURE = 1e-4, 0.9


@dataclass
class _Point:
    """A step length with the loss, the gradient and the slope along the direction there."""

    t: Any
    loss: float
    gradient: Any
    slope: Any


def _between(a: _Point, b: _Point, bounds: tuple[Any, Any] | None = None) -> Any:
    """The minimum, within the bounds, of the cubic through both points with their slopes."""
    low, high = bounds or ((a.t, b.t) if a.t <= b.t else (b.t, a.t))
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    if a.t <= b.t:
        least = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    else:
        least = a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2))
    return min(max(least, low), high)


def strong_wolfe(
    tried: Callable[[Any], tuple[float, Any]],
    t: Any,
    d: Any,
    loss: float,
    gradient: Any,
    slope: Any,
    most: int = 25,
    tolerance_change: float = 1e-9,
) -> tuple[float, Any, Any, int]:
    """Loss, gradient, length and number of evaluations of a step along `d` that meets the conditions.

    `tried(t)` returns loss and gradient at a length; `loss`, `gradient` and `slope` are those at 0. After
    `most` rounds, returns the best found.
    """

    def at(t: Any) -> _Point:
        found, g = tried(t)
        return _Point(t, found, g, g.dot(d))

    def fits(point: _Point) -> bool:
        return bool(abs(point.slope) <= -_CURVATURE * slope)

    def too_high(point: _Point) -> bool:
        return bool(point.loss > loss + _DECREASE * point.t * slope)

    size = d.abs().max()
    start = previous = _Point(0, loss, gradient.clone(), slope)
    new = at(t)
    calls, rounds = 1, 0
    bracket: list[_Point] = []
    while rounds < most:
        if too_high(new) or (rounds > 1 and new.loss >= previous.loss):
            bracket = [previous, new]
            break
        if fits(new):
            return new.loss, new.gradient, new.t, calls
        if new.slope >= 0:
            bracket = [previous, new]
            break
        bounds = (new.t + 0.01 * (new.t - previous.t), new.t * 10)
        t, previous = _between(previous, new, bounds), new
        new = at(t)
        calls, rounds = calls + 1, rounds + 1
    if rounds == most:
        bracket = [start, new]
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    stuck = False
    while rounds < most:
        left, right = (
            (bracket[0].t, bracket[1].t) if bracket[0].t <= bracket[1].t else (bracket[1].t, bracket[0].t)
        )
        if (right - left) * size < tolerance_change:
            break
        t = _between(bracket[0], bracket[1])
        margin = 0.1 * (right - left)
        close = bool(min(right - t, t - left) < margin)
        if close and (stuck or t >= right or t <= left):
            t = right - margin if abs(t - right) < abs(t - left) else left + margin
            stuck = False
        else:
            stuck = close
        new = at(t)
        calls, rounds = calls + 1, rounds + 1
        if too_high(new) or new.loss >= bracket[low].loss:
            bracket[high] = new
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        done = fits(new)
        if not done and new.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = new
        if done:
            break
    best = bracket[low]
    return best.loss, best.gradient, best.t, calls
