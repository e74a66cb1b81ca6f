"""Learning-rate schedules by epoch: arithmetic on ``group["lr"]``, a run-time value.

They use PyTorch's chainable forms, so that several schedules compose.
Source: https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate
"""

from __future__ import annotations

import math
import types
import warnings
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Any

from .._tensor import type_name
from .optimizer import Optimizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from "
    "None, the closed form is used instead of the new chainable form, where available. Please open an issue "
    "if you are unable to replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)


class LRScheduler:
    """Base of schedules: subclasses define `get_lr`. Creating one sets the rates of epoch `last_epoch` +
    1.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type_name(optimizer)} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training "
                    "from a checkpoint but haven't properly loaded the optimizer state\n2. You're using "
                    "last_epoch >= 0 for a fresh training run (not recommended)"
                )
        self.base_lrs: list[float] = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    @property
    def _rates(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`, one per group, from the previous ones; defined by subclasses."""
        raise NotImplementedError(f"{type(self).__name__} has no get_lr()")

    def get_last_lr(self) -> list[float]:
        """The last rates set, one per group."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch and set its rates. Call it after the optimizer's step.

        Passing `epoch` is deprecated, as in PyTorch.
        """
        if self._step_count == 1 and not self.optimizer._stepped:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and "
                "later, you should call them in the opposite order: `optimizer.step()` before "
                "`lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the first "
                "value of the learning rate schedule. See more details at "
                "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _initial_step(self) -> None:
        """Set the initial rates."""
        self._step_count = 0
        self._is_initial = True
        self.step()
        self._is_initial = False

    def _update_lr(self, epoch: int | None = None) -> None:
        """Set the rates of the next epoch, or of `epoch`."""
        self._get_lr_called_within_step = True
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            self.last_epoch = epoch
            rates = self._get_closed_form_lr()
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._get_lr_called_within_step = False
        self._last_lr = self._rates

    def _get_closed_form_lr(self) -> list[float]:
        """The rates of `last_epoch` from the initial ones, if the schedule has a closed form."""
        return self.get_lr()

    def _warn_outside(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def state_dict(self) -> dict[str, Any]:
        """All but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a `state_dict`."""
        self.__dict__.update(state_dict)


class _LRScheduler(LRScheduler):
    """The former name of LRScheduler, for those who derive from it."""


class _ByFunction(LRScheduler):
    """Rates by functions of the epoch: one function, or one per group."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        groups = len(optimizer.param_groups)
        self.lr_lambdas = [lr_lambda] * groups if callable(lr_lambda) else list(lr_lambda)
        if len(self.lr_lambdas) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """All but the optimizer; functions are omitted (None), other callables save their attributes."""
        state = super().state_dict()
        state["lr_lambdas"] = [
            None if isinstance(fn, types.FunctionType) else dict(vars(fn)) for fn in self.lr_lambdas
        ]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore a `state_dict`; functions stay unchanged."""
        given = dict(state_dict)
        for fn, attributes in zip(self.lr_lambdas, given.pop("lr_lambdas"), strict=True):
            if attributes is not None:
                vars(fn).update(attributes)
        super().load_state_dict(given)


class LambdaLR(_ByFunction):
    """The initial rate times ``lr_lambda(epoch)``; one function, or one per group."""

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`."""
        self._warn_outside()
        return [base * fn(self.last_epoch) for fn, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_ByFunction):
    """Multiplies the rate by ``lr_lambda(epoch)`` every epoch; one function, or one per group."""

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`."""
        self._warn_outside()
        if self._is_initial:
            return self._rates
        return [rate * fn(self.last_epoch) for fn, rate in zip(self.lr_lambdas, self._rates, strict=True)]


class StepLR(LRScheduler):
    """Multiplies the rate by `gamma` every `step_size` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`."""
        self._warn_outside()
        due = self.last_epoch != 0 and self.last_epoch % self.step_size == 0
        return [rate * self.gamma if due else rate for rate in self._rates]

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiplies the rate by `gamma` at each of the epochs `milestones`."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`."""
        self._warn_outside()
        factor = self.gamma ** self.milestones[self.last_epoch]
        return [rate * factor for rate in self._rates]

    def _get_closed_form_lr(self) -> list[float]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiplies the rate by `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`."""
        self._warn_outside()
        return [rate * self.gamma if self.last_epoch > 0 else rate for rate in self._rates]

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Cosine from the initial rate to `eta_min` in `T_max` epochs, and back."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`."""
        self._warn_outside()
        n, period, low = self.last_epoch, self.T_max, self.eta_min
        if n == 0:
            return self._rates
        if self._step_count == 1:
            return [low + (base - low) * (1 + math.cos(n * math.pi / period)) / 2 for base in self.base_lrs]
        if (n - 1 - period) % (2 * period) == 0:
            rise = (1 - math.cos(math.pi / period)) / 2
            return [rate + (base - low) * rise for rate, base in zip(self._rates, self.base_lrs, strict=True)]
        ratio = (1 + math.cos(math.pi * n / period)) / (1 + math.cos(math.pi * (n - 1) / period))
        return [ratio * (rate - low) + low for rate in self._rates]

    def _get_closed_form_lr(self) -> list[float]:
        way = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * way for base in self.base_lrs]


class LinearLR(LRScheduler):
    """The initial rate times a factor from `start_factor` to `end_factor` in `total_iters` epochs."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if not 0 < start_factor <= 1.0:
            raise ValueError(
                "Starting multiplicative factor expected to be greater than 0 and less or equal to 1."
            )
        if not 0 <= end_factor <= 1.0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`."""
        self._warn_outside()
        n, start, end, total = self.last_epoch, self.start_factor, self.end_factor, self.total_iters
        if n == 0:
            return [rate * start for rate in self._rates]
        if n > total:
            return self._rates
        factor = 1.0 + (end - start) / (total * start + (n - 1) * (end - start))
        return [rate * factor for rate in self._rates]

    def _get_closed_form_lr(self) -> list[float]:
        n, start, end = min(self.total_iters, self.last_epoch), self.start_factor, self.end_factor
        return [base * (start + (end - start) * n / self.total_iters) for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """The initial rate times `factor` until epoch `total_iters`."""

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if not 0 <= factor <= 1.0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`."""
        self._warn_outside()
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._rates]
        if self.last_epoch != self.total_iters:
            return self._rates
        return [rate * (1.0 / self.factor) for rate in self._rates]

    def _get_closed_form_lr(self) -> list[float]:
        over = self.last_epoch >= self.total_iters
        return [base * (self.factor + over * (1 - self.factor)) for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """The initial rate times (1 - epoch / `total_iters`) to the power `power`, then 0."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """The rates of `last_epoch`."""
        self._warn_outside()
        n, total = self.last_epoch, self.total_iters
        if self._is_initial or n > total:
            return self._rates
        factor = ((1.0 - n / total) / (1.0 - (n - 1) / total)) ** self.power
        return [rate * factor for rate in self._rates]

    def _get_closed_form_lr(self) -> list[float]:
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]
