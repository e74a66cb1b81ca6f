"""Module hooks, before and after `forward` and the module's part of a backward pass.

Behaviour and messages follow https://pytorch.org/docs/stable/generated/torch.nn.Module.html
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from .._tensor import Tensor
from . import _everywhere
from ._backward import Around, missed_by_one_node
from ._everywhere import BACKWARD, BACKWARD_PRE, FORWARD, FORWARD_PRE
from ._registry import HookHandle, Hooks, add
from ._tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HOOKS = (
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_backward_pre_hooks",
    "_backward_hooks",
)
_MIXED = (
    "Cannot use both regular backward hooks and full backward hooks on a single Module. "
    "Please use only one of them."
)


class Hooked(Tree):
    """The hooks of a module, in order of registration, and the call that runs them."""

    _forward_pre_hooks: Hooks
    _forward_pre_hooks_with_kwargs: dict[int, bool]
    _forward_hooks: Hooks
    _forward_hooks_with_kwargs: dict[int, bool]
    _forward_hooks_always_called: dict[int, bool]
    _backward_pre_hooks: Hooks
    _backward_hooks: Hooks
    _is_full_backward_hook: bool | None

    def __init__(self) -> None:
        super().__init__()
        self.__dict__.update({name: OrderedDict() for name in HOOKS}, _is_full_backward_hook=None)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's result; defined by subclasses."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (
            self._forward_pre_hooks
            or self._forward_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or FORWARD_PRE
            or FORWARD
            or BACKWARD
            or BACKWARD_PRE
        ):
            return self._with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    # -- running them ------------------------------------------------------------------------------

    def _with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        called: set[int] = set()
        result = None
        try:
            before = [*BACKWARD_PRE.values(), *self._backward_pre_hooks.values()]
            full, at_node = self._backward_kinds()
            args, kwargs = self._before(args, kwargs)
            around = None
            if full or before:
                around = Around(self, full, before)
                args = around.inputs(args)
            result = self.forward(*args, **kwargs)
            for number, hook in (*FORWARD.items(), *self._forward_hooks.items()):
                called.add(number)
                result = self._after(number, hook, args, kwargs, result)
            if around is not None:
                if not isinstance(result, (Tensor, tuple)):
                    warnings.warn(
                        "For backward hooks to be called, module output should be a Tensor or a tuple of "
                        f"Tensors but received {type(result)}",
                        stacklevel=3,
                    )
                result = around.outputs(result)
            if at_node:
                self._at_node(at_node, args, result)
        except Exception:
            for always, hooks, what in (
                (_everywhere.ALWAYS, FORWARD, "global module"),
                (self._forward_hooks_always_called, self._forward_hooks, "module"),
            ):
                for number in [n for n in hooks if n in always and n not in called]:
                    try:
                        result = self._after(number, hooks[number], args, kwargs, result)
                    except Exception as error:
                        warnings.warn(
                            f"{what} forward hook with ``always_call=True`` raised an exception that was "
                            f"silenced as another error was raised in forward: {error}",
                            stacklevel=3,
                        )
            raise
        return result

    def _backward_kinds(self) -> tuple[list[Any], list[Any]]:
        """The full backward hooks, and the deprecated ones; those of all modules first."""
        found: tuple[list[Any], list[Any]] = ([], [])
        for hooks, full in (
            (BACKWARD, _everywhere.KIND.get("is_full")),
            (self._backward_hooks, self._is_full_backward_hook),
        ):
            found[not full].extend(hooks.values())
        return found

    def _before(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        for number, hook in (*FORWARD_PRE.items(), *self._forward_pre_hooks.items()):
            if number in self._forward_pre_hooks_with_kwargs:
                changed = hook(self, args, kwargs)
                if changed is not None:
                    if not isinstance(changed, tuple) or len(changed) != 2:
                        raise RuntimeError(
                            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                            f"but got {changed}."
                        )
                    args, kwargs = changed
            else:
                changed = hook(self, args)
                if changed is not None:
                    args = changed if isinstance(changed, tuple) else (changed,)
        return args, kwargs

    def _after(
        self, number: int, hook: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
    ) -> Any:
        with_kwargs = number in self._forward_hooks_with_kwargs or number in _everywhere.WITH_KWARGS
        changed = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
        return result if changed is None else changed

    def _at_node(self, hooks: Sequence[Callable[..., Any]], args: Any, result: Any) -> None:
        """Register deprecated hooks at the node of the first tensor returned."""
        first = result
        while not isinstance(first, Tensor):
            if isinstance(first, dict):
                first = next(v for v in first.values() if isinstance(v, Tensor))
            else:
                first = first[0]
        node = first.grad_fn
        if node is not None:
            for hook in hooks:
                node.register_hook(lambda given, got, hook=hook: hook(self, given, got))
            problem = missed_by_one_node(node, args, result)
            if problem is not None:
                warnings.warn(f"Using {problem}", FutureWarning, stacklevel=4)

    # -- registering them --------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookHandle:
        """Call ``hook(module, args)`` before forward; what it returns replaces the arguments."""
        marks = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return add(self._forward_pre_hooks, hook, *marks, first=prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> HookHandle:
        """Call ``hook(module, args, output)`` after forward; what it returns replaces the output."""
        marks = [self._forward_hooks_with_kwargs] if with_kwargs else []
        marks += [self._forward_hooks_always_called] if always_call else []
        return add(self._forward_hooks, hook, *marks, first=prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> HookHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are known.

        Both are tuples, with a gradient or None for each positional argument or output; a returned tuple
        replaces `grad_input`. RuntimeError if the module has deprecated backward hooks.
        """
        if self._is_full_backward_hook is False:
            raise RuntimeError(_MIXED)
        self._is_full_backward_hook = True
        return add(self._backward_hooks, hook, first=prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> HookHandle:
        """Call ``hook(module, grad_output)`` before the module's part of a pass; a returned tuple replaces
        `grad_output`."""
        return add(self._backward_pre_hooks, hook, first=prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Deprecated: call ``hook(module, grad_input, grad_output)`` at the node that made the output.

        RuntimeError if the module has full backward hooks.
        """
        if self._is_full_backward_hook is True:
            raise RuntimeError(_MIXED)
        self._is_full_backward_hook = False
        return add(self._backward_hooks, hook)
