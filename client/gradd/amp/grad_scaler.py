"""GradScaler: a loss is scaled up so that its gradients do not vanish in float16, and these are scaled down
again before an optimizer's step, which is skipped where one is not finite (torch.amp.GradScaler).

The scale and what was found are numbers of the session, and the session skips the step: nobody waits for them
but before an optimizer's first step, and where a step does more than an op for each group.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import Any

from gradd_engine.data import ambient, dtypes
from gradd_engine.graph import no_grad
from gradd_engine.ops.optim.scaling import adjust_scale, unscale_gradients
from gradd_engine.schema import named

from .._session import current
from .._tensor import Tensor

_FIX = "This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."


class OptState(Enum):
    """How far an optimizer is in an iteration."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _fresh() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Scales losses, and steps optimizers where the gradients are finite
    (https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler).

    `device` is ``cuda`` or ``cpu``; in a session on a CPU a scaler for ``cuda`` is disabled with a warning,
    as in PyTorch without a GPU, and then passes everything through. AssertionError for factors on the wrong
    side of 1.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda" and current().backend.device.type != "cuda":
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2
            )
            self._enabled = False
        if self._enabled:
            if growth_factor <= 1.0:
                raise AssertionError("The growth factor must be > 1.0.")
            if backoff_factor >= 1.0:
                raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._scale: Any = None
        self._growth_tracker: Any = None
        self._per_optimizer_states: defaultdict[int, dict[str, Any]] = defaultdict(_fresh)

    # -- an iteration ------------------------------------------------------------------------------

    def scale(self, outputs: Any) -> Any:
        """`outputs`, a tensor or an iterable of them, times the scale. ValueError for anything else."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                with ambient(backend=outputs.backend):
                    self._scale = named.full((), self._init_scale, dtype=dtypes.float32)
                    self._growth_tracker = named.full((), self._init_growth_tracker, dtype=dtypes.int32)
            return outputs * self._scale
        if isinstance(outputs, Iterable):
            found = map(self.scale, outputs)
            return type(outputs)(found) if isinstance(outputs, (list, tuple)) else found
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer by the scale, to clip them, say; `step` does it otherwise.

        RuntimeError if they were already, ValueError for float16 gradients, AssertionError before `scale`.
        """
        if not self._enabled:
            return
        self._check("unscale_")
        held = self._per_optimizer_states[id(optimizer)]
        if held["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if held["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        held["found_inf_per_device"] = self._unscaled(optimizer)
        held["stage"] = OptState.UNSCALED

    def _unscaled(self, optimizer: Any) -> dict[Any, Any]:
        """Divide the gradients by the scale; 1.0 where one was not finite, by device: there is one."""
        grads = [p.grad for group in optimizer.param_groups for p in group["params"]]
        grads = [g for g in grads if g is not None]
        if not grads:
            return {}
        if any(g.dtype is dtypes.float16 for g in grads):
            raise ValueError("Attempting to unscale FP16 gradients.")
        with no_grad():
            return {self._scale.device: unscale_gradients(grads, self._scale)}

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Step an optimizer, unscaling its gradients first if that is due, unless one is not finite: then
        return None. Waits for that one number only where the session cannot skip the step: where it makes the
        optimizer's state, calls hooks, or is not one of gradd's that are an op for each group.

        RuntimeError with a closure, and for a second step before `update`; AssertionError before `scale`, and
        where no parameter has a gradient.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check("step")
        held = self._per_optimizer_states[id(optimizer)]
        if held["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if held["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not held["found_inf_per_device"]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        found = self._maybe_opt_step(optimizer, held, *args, **kwargs)
        held["stage"] = OptState.STEPPED
        return found

    def _maybe_opt_step(self, optimizer: Any, held: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        (found,) = held["found_inf_per_device"].values()
        skippable = getattr(optimizer, "_skippable", None)
        if skippable is not None and not (args or kwargs) and skippable():
            optimizer.found_inf = found
            try:
                return optimizer.step()
            finally:
                del optimizer.found_inf
        return None if found.item() else optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """At the end of an iteration: back off where a step was skipped, grow after `growth_interval`
        iterations without, or take `new_scale`, a float or a tensor of one element. Waits for nothing.
        """
        if not self._enabled:
            return
        self._check("update")
        with no_grad():
            if new_scale is not None:
                self._take(new_scale)
            else:
                states = self._per_optimizer_states.values()
                found = [each for held in states for each in held["found_inf_per_device"].values()]
                if not found:
                    raise AssertionError("No inf checks were recorded prior to update.")
                self._adjust(found[0] if len(found) == 1 else named.stack(found).sum())
        self._per_optimizer_states = defaultdict(_fresh)

    def _take(self, new_scale: Any) -> None:
        if isinstance(new_scale, float):
            self._scale.fill_(new_scale)
            return
        if new_scale.device.type != self._device or new_scale.numel() != 1 or new_scale.requires_grad:
            raise AssertionError(
                "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
                "requires_grad=False."
            )
        self._scale.copy_(new_scale.reshape(()))

    def _adjust(self, found_inf: Any) -> None:
        adjust_scale(
            self._scale,
            self._growth_tracker,
            found_inf,
            growth=float(self._growth_factor),
            backoff=float(self._backoff_factor),
            interval=int(self._growth_interval),
        )

    # -- its state ---------------------------------------------------------------------------------

    def get_scale(self) -> float:
        """The scale, 1.0 if disabled. A round trip."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

    def get_growth_factor(self) -> float:
        """What the scale grows by."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the scale grows by."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by after a skipped step."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by after a skipped step."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """The number of iterations without a skipped step after which the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many iterations without a skipped step the scale grows."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def is_enabled(self) -> bool:
        """Whether it scales."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Its state as numbers, empty if disabled. Best called after `update`."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a `state_dict`; RuntimeError for that of a disabled one."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of "
                "GradScaler."
            )
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        # The tensors are made of these at the next `scale`.
        self._init_scale = state_dict["scale"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)

    def __getstate__(self) -> dict[str, Any]:
        if self._enabled and self._per_optimizer_states:
            raise AssertionError(
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end "
                "after scaler.update()."
            )
        numbers = {"_init_scale": self.get_scale(), "_init_growth_tracker": self._get_growth_tracker()}
        return {
            **self.__dict__,
            **(numbers if self._enabled else {}),
            "_scale": None,
            "_growth_tracker": None,
        }

    def _check(self, name: str) -> None:
        if self._scale is None:
            raise AssertionError(f"Attempted {name} but _scale is None.  {_FIX}")
