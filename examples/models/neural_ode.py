"""A neural differential equation that learns a spiral, with gradients by the adjoint method.

The backward pass integrates the equation of the gradients back in time; of the forward pass it keeps the
states at the given times alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from beside import main, started, tensor

POINTS, PARTS, BATCH = 8, 2, 12
TIMES = np.linspace(0, 1.5, POINTS)


def spirals(count: int, seed: int) -> Any:
    """Paths of `count` points at TIMES, as [time, path, 2]."""
    chance = np.random.default_rng(seed)
    angle, radius = chance.uniform(0, 2 * np.pi, count), chance.uniform(0.5, 2, count)
    shrunk = radius * np.exp(-0.3 * TIMES[:, None])
    turned = angle + 2 * TIMES[:, None]
    return np.stack([shrunk * np.cos(turned), shrunk * np.sin(turned)], -1)


def runge_kutta(f: Any, y: tuple[Any, ...], span: float) -> tuple[Any, ...]:
    """The state, of several tensors, after `span`, in PARTS steps of the fourth order."""

    def moved(by: float, slope: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(part + by * s for part, s in zip(y, slope, strict=True))

    h = span / PARTS
    for _ in range(PARTS):
        first = f(y)
        second = f(moved(h / 2, first))
        third = f(moved(h / 2, second))
        fourth = f(moved(h, third))
        slopes = zip(first, second, third, fourth, strict=True)
        y = moved(h / 6, tuple(a + 2 * b + 2 * c + d for a, b, c, d in slopes))
    return y


def solver(torch: Any, field: Any) -> Any:
    """A function of the first state, and the field's parameters, that gives the states at TIMES."""

    class Solved(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, start: Any, *parameters: Any) -> Any:
            states = [start]
            for span in np.diff(TIMES):
                states += runge_kutta(lambda y: (field(y[0]),), (states[-1],), float(span))
            path = torch.stack(states)
            ctx.save_for_backward(path)
            return path

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (path,) = ctx.saved_tensors
            parameters = tuple(field.parameters())

            def slopes(state: tuple[Any, ...]) -> tuple[Any, ...]:
                with torch.enable_grad():
                    y = state[0].detach().requires_grad_()
                    slope = field(y)
                found = torch.autograd.grad(slope, (y, *parameters), -state[1])
                return (slope.detach(), *found)

            adjoint = (grad[-1], *(torch.zeros_like(p) for p in parameters))
            for i in range(POINTS - 1, 0, -1):
                _, *adjoint = runge_kutta(slopes, (path[i], *adjoint), float(TIMES[i - 1] - TIMES[i]))
                adjoint[0] = adjoint[0] + grad[i - 1]
            return tuple(adjoint)

    return lambda start: Solved.apply(start, *field.parameters())


def run(torch: Any, steps: int = 3) -> list[float]:
    """The mean distance of the paths, squared, at each of `steps` steps."""
    nn = torch.nn
    field = started(torch, nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2)))
    solve = solver(torch, field)
    optimizer = torch.optim.Adam(field.parameters(), lr=1e-2)
    curve = []
    for step in range(steps):
        paths = tensor(torch, spirals(BATCH, seed=step))
        loss = (solve(paths[0]) - paths).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        curve.append(loss.detach())
    return torch.stack(curve).tolist()


if __name__ == "__main__":
    main(run, steps=60)
