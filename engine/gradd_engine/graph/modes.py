"""Gradient modes: no_grad, enable_grad, set_grad_enabled, inference_mode, as contexts, decorators and plain
calls.

Source: https://pytorch.org/docs/stable/generated/torch.no_grad.html and its neighbours. Modes are per thread.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import TYPE_CHECKING, Any

from ..data import state
from ..schema import type_name

if TYPE_CHECKING:
    from collections.abc import Callable


def is_grad_enabled() -> bool:
    """Whether operations of this thread are recorded for backward (inference mode aside, as in PyTorch)."""
    return state.grad if state.inference is None else state.inference


def is_inference_mode_enabled() -> bool:
    """Whether this thread is in inference mode (torch.is_inference_mode_enabled)."""
    return state.inference is not None


def _set_grad(enabled: bool) -> None:
    """Set the gradient mode; in inference mode nothing is recorded whatever it is."""
    if state.inference is None:
        state.grad = enabled
    else:
        state.inference = enabled


class _Mode:
    """A context manager and decorator; on generator functions the mode holds inside the body only."""

    def _set(self) -> None:
        raise NotImplementedError("a mode says what it sets")

    def clone(self) -> _Mode:
        """A fresh context of the same kind, one for each call of a decorated function."""
        return type(self)()

    def __init__(self) -> None:
        self._before: list[Any] = []

    def _now(self) -> Any:
        """What `_set` changes, as it is."""
        return state.grad, state.inference

    def _restore(self, before: Any) -> None:
        state.grad, state.inference = before

    def __enter__(self) -> None:
        self._before.append(self._now())
        self._set()

    def __exit__(self, *exc: object) -> None:
        self._restore(self._before.pop())

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isclass(fn):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You should only "
                "decorate functions or methods. To preserve the current behavior of class decoration, you "
                "can directly decorate the `__init__` method and nothing else.",
                FutureWarning,
                stacklevel=2,
            )
        if inspect.isgeneratorfunction(fn):
            return self._generator(fn)

        @functools.wraps(fn)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return fn(*args, **kwargs)

        return inside

    def _generator(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def inside(*args: Any, **kwargs: Any) -> Any:
            generator = fn(*args, **kwargs)
            reply: Any = None
            step: Callable[[], Any] = lambda: next(generator)  # noqa: E731 - the first step takes no value
            while True:
                try:
                    with self.clone():
                        item = step()
                except StopIteration as stop:
                    return stop.value
                try:
                    reply = yield item
                except GeneratorExit:
                    with self.clone():
                        generator.close()
                    raise
                except BaseException as error:
                    thrown = error
                    step = lambda thrown=thrown: generator.throw(thrown)  # type: ignore[misc]  # noqa: E731
                else:
                    step = lambda reply=reply: generator.send(reply)  # type: ignore[misc]  # noqa: E731

        return inside


class _Decorating(type):
    """Lets the class itself decorate a function: ``@no_grad`` without parentheses."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        for given in (*args[:1], *kwargs.values()):
            if len(args) + len(kwargs) == 1 and callable(given):
                return type.__call__(cls)(given)
        return type.__call__(cls, *args, **kwargs)


class no_grad(_Mode, metaclass=_Decorating):
    """Operations inside are not recorded (torch.no_grad)."""

    def _set(self) -> None:
        _set_grad(False)


class enable_grad(_Mode, metaclass=_Decorating):
    """Operations inside are recorded, also within no_grad (torch.enable_grad); not in inference mode."""

    def _set(self) -> None:
        _set_grad(True)


class _AtOnce(_Mode):
    """Sets its mode where it is made; as a context it is restored at the end, as a decorator at once."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self._mode = bool(mode)
        self._outer = self._now()
        self._set()

    def __enter__(self) -> None:
        self._before.append(self._outer)
        self._set()

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        self._restore(self._outer)
        return super().__call__(fn)

    def clone(self) -> _Mode:
        """A fresh context with the same mode."""
        return type(self)(self._mode)


class set_grad_enabled(_AtOnce):
    """Sets the mode at once; as a context it is restored at the end (torch.set_grad_enabled)."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type_name(mode)}"
            )
        super().__init__(mode)
        self.prev = self._outer[0]

    @property
    def mode(self) -> bool:
        """The mode that it sets."""
        return self._mode

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self._mode})"

    def _set(self) -> None:
        _set_grad(self._mode)


class enforce_grad_layout_policy(_AtOnce):
    """Whether a .grad that is not laid out as its tensor is warned of
    (torch.autograd.enforce_grad_layout_policy).

    PyTorch may then also keep the layout of a first gradient as it comes; here that is always the tensor's.
    """

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)

    def _now(self) -> bool:
        return state.layout_policy

    def _restore(self, before: bool) -> None:
        state.layout_policy = before

    def _set(self) -> None:
        state.layout_policy = self._mode


class set_multithreading_enabled(_AtOnce):
    """Accepted and remembered (torch.autograd.grad_mode.set_multithreading_enabled): a pass runs in one
    thread, that of its session.
    """

    def _now(self) -> bool:
        return state.multithreading

    def _restore(self, before: bool) -> None:
        state.multithreading = before

    def _set(self) -> None:
        state.multithreading = self._mode

    @property
    def mode(self) -> bool:
        """The mode that it sets."""
        return self._mode


def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` said."""
    return state.multithreading


class inference_mode(_Mode, metaclass=_Decorating):
    """Operations inside are not recorded and tensors made inside keep no version (torch.inference_mode).

    Such a tensor cannot be saved for backward, changed in place or made to require grad outside (RuntimeError
    there). ``inference_mode(False)`` ends the mode for what is inside it, and records.
    """

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self._mode = bool(mode)

    def _set(self) -> None:
        state.grad, state.inference = (False, False) if self._mode else (True, None)

    def clone(self) -> _Mode:
        """A fresh context with the same mode."""
        return inference_mode(self._mode)
