"""Hooks of optimizers: around steps, of one optimizer or of all, and around saving and loading states.

Source: https://pytorch.org/docs/stable/generated/torch.optim.Optimizer.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradd_engine.tensor import RemovableHandle

if TYPE_CHECKING:
    from collections.abc import Callable

_LISTS = (
    "_pre_hooks",
    "_post_hooks",
    "_state_dict_pre_hooks",
    "_state_dict_post_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)
#: hooks of all optimizers
_BEFORE: list[Any] = []
_AFTER: list[Any] = []


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of any optimizer."""
    return RemovableHandle(_BEFORE, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of any optimizer."""
    return RemovableHandle(_AFTER, hook)


class HookedSteps:
    """The hooks of an optimizer, in order of registration."""

    _pre_hooks: list[Any]
    _post_hooks: list[Any]
    _state_dict_pre_hooks: list[Any]
    _state_dict_post_hooks: list[Any]
    _load_state_dict_pre_hooks: list[Any]
    _load_state_dict_post_hooks: list[Any]

    def _make_hooks(self) -> None:
        self.__dict__.update({name: [] for name in _LISTS if name not in self.__dict__})

    def _before_step(self, step: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """What the step is to be called with; RuntimeError for a hook that returns anything else."""
        if not (_BEFORE or self._pre_hooks):
            return args, kwargs
        for (hook,) in [*_BEFORE, *self._pre_hooks]:
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not isinstance(changed, tuple) or len(changed) != 2:
                raise RuntimeError(
                    f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                )
            args, kwargs = changed
        return args, kwargs

    def _after_step(self, args: Any, kwargs: Any) -> None:
        for (hook,) in [*self._post_hooks, *_AFTER] if self._post_hooks or _AFTER else ():
            hook(self, args, kwargs)

    def _changed(self, hooks: list[Any], state: dict[str, Any]) -> dict[str, Any]:
        """The state, or what the hooks return in its place."""
        for (hook,) in list(hooks):
            result = hook(self, state)
            state = state if result is None else result
        return state

    def _tell(self, hooks: list[Any]) -> None:
        for (hook,) in list(hooks):
            hook(self)

    def _called(self) -> bool:
        """Whether a step calls hooks."""
        return bool(_BEFORE or self._pre_hooks or self._post_hooks or _AFTER)

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step; `args` begin with the optimizer.

        It may return new ones: a tuple of args and kwargs.
        """
        return RemovableHandle(self._pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step; `args` begin with the optimizer."""
        return RemovableHandle(self._post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before `state_dict`; before the other hooks with `prepend`."""
        return _added(self._state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after `state_dict`; it may return another."""
        return _added(self._state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before `load_state_dict`; it may return another."""
        return _added(self._load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after `load_state_dict`."""
        return _added(self._load_state_dict_post_hooks, hook, prepend)


def _added(hooks: list[Any], hook: Callable[..., Any], prepend: bool) -> RemovableHandle:
    handle = RemovableHandle(hooks, hook)
    if prepend:
        hooks.insert(0, hooks.pop())
    return handle
