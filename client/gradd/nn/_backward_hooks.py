"""Backward hooks of modules: a node before and one behind a call tell the gradients there.

Source: https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from gradd_engine.function import Function
from gradd_engine.state import state

from .._tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class BackwardHookFunction(Function):
    """Passes tensors on, and their gradients back."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        ctx.mark_non_differentiable(*[a for a in args if not a.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads


class Around:
    """Runs the backward hooks of one call of a module: ``hook(module, grad_input, grad_output)`` once the
    gradients of its inputs are known, ``pre(module, grad_output)`` before they are computed.
    """

    def __init__(self, module: Any, hooks: Sequence[Any], pre_hooks: Sequence[Any]) -> None:
        self._module, self._hooks, self._pre_hooks = module, hooks, pre_hooks
        self._grad_outputs: tuple[Any, ...] | None = None
        #: which of the inputs, and of the outputs, are tensors; None where none needs a gradient
        self._inputs: list[int] | None = None
        self._outputs: list[int] | None = None
        self._counts = 0, 0

    def before(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments to call the module with."""
        found, self._inputs = _joined(args, self._at_inputs)
        self._counts = len(args), 0
        return found

    def after(self, result: Any) -> Any:
        """What the call gives, of what the module gave; UserWarning where that is no tensor, or tuple of
        tensors.
        """
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                f"received {type(result)}",
                UserWarning,
                stacklevel=4,
            )
        outputs = result if isinstance(result, tuple) else (result,)
        self._counts = self._counts[0], len(outputs)
        found, self._outputs = _joined(outputs, self._at_outputs)
        return found if isinstance(result, tuple) else found[0]

    def _at_inputs(self, grad_inputs: tuple[Any, ...], _: Any) -> tuple[Any, ...] | None:
        # Without gradients of the outputs this pass came by another way than through the module.
        if self._grad_outputs is None:
            return None
        found = _spread(self._inputs, grad_inputs, self._counts[0])
        for hook in self._hooks:
            out = hook(self._module, found, self._grad_outputs)
            if out is None:
                continue
            if len(out) != len(found):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(out)}, but expected "
                    f"{len(found)}"
                )
            found = out
        self._grad_outputs = None
        return tuple(found[i] for i in self._inputs or ())

    def _at_outputs(self, _: Any, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        found = _spread(self._outputs, grads, self._counts[1])
        for hook in self._pre_hooks:
            out = hook(self._module, found)
            if out is None:
                continue
            if len(out) != len(found):
                raise RuntimeError(
                    f"Backward pre hook returned an invalid number of grad_output, got {len(out)}, but "
                    f"expected {len(found)}"
                )
            found = out
        self._grad_outputs = found
        if self._inputs is None:
            self._without_inputs(found)
        return tuple(found[i] for i in self._outputs or ())

    def _without_inputs(self, grad_outputs: tuple[Any, ...]) -> None:
        """No input needs a gradient: the hooks run where the outputs' arrive."""
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since "
            "no inputs require gradients. See "
            "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
            "#torch.nn.Module.register_full_backward_hook for more details.",
            UserWarning,
            stacklevel=2,
        )
        for hook in self._hooks:
            out = hook(self._module, (None,) * self._counts[0], grad_outputs)
            if out is not None and not (isinstance(out, tuple) and all(g is None for g in out)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or "
                    "None for all gradients."
                )
        self._grad_outputs = None


def _joined(
    args: tuple[Any, ...], told: Callable[[tuple[Any, ...], tuple[Any, ...]], Any]
) -> tuple[tuple[Any, ...], list[int] | None]:
    """The arguments, their tensors behind one node whose hook is `told`, and where these stand; None where
    no gradient goes there.
    """
    at = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
    if not state.grad or not any(args[i].requires_grad for i in at):
        return args, None

    def hook(grad_inputs: Any, grad_outputs: Any) -> Any:
        return told(grad_inputs, grad_outputs)

    made = BackwardHookFunction.apply(*[args[i] for i in at])
    next(t.grad_fn for t in made if t.grad_fn is not None).register_hook(hook)
    found = list(args)
    for i, t in zip(at, made, strict=True):
        found[i] = t
    return (tuple(found) if type(args) is tuple else type(args)(*found)), at


def _spread(at: list[int] | None, values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    found = [None] * count
    for i, value in zip(at or (), values, strict=True):
        found[i] = value
    return tuple(found)
