"""Hooks of tensors and nodes, in PyTorch's order and with its messages (torch.Tensor.register_hook,
autograd.graph.Node).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .backends import Backend


class Handle:
    """Removes a hook: by ``remove()``, any number of times, or at the end of a with block."""

    def __init__(self, registry: list[Any], hook: Callable[..., Any]) -> None:
        self._registry = registry
        self._entry = (hook,)
        registry.append(self._entry)

    def remove(self) -> None:
        """Take the hook out; later calls do nothing."""
        self._registry[:] = [e for e in self._registry if e is not self._entry]

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def refuse_recorded(backend: Backend) -> None:
    """A client's mirror cannot run hooks yet: say so instead of losing them."""
    if backend.listener is not None:
        raise NotImplementedError("hooks on remote tensors are not yet supported by gradd")


def register_tensor_hook(t: Tensor, hook: Callable[[Tensor], Any]) -> Handle:
    """See Tensor.register_hook; RuntimeError when `t` needs no gradient."""
    if not t.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    refuse_recorded(t.backend)
    fn = t.grad_fn
    if fn is None:
        if t._hooks is None:
            t._hooks = []
        return Handle(t._hooks, hook)
    if fn.tensor_hooks is None:
        fn.tensor_hooks = {}
    return Handle(fn.tensor_hooks.setdefault(t._nr, []), hook)


def register_post_accumulate(t: Tensor, hook: Callable[[Tensor], None]) -> Handle:
    """See Tensor.register_post_accumulate_grad_hook; RuntimeError on non-leaf tensors."""
    if not t.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if t.grad_fn is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    refuse_recorded(t.backend)
    if t._post_hooks is None:
        t._post_hooks = []
    return Handle(t._post_hooks, hook)


def _name(hook: Any) -> str:
    return getattr(hook, "__name__", "<unknown>")


def run_tensor_hooks(hooks: list[Any], g: Tensor) -> Tensor:
    """Run hooks in order; each may replace the gradient by one of equal shape and dtype."""
    for (hook,) in list(hooks):
        found = hook(g)
        if found is None:
            continue
        if not isinstance(found, Tensor):
            raise TypeError(f"expected Variable, but hook returned '{type(found).__name__}'")
        if found.dtype is not g.dtype:
            raise RuntimeError(
                f"hook '{_name(hook)}' has changed the type of value (was {g.dtype.tensor_type} got "
                f"{found.dtype.tensor_type})"
            )
        if found.shape != g.shape:
            raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")
        g = found
    return g


def run_post_accumulate(hooks: list[Any], t: Tensor) -> None:
    """Run hooks on the leaf whose .grad was just accumulated."""
    for (hook,) in list(hooks):
        found = hook(t)
        if found is not None:
            raise TypeError(f"expected Variable, but hook returned '{type(found).__name__}'")


def _replaced(hook: Any, found: Any, values: Sequence[Any]) -> Sequence[Any]:
    if found is None:
        return values
    if not isinstance(found, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(found).__name__}'")
    if len(found) != len(values):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(found)}, but "
            f"expected {len(values)})"
        )
    return list(found)


def run_pre_hooks(hooks: list[Any], grads: list[Any]) -> list[Any]:
    """Run a node's prehooks: f(grad_outputs) -> None or a tuple."""
    for (hook,) in list(hooks):
        grads = list(_replaced(hook, hook(tuple(grads)), grads))
    return grads


def run_post_hooks(hooks: list[Any], found: Sequence[Any], grads: Sequence[Any]) -> Sequence[Any]:
    """Run a node's hooks: f(grad_inputs, grad_outputs) -> None or a tuple."""
    for (hook,) in list(hooks):
        found = _replaced(hook, hook(tuple(found), tuple(grads)), found)
    return found


Tensor.register_hook = register_tensor_hook
Tensor.register_post_accumulate_grad_hook = register_post_accumulate
