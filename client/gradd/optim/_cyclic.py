"""Schedules with rising rates: CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR.

Source: https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate
"""

from __future__ import annotations

import math
import types
from typing import TYPE_CHECKING, Any

from .._tensor import type_name
from ._schedule import LRScheduler
from .optimizer import Optimizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine from the initial rate to `eta_min` in `T_0` epochs, repeated with `T_mult` times as many each
    time.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = self.T_i = T_0
        self.T_mult, self.eta_min = T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates at `T_cur`, the epochs since the last restart."""
        self._warn_outside()
        low, angle = self.eta_min, math.pi * self.T_cur / self.T_i
        return [low + (base - low) * (1 + math.cos(angle)) / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to `epoch`, which may be a fraction."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        elif epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n
        self.last_epoch = math.floor(epoch) - 1
        self._update_lr()


def each_group(name: str, optimizer: Optimizer, given: float | Sequence[float]) -> list[float]:
    """The option for each group; ValueError where there are not as many."""
    groups = len(optimizer.param_groups)
    if not isinstance(given, (list, tuple)):
        return [given] * groups  # type: ignore[list-item]
    if len(given) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(given)} values, "
            f"param_groups has {groups}."
        )
    return list(given)


class _WithMomentum(LRScheduler):
    """A schedule that may move momentum, or the first beta, inversely to the rate."""

    use_beta1: bool

    def _bound_momenta(
        self, lowest: float | Sequence[float], highest: float | Sequence[float], last_epoch: int
    ) -> tuple[list[float], list[float]]:
        """The bounds for each group, which its momentum starts from; ValueError if there is none to move."""
        optimizer = self.optimizer
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        ups = each_group("max_momentum", optimizer, highest)
        lows = each_group("base_momentum", optimizer, lowest)
        if last_epoch == -1:
            for group, up, low in zip(optimizer.param_groups, ups, lows, strict=True):
                self._set_momentum(group, up)
                group["max_momentum"], group["base_momentum"] = up, low
        return lows, ups

    def _set_momentum(self, group: dict[str, Any], value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_WithMomentum):
    """Up from `base_lr` to `max_lr` in `step_size_up` steps, and back in `step_size_down`, again and again.

    `mode` "triangular" keeps the height, "triangular2" halves it every cycle, "exp_range" scales it by
    `gamma` to the power of the step; or `scale_fn` gives the scale, of the cycle or, if `scale_mode` is
    "iterations", of the step. With `cycle_momentum`, momentum (or the first beta) moves inversely.
    Source: https://pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.CyclicLR.html
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | Sequence[float],
        max_lr: float | Sequence[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8,
        max_momentum: float | Sequence[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type_name(optimizer)} is not an Optimizer")
        self.optimizer = optimizer
        lowest = each_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, lowest, strict=True):
                group["lr"] = rate
        self.max_lrs = each_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            bounds = self._bound_momenta(base_momentum, max_momentum, last_epoch)
            self.base_momentums, self.max_momentums = bounds
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def scale_fn(self, x: float) -> float:
        """The scale of the height in cycle `x`, or in step `x` where `scale_mode` is "iterations"."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        scale: float = 1 / (2.0 ** (x - 1)) if self.mode == "triangular2" else self.gamma**x
        return scale

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`; sets the momenta too."""
        self._warn_outside()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        rises = x <= self.step_ratio
        height = x / self.step_ratio if rises else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            groups = self.optimizer.param_groups
            for group, low, high in zip(groups, self.base_momentums, self.max_momentums, strict=True):
                self._set_momentum(group, high - (high - low) * height * scale)
        return [
            low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """All but the optimizer; a scale function is omitted (None), a callable object saves attributes."""
        state = super().state_dict()
        fn = state["_scale_fn_custom"]
        plain = fn is None or isinstance(fn, types.FunctionType)
        state["_scale_fn_custom"] = None if plain else dict(vars(fn))
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a `state_dict`; a scale function stays unchanged."""
        given = dict(state_dict)
        attributes = given.pop("_scale_fn_custom")
        super().load_state_dict(given)
        if attributes is not None:
            vars(self._scale_fn_custom).update(attributes)


class OneCycleLR(_WithMomentum):
    """Up from `max_lr` / `div_factor` to `max_lr`, then down to 1 / `final_div_factor` of the initial rate.

    The rate rises for `pct_start` of the steps. With `cycle_momentum`, momentum (or the first beta) moves
    inversely.
    Source: https://pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.OneCycleLR.html
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type_name(optimizer)} is not an Optimizer")
        self.optimizer = optimizer
        if total_steps is not None:
            _positive("total_steps", total_steps)
            self.total_steps = total_steps
        elif epochs is not None and steps_per_epoch is not None:
            _positive("epochs", epochs)
            _positive("steps_per_epoch", steps_per_epoch)
            self.total_steps = epochs * steps_per_epoch
        else:
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        rise = _phase(float(pct_start * self.total_steps) - 1, "initial_lr", "max_lr", "max base")
        if three_phase:
            fall = _phase(float(2 * pct_start * self.total_steps) - 2, "max_lr", "initial_lr", "base max")
            last = _phase(self.total_steps - 1, "initial_lr", "min_lr", "max max")
            self._schedule_phases = [rise, fall, last]
        else:
            self._schedule_phases = [rise, _phase(self.total_steps - 1, "max_lr", "min_lr", "base max")]
        if pct_start < 0 or pct_start > 1 or type(pct_start) is not float:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        rates = each_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, most in zip(optimizer.param_groups, rates, strict=True):
                group["initial_lr"] = most / div_factor
                group["max_lr"] = most
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._bound_momenta(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _between(self, start: float, end: float, way: float) -> float:
        if self._anneal_func_type == "linear":
            return (end - start) * way + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * way) + 1)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`; sets the momenta too. ValueError past the last step."""
        self._warn_outside()
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is {self.total_steps}"
            )
        at = 0
        while step > self._schedule_phases[at]["end_step"] and at < len(self._schedule_phases) - 1:
            at += 1
        phase = self._schedule_phases[at]
        start = self._schedule_phases[at - 1]["end_step"] if at else 0.0
        way = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._between(group[phase["start_lr"]], group[phase["end_lr"]], way))
            if self.cycle_momentum:
                low, high = group[phase["start_momentum"]], group[phase["end_momentum"]]
                self._set_momentum(group, self._between(low, high, way))
        return rates


def _positive(name: str, value: Any) -> None:
    if value <= 0 or not isinstance(value, int):
        raise ValueError(f"Expected positive integer {name}, but got {value}")


def _phase(end: float, start_lr: str, end_lr: str, momenta: str) -> dict[str, Any]:
    """A phase of the cycle, with the names of the options at its ends."""
    start, stop = momenta.split()
    return {
        "end_step": end,
        "start_lr": start_lr,
        "end_lr": end_lr,
        "start_momentum": f"{start}_momentum",
        "end_momentum": f"{stop}_momentum",
    }
