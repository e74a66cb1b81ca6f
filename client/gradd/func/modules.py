"""Modules for function transforms: torch.func.stack_module_state and replace_all_batch_norm_modules_."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradd_engine.ops.index.joining import stack

from ..nn._functional_call import functional_call
from ..nn.normalization import _BatchNorm

if TYPE_CHECKING:
    from .._tensor import Tensor
    from ..nn import Module


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Parameters and buffers of modules of one class, stacked by name along a new first dimension.

    RuntimeError if classes, modes or flags differ. See
    https://pytorch.org/docs/stable/generated/torch.func.stack_module_state.html.
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(m) for m in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return (
        _stacked([dict(m.named_parameters()) for m in models]),
        _stacked([dict(m.named_buffers()) for m in models]),
    )


def _stacked(states: list[dict[str, Any]]) -> dict[str, Tensor]:
    out: dict[str, Tensor] = {}
    for name in states[0]:
        some = [state[name] for state in states]
        if len({t.requires_grad for t in some}) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        joined: Any = stack(some)
        out[name] = joined.detach().requires_grad_() if some[0].requires_grad else joined
    return out


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Remove the running statistics of all batch norms in `root`, in place; returns `root`.

    Writing to them within vmap is an error (torch.func.replace_all_batch_norm_modules_).
    """
    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


__all__ = ["functional_call", "replace_all_batch_norm_modules_", "stack_module_state"]
