"""autocast: the region in which inputs of ops are cast, and its settings.

Which op is cast how stands in its declaration; casts are recorded as ops, so the daemon knows nothing of
regions. Settings are per thread.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from gradd_engine.data import DType, dtypes
from gradd_engine.declare import casting, clear_casts, enter_region, leave_region, set_casting

from .._session import current
from .._tensor import Tensor

_DEVICES = ("cpu", "cuda")


def is_autocast_available(device_type: str) -> bool:
    """Whether there are such regions for a kind of device, be there one or not: for ``cpu`` and ``cuda``."""
    return device_type in _DEVICES


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether inputs are cast on a kind of device, ``cuda`` unless another is named."""
    return (device_type or "cuda") in casting().enabled


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Turn casts on or off for a kind of device; for ``cuda`` where only a bool is given."""
    kind, on = ("cuda", device_type) if enabled is None else (device_type, enabled)
    set_casting(casting().turned(kind, bool(on)))


def get_autocast_dtype(device_type: str) -> DType:
    """The lower dtype of a kind of device. RuntimeError where there is none."""
    if device_type not in (*_DEVICES, "mps"):
        raise RuntimeError(f"unsupported scalarType, unknown device type for autocast: {device_type}")
    return casting().dtype(device_type)


def set_autocast_dtype(device_type: str, dtype: DType) -> None:
    """Choose the lower dtype of a kind of device."""
    set_casting(casting().with_dtype(device_type, dtype))


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """Turn casts on or off on a CPU."""
    set_autocast_enabled("cpu", enabled)


def set_autocast_cpu_dtype(dtype: DType) -> None:
    """Choose the lower dtype on a CPU."""
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: DType) -> None:
    """Choose the lower dtype on a GPU."""
    set_autocast_dtype("cuda", dtype)


def is_autocast_cpu_enabled() -> bool:
    """Whether inputs are cast on a CPU."""
    return is_autocast_enabled("cpu")


def get_autocast_cpu_dtype() -> DType:
    """The lower dtype on a CPU."""
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> DType:
    """The lower dtype on a GPU."""
    return get_autocast_dtype("cuda")


def is_autocast_cache_enabled() -> bool:
    """Whether a parameter is cast once in a region."""
    return casting().caching


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Have parameters cast once in a region, or at each use."""
    set_casting(replace(casting(), caching=bool(enabled)))


def clear_autocast_cache() -> None:
    """Forget the casts of parameters."""
    clear_casts()


def autocast_increment_nesting() -> int:
    """Enter a region without settings of its own; returns how many are entered."""
    return enter_region()


def autocast_decrement_nesting() -> int:
    """Leave a region; returns how many are still entered."""
    return leave_region()


class autocast:
    """Region, or decorator, in which ops choose the dtype they compute in
    (https://docs.pytorch.org/docs/stable/amp.html#torch.autocast).

    Products and convolutions run in `dtype` (bfloat16 on a CPU, float16 on a GPU, unless given), what needs
    range in float32; parameters and their gradients stay as they are. `cache_enabled`: parameters are cast
    once in the outermost region. In a session on a CPU a region for ``cuda`` is disabled with a warning, as
    in PyTorch without a GPU; so is a dtype that is no lower one. RuntimeError for other devices, ValueError
    for what is no str.
    """

    def __init__(
        self,
        device_type: str,
        dtype: DType | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self.device = device_type
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else bool(cache_enabled)
        self._enabled = bool(enabled) and self._possible()
        self._outer: list[Any] = []

    def _possible(self) -> bool:
        lower = (dtypes.bfloat16, dtypes.float16)
        if self.device == "cuda":
            if current().backend.device.type != "cuda":
                warnings.warn(
                    "CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=4
                )
                return False
        elif self.fast_dtype not in lower:
            warnings.warn(
                f"In {self.device.upper()} autocast, but the target dtype is not supported. Disabling "
                f"autocast.\n{self.device.upper()} Autocast only supports dtypes of "
                f"{', '.join(map(str, lower))} currently.",
                stacklevel=4,
            )
            return False
        return True

    def __enter__(self) -> autocast:
        outer = casting()
        self._outer.append(outer)
        inner = outer.turned(self.device, self._enabled).with_dtype(self.device, self.fast_dtype)
        set_casting(replace(inner, caching=self._cache_enabled))
        enter_region()
        return self

    def __exit__(self, *exc: object) -> None:
        leave_region()
        set_casting(self._outer.pop())

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. Did you mean to use "
                "autocast as a context manager? For example:\n    with torch.autocast(device_type=...):\n"
                "        output = model(input)"
            )

        return autocast_decorator(self, func)


def autocast_decorator(autocast_instance: autocast, func: Callable[..., Any]) -> Callable[..., Any]:
    """`func`, called within a region."""

    @functools.wraps(func)
    def inside(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    return inside


def _cast(value: Any, device_type: str, dtype: DType) -> Any:
    """`value` with the tensors in it that casts are for in `dtype`."""
    if isinstance(value, Tensor):
        lower = value.is_floating_point() and value.dtype is not dtypes.float64
        return value.to(dtype) if lower and value.device.type == device_type else value
    if isinstance(value, (str, bytes, np.ndarray)) or not isinstance(value, Iterable):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    found = (_cast(v, device_type, dtype) for v in value)
    return type(value)(found) if isinstance(value, (list, tuple)) else found


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: DType | None = None
) -> Any:
    """Decorate the ``forward`` of an autograd.Function, so that `custom_bwd` runs its ``backward`` with the
    same casts. With `cast_inputs`, inside a region, floating-point inputs are cast to it and the function
    runs without casts.

    As https://docs.pytorch.org/docs/stable/amp.html#torch.amp.custom_fwd.
    """
    _want_str(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        on = is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = on and cast_inputs is None
        if cast_inputs is None or not on:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            given = _cast(args, device_type, cast_inputs)
            return fwd(ctx, *given, **_cast(kwargs, device_type, cast_inputs))

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorate the ``backward`` of an autograd.Function, whose ``forward`` has `custom_fwd`, to run with the
    same casts.

    As https://docs.pytorch.org/docs/stable/amp.html#torch.amp.custom_bwd.
    """
    _want_str(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return backward


def _want_str(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
