"""Averages of weights (torch.optim.swa_utils): SWA and EMA, their schedule, batch norm's statistics.

Source: https://pytorch.org/docs/stable/optim.html#weight-averaging-swa-and-ema
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from gradd_engine.data import dtypes
from gradd_engine.graph import no_grad

from .._tensor import Tensor
from ..nn import Module
from ..nn._make import zeros
from ..nn.normalization import _BatchNorm
from ._cyclic import each_group
from ._schedule import LRScheduler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[Sequence[Any], Sequence[Any], Any], None]:
    """A `multi_avg_fn`: decay times the average plus (1 - decay) times the model. ValueError for a decay
    outside of [0, 1].
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(averaged: Sequence[Any], current: Sequence[Any], num_averaged: Any) -> None:
        for average, value in zip(averaged, current, strict=True):
            if average.dtype.differentiable:
                average.lerp_(value, 1 - decay)
            else:
                average.copy_(average * decay + value * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[[Sequence[Any], Sequence[Any], Any], None]:
    """A `multi_avg_fn`: the mean of all models so far."""

    @no_grad()
    def swa_update(averaged: Sequence[Any], current: Sequence[Any], num_averaged: Any) -> None:
        share = 1 / (num_averaged + 1)
        for average, value in zip(averaged, current, strict=True):
            if average.dtype.differentiable:
                average.lerp_(value, share.to(average.dtype) if isinstance(share, Tensor) else share)
            else:
                average.copy_(average + (value - average) * share)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], Any]:
    """An `avg_fn`: decay times the average plus (1 - decay) times the model. ValueError for a decay outside
    of [0, 1].
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(averaged: Any, current: Any, num_averaged: Any) -> Any:
        return decay * averaged + (1 - decay) * current

    return ema_update


def get_swa_avg_fn() -> Callable[[Any, Any, Any], Any]:
    """An `avg_fn`: the mean of all models so far."""

    @no_grad()
    def swa_update(averaged: Any, current: Any, num_averaged: Any) -> Any:
        return averaged + (current - averaged) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of `model` whose parameters are averages of those given to `update_parameters`.

    By default the mean (SWA). `avg_fn(averaged, current, num_averaged)` returns the new average of one
    parameter; `multi_avg_fn` gets lists of one dtype and writes into the first. `use_buffers`: buffers are
    averaged too, else copied. ``n_averaged`` (0-dim int64) counts the models. AssertionError for both
    functions at once.
    Source: https://pytorch.org/docs/stable/generated/torch.optim.swa_utils.AveragedModel.html
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[[Any, Any, Any], Any] | None = None,
        multi_avg_fn: Callable[[Sequence[Any], Sequence[Any], Any], None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        self.register_buffer("n_averaged", zeros((), dtypes.int64))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers
        self._known = self._mark(False)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The averaged module's result."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of `model` into the averages; the first ones are copied.

        Whether they are the first is asked of the session once, and again after a state was loaded.
        """
        mine, theirs = self.module, model
        pairs: list[tuple[Tensor, Tensor]] = list(zip(mine.parameters(), theirs.parameters(), strict=False))
        buffers = list(zip(mine.buffers(), theirs.buffers(), strict=True))
        if self.use_buffers:
            pairs += buffers
        held = [(average.detach(), value.detach()) for average, value in pairs]
        if not self._has_begun():
            for average, value in held:
                average.copy_(value)
        elif self.avg_fn is not None:
            for average, value in held:
                average.copy_(self.avg_fn(average, value, self.n_averaged))
        else:
            update = self.multi_avg_fn or get_swa_multi_avg_fn()
            alike: defaultdict[Any, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
            for average, value in held:
                averages, values = alike[average.dtype]
                averages.append(average)
                values.append(value)
            for averages, values in alike.values():
                update(averages, values, self.n_averaged)
        if not self.use_buffers:
            for kept, value in buffers:
                kept.detach().copy_(value.detach())
        self.n_averaged += 1
        self._known = self._mark(True)

    def _mark(self, begun: bool) -> tuple[Any, ...]:
        """The count as it is now, by its tensor, version and session's losses, and whether it is above 0."""
        n: Any = self.n_averaged
        return n, n._version, n._session.wire.lost.times, begun

    def _has_begun(self) -> bool:
        """Whether a model was averaged: asked where somebody else has written the count."""
        count, version, losses, begun = self._known
        now, *when, _ = self._mark(begun)
        return begun if now is count and when == [version, losses] else bool(now > 0)


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Running statistics of batch norms anew: means over the batches, tensors or sequences with one first.

    Runs the model in training mode on each; modes and momenta are as before, after that.
    """
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not norms:
        return
    momenta = [module.momentum for module in norms]
    was_training = model.training
    model.train()
    handles = []
    for module in norms:
        module.reset_running_stats()
        handles.append(module.register_forward_pre_hook(_cumulating()))
    try:
        for batch in loader:
            given = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(given if device is None else given.to(device))
    finally:
        for module, momentum, handle in zip(norms, momenta, handles, strict=True):
            handle.remove()
            module.momentum = momentum
        model.train(was_training)


def _cumulating() -> Callable[[Any, Any], None]:
    """A hook that makes a batch norm's statistics means over its calls, which are counted here: a norm whose
    momentum is None asks the session for its count.
    """
    calls = itertools.count(1)

    def before(module: Any, args: Any) -> None:
        module.momentum = 1.0 / next(calls)

    return before


class SWALR(LRScheduler):
    """From the group's rate to `swa_lr` in `anneal_epochs` epochs, by a cosine or "linear"; then constant.

    ValueError for bad options.
    Source: https://pytorch.org/docs/stable/generated/torch.optim.swa_utils.SWALR.html
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: Any = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for group, rate in zip(optimizer.param_groups, each_group("swa_lr", optimizer, swa_lr), strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def anneal_func(self, t: float) -> float:
        """How far the rate is at `t`, from 0 to 1."""
        return t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list[float]:
        """The rates of this step, from the previous ones."""
        self._warn_outside()
        step = max(1, self._step_count - 1) if self.anneal_epochs == 0 else self._step_count - 1
        length = max(1, self.anneal_epochs)
        before, now = (self.anneal_func(max(0, min(1, n / length))) for n in (step - 1, step))
        rates = []
        for group in self.optimizer.param_groups:
            last = group["swa_lr"]
            start = last if before == 1 else (group["lr"] - before * last) / (1 - before)
            rates.append(last * now + start * (1 - now))
        return rates
