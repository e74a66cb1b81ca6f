"""L-BFGS (torch.optim): quasi-Newton steps from past gradients, with an optional line search.

Each decision needs a value: an iteration costs a round trip for the loss and one for each condition checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.graph import enable_grad, no_grad

from .._surface import namespace
from .._tensor import Tensor
from ._line_search import strong_wolfe
from .optimizer import Optimizer, nonnegative

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_TOP = namespace("")


def _number(loss: Any) -> float:
    return float(loss.detach() if isinstance(loss, Tensor) else loss)


class LBFGS(Optimizer):
    """Limited-memory BFGS; `step(closure)` runs up to `max_iter` iterations, calling the closure in each.

    ``state`` of the first parameter holds everything: func_evals, n_iter, and the memory of the last
    `history_size` changes. One group of parameters only. `line_search_fn`: None or "strong_wolfe".
    Source: https://pytorch.org/docs/stable/generated/torch.optim.LBFGS.html. ValueError for bad options.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        nonnegative("learning rate", lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    # -- all parameters as one vector --------------------------------------------------------------

    def _gradient(self) -> Any:
        parts = []
        for p in self.param_groups[0]["params"]:
            part = _TOP["zeros_like"](p) if p.grad is None else p.grad
            parts.append((_TOP["view_as_real"](part) if part.is_complex() else part).reshape(-1))
        return _TOP["cat"](parts, 0)

    def _move(self, t: Any, direction: Any) -> None:
        """Move by `t` times the direction."""
        step = direction * t
        at = 0
        for p in self.param_groups[0]["params"]:
            real = _TOP["view_as_real"](p) if p.is_complex() else p
            count = real.numel()
            real.add_(step[at : at + count].view(real.shape))
            at += count

    def _tried(
        self, closure: Callable[[], Any], start: list[Any], t: Any, direction: Any
    ) -> tuple[float, Any]:
        """Loss and gradient after moving by `t` times the direction; the parameters are then reset to
        `start`.
        """
        self._move(t, direction)
        loss = _number(closure())
        gradient = self._gradient()
        for p, value in zip(self.param_groups[0]["params"], start, strict=True):
            p.copy_(value)
        return loss, gradient

    # -- iterations --------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]  # the closure is required
        """Update the parameters; returns the first loss. RuntimeError for an unknown line search."""
        with no_grad():
            return self._iterate(enable_grad()(closure))

    def _iterate(self, closure: Callable[[], Any]) -> Any:
        group = self.param_groups[0]
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss = _number(first)
        evaluations = 1
        state["func_evals"] += 1
        gradient = self._gradient()
        if gradient.abs().max() <= group["tolerance_grad"]:
            return first
        for iteration in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            d = state["d"] = _direction(state, gradient, group["history_size"])
            state["prev_flat_grad"], state["prev_loss"] = gradient.clone(), loss
            t: Any = group["lr"]
            if state["n_iter"] == 1:
                t = (1.0 / gradient.abs().sum()).clamp(max=1.0) * t
            state["t"] = t
            slope = gradient.dot(d)
            if slope > -group["tolerance_change"]:
                break
            calls = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                start = [p.clone() for p in group["params"]]

                def tried(t: Any, start: list[Any] = start, d: Any = d) -> tuple[float, Any]:
                    return self._tried(closure, start, t, d)

                loss, gradient, t, calls = strong_wolfe(
                    tried, t, d, loss, gradient, slope, most=group["max_eval"] - evaluations
                )
                state["t"] = t
                self._move(t, d)
            else:
                self._move(t, d)
                if iteration != group["max_iter"]:
                    loss = _number(closure())
                    gradient = self._gradient()
                    calls = 1
            evaluations += calls
            state["func_evals"] += calls
            if (
                iteration == group["max_iter"]
                or evaluations >= group["max_eval"]
                or gradient.abs().max() <= group["tolerance_grad"]
                or (d * t).abs().max() <= group["tolerance_change"]
                or abs(loss - state["prev_loss"]) < group["tolerance_change"]
            ):
                break
        return first


def _direction(state: dict[str, Any], gradient: Any, history_size: int) -> Any:
    """Minus the approximate inverse Hessian times the gradient, by the two-loop recursion."""
    if state["n_iter"] == 1:
        state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
        return gradient.neg()
    y = gradient - state["prev_flat_grad"]
    s = state["d"] * state["t"]
    curvature = y.dot(s)
    changes, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
    if curvature > 1e-10:
        if len(changes) == history_size:
            for memory in (changes, steps, ro):
                memory.pop(0)
        changes.append(y)
        steps.append(s)
        ro.append(1.0 / curvature)
        state["H_diag"] = curvature / y.dot(y)
    weights = state.setdefault("al", [None] * history_size)
    d = gradient.neg()
    for i in reversed(range(len(changes))):
        weights[i] = steps[i].dot(d) * ro[i]
        d = d - changes[i] * weights[i]
    d = d * state["H_diag"]
    for i in range(len(changes)):
        d = d + steps[i] * (weights[i] - changes[i].dot(d) * ro[i])
    return d
