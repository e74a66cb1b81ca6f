"""A neural differential equation by the adjoint method: what does a training step cost beside torch's?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .bench import Bench, Row, main
from .beside import Chance, Step, row, started

POINTS, BATCH, WIDTH = 8, 20, 50
TIMES = np.linspace(0, 0.7, POINTS)

State = tuple[Any, ...]


def runge_kutta(slope: Callable[[State], State], y: State, h: float) -> State:
    """One step of the fourth order of a state of several tensors."""

    def moved(by: float, along: State) -> State:
        return tuple(part + by * s for part, s in zip(y, along, strict=True))

    k1 = slope(y)
    k2 = slope(moved(h / 2, k1))
    k3 = slope(moved(h / 2, k2))
    k4 = slope(moved(h, k3))
    parts = zip(k1, k2, k3, k4, strict=True)
    return moved(h / 6, tuple(a + 2 * (b + c) + d for a, b, c, d in parts))


def integrator(lib: Any, field: Any) -> Callable[[Any], Any]:
    """A function of the first state that gives those at TIMES; its backward pass integrates the state, the
    gradient by it and the gradients by the parameters back in time.
    """
    parameters = tuple(field.parameters())

    class Path(lib.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, start: Any, *parameters: Any) -> Any:
            states = [start]
            with lib.no_grad():
                for h in np.diff(TIMES):
                    states += runge_kutta(lambda y: (field(y[0]),), (states[-1],), float(h))
            path = lib.stack(states)
            ctx.save_for_backward(path)
            return path

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (path,) = ctx.saved_tensors

            def slope(augmented: State) -> State:
                with lib.enable_grad():
                    y = augmented[0].detach().requires_grad_(True)
                    out = field(y)
                    found = lib.autograd.grad(out, (y, *parameters), -augmented[1])
                return (out.detach(), *found)

            by_state = grad[-1]
            by_parameters: State = tuple(lib.zeros_like(p) for p in parameters)
            for n in range(POINTS - 1, 0, -1):
                h = float(TIMES[n - 1] - TIMES[n])
                _, by_state, *rest = runge_kutta(slope, (path[n], by_state, *by_parameters), h)
                by_state, by_parameters = by_state + grad[n - 1], tuple(rest)
            return (by_state, *by_parameters)

    return lambda start: Path.apply(start, *parameters)


def spirals() -> Any:
    """Paths of 16 batches at TIMES, as (time, path, 2)."""
    rng = np.random.default_rng(3)
    angle, radius = rng.uniform(0, 2 * np.pi, 16 * BATCH), rng.uniform(0.5, 2, 16 * BATCH)
    radii, angles = radius * np.exp(-0.3 * TIMES[:, None]), angle + 2 * TIMES[:, None]
    return np.stack([radii * np.cos(angles), radii * np.sin(angles)], -1).astype(np.float32)


def make(lib: Any, chance: Chance) -> Step:
    """RMSprop on the distance from paths that are known."""
    nn = lib.nn

    class Field(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Sequential(nn.Linear(2, WIDTH), nn.Tanh(), nn.Linear(WIDTH, 2))

        def forward(self, y: Any) -> Any:
            return self.net(y**3)

    field = started(lib, Field())
    solve = integrator(lib, field)
    optimizer = lib.optim.RMSprop(field.parameters(), lr=1e-3)
    known = lib.from_numpy(spirals())
    begins = 0

    def step() -> tuple[Any, ...]:
        nonlocal begins
        batch = known[:, begins : begins + BATCH]
        begins = (begins + BATCH) % (16 * BATCH)
        optimizer.zero_grad()
        loss = (solve(batch[0]) - batch).abs().mean()
        loss.backward()
        optimizer.step()
        return (loss,)

    return step


def question(bench: Bench) -> list[Row]:
    """Loss every 10."""
    work = (
        f"neural ODE by the adjoint method, RK4 over {POINTS} times, 2-{WIDTH}-2, batch {BATCH}, RMSprop, "
        "loss every 10"
    )
    return [row(bench, work, make, 4.0)]


if __name__ == "__main__":
    main(question)
