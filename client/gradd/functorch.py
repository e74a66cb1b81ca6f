"""functorch's functions, which became `gradd.func`: https://pytorch.org/docs/stable/func.migrating.html"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from typing import Any

from . import func
from ._surface import namespace
from ._tensor import Tensor
from .nn import Module

__all__ = [
    "FunctionalModule", "FunctionalModuleWithBuffers", "combine_state_for_ensemble", "grad", "grad_and_value",
    "hessian", "jacfwd", "jacrev", "jvp", "make_functional", "make_functional_with_buffers", "vjp", "vmap",
]  # fmt: skip


def _deprecated(now: Callable[..., Any], instead: str) -> Callable[..., Any]:
    """A function that says once more what replaced it."""

    @functools.wraps(now)
    def older(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            "We've integrated functorch into PyTorch. As the final step of the integration, "
            f"`functorch.{now.__name__}` is deprecated as of PyTorch 2.0 and will be deleted in a future "
            f"version of PyTorch >= 2.3. Please use `{instead}` instead; see the PyTorch 2.0 release notes "
            "and/or the `torch.func` migration guide for more details "
            "https://pytorch.org/docs/main/func.migrating.html",
            FutureWarning,
            stacklevel=2,
        )
        return now(*args, **kwargs)

    return older


vmap = _deprecated(func.vmap, "torch.vmap")
grad, grad_and_value = (
    _deprecated(func.grad, "torch.func.grad"),
    _deprecated(func.grad_and_value, "torch.func.grad_and_value"),
)
vjp, jvp = _deprecated(func.vjp, "torch.func.vjp"), _deprecated(func.jvp, "torch.func.jvp")
jacrev, jacfwd = _deprecated(func.jacrev, "torch.func.jacrev"), _deprecated(func.jacfwd, "torch.func.jacfwd")
hessian = _deprecated(func.hessian, "torch.func.hessian")


class _OfTensors(Module):
    """A copy of a module as a function of its tensors, in order of their names."""

    def __init__(self, model: Module, names: Sequence[str]) -> None:
        super().__init__()
        self.stateless_model = model
        self._names = list(names)

    def _call(self, tensors: list[Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = dict(zip(self._names, tensors, strict=True))
        return func.functional_call(self.stateless_model, given, args, kwargs)


class FunctionalModule(_OfTensors):
    """A module as a function of its parameters."""

    def forward(self, params: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        """The module's result with these parameters."""
        return self._call(list(params), args, kwargs)


class FunctionalModuleWithBuffers(_OfTensors):
    """A module as a function of its parameters and buffers."""

    def forward(self, params: Iterable[Tensor], buffers: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        """The module's result with these parameters and buffers."""
        return self._call([*params, *buffers], args, kwargs)


def _taken_apart(
    model: Module, disable_autograd_tracking: bool
) -> tuple[FunctionalModuleWithBuffers, tuple[Any, ...], tuple[Any, ...]]:
    made = deepcopy(model)
    params, buffers = dict(made.named_parameters()), dict(made.named_buffers())
    if disable_autograd_tracking:
        made.requires_grad_(False)
    function = FunctionalModuleWithBuffers(made, [*params, *buffers])
    return function, tuple(params.values()), tuple(buffers.values())


def _make_functional(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, tuple[Any, ...]]:
    """A copy of `model` as a function of its parameters, and those; RuntimeError if it has buffers."""
    if list(model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) "
            "instead."
        )
    function, params, _ = _taken_apart(model, disable_autograd_tracking)
    return FunctionalModule(function.stateless_model, function._names), params


def _make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[Any, ...], tuple[Any, ...]]:
    """A copy of `model` as a function of its parameters and buffers, the parameters, and the buffers."""
    return _taken_apart(model, disable_autograd_tracking)


def _combine_state_for_ensemble(
    models: Sequence[Module],
) -> tuple[FunctionalModuleWithBuffers, tuple[Any, ...], tuple[Any, ...]]:
    """The first of `models` as a function, and the parameters and buffers of all, stacked.

    RuntimeError if their classes or modes differ.
    """
    if len(models) == 0:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError(
            "combine_state_for_ensemble: Expected all models to have the same training/eval mode."
        )
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("combine_state_for_ensemble: Expected all models to be of the same class.")
    functions, params, buffers = zip(*(_taken_apart(m, False) for m in models), strict=True)
    stack = namespace("")["stack"]
    stacked = [
        tuple(stack(list(held)).detach() for held in zip(*tensors, strict=True))
        for tensors in (params, buffers)
    ]
    return functions[0], stacked[0], stacked[1]


def _named(now: Callable[..., Any], instead: str) -> Callable[..., Any]:
    now.__name__ = now.__name__.removeprefix("_")
    return _deprecated(now, instead)


make_functional = _named(_make_functional, "torch.func.functional_call")
make_functional_with_buffers = _named(_make_functional_with_buffers, "torch.func.functional_call")
combine_state_for_ensemble = _named(_combine_state_for_ensemble, "torch.func.stack_module_state")
