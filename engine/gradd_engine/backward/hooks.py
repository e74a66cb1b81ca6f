"""Hooks of tensors and nodes, in PyTorch's order and with its messages (torch.Tensor.register_hook,
autograd.graph.Node).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from ..data import state
from ..tensor import (
    ACCUMULATED,
    BODY,
    GRADIENTS,
    POSTHOOKS,
    PREHOOKS,
    AccumulateGrad,
    Node,
    RemovableHandle,
    Tensor,
    edge_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def register_tensor_hook(t: Tensor, hook: Callable[[Tensor], Any]) -> RemovableHandle:
    """See Tensor.register_hook; RuntimeError when `t` needs no gradient."""
    if not t.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    edge = edge_of(t)
    if edge is None or edge.node.leaf:
        if t._hooks is None:
            t._hooks = []
        return RemovableHandle(t._hooks, hook)
    if edge.node.tensor_hooks is None:
        edge.node.tensor_hooks = {}
    return RemovableHandle(edge.node.tensor_hooks.setdefault(edge.nr, []), hook)


def register_post_accumulate(t: Tensor, hook: Callable[[Tensor], None]) -> RemovableHandle:
    """See Tensor.register_post_accumulate_grad_hook; RuntimeError on non-leaf tensors."""
    if not t.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not t.is_leaf:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    if t._post_hooks is None:
        t._post_hooks = []
    return RemovableHandle(t._post_hooks, hook)


def _name(hook: Any) -> str:
    return getattr(hook, "__name__", "<unknown>")


def _taken(hook: Any, found: Any, value: Tensor | None) -> Any:
    """What a hook returned for a gradient: one of equal shape and dtype, or None."""
    if found is None or found is value:
        return found
    if value is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(found, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(found).__name__}'")
    if found.dtype is not value.dtype:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the type of value (was {value.dtype.value_type} got "
            f"{found.dtype.value_type})"
        )
    if found.shape != value.shape:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")
    return found


def run_tensor_hooks(hooks: list[Any], g: Tensor | None) -> Tensor | None:
    """Run hooks in order, also where there is no gradient; each may replace it by one of equal shape and
    dtype.
    """
    for (hook,) in list(hooks):
        found = hook(g)
        if found is not None:
            g = _taken(hook, found, g)
    return g


def run_post_accumulate(hooks: list[Any], t: Tensor) -> None:
    """Run hooks on the leaf whose .grad was just accumulated; RuntimeError where one returned another."""
    if run_tensor_hooks(hooks, t) is not t:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


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
    return [_taken(hook, f, v) for f, v in zip(found, values, strict=True)]


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


def answer(at: str, node: Node, values: Sequence[Any]) -> list[Any]:
    """Call what stands at `node`, of the kind `at`; what the pass goes on with."""
    found = list(values)
    if at == GRADIENTS:
        for nr, hooks in node.output_hooks().items():
            found[nr] = run_tensor_hooks(hooks, found[nr])
        return found
    if at == PREHOOKS:
        return run_pre_hooks(node.pre_hooks or [], found)
    if at == POSTHOOKS:
        count = len(found) - node.width
        return list(run_post_hooks(node.post_hooks or [], found[:count], found[count:]))
    if at == ACCUMULATED:
        assert isinstance(node, AccumulateGrad)
        run_post_accumulate(node.variable._post_hooks or [], node.variable)
        return []
    return node.body(found) if at == BODY else node.unpacked()


class _Gathered:
    """The gradients that one pass has brought a multi-gradient hook so far."""

    def __init__(self, due: int, count: int) -> None:
        self.due = due
        self.grads: list[Tensor | None] = [None] * count


class MultiHandle:
    """Removes the hooks of several tensors at once."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self._handles = tuple(handles)

    def remove(self) -> None:
        """Take the hooks out; later calls do nothing."""
        for h in self._handles:
            h.remove()

    def __enter__(self) -> MultiHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., None], *, mode: str = "all"
) -> MultiHandle:
    """Call `fn` with the gradients of `tensors` once a pass ("all": a list, None where none comes), or with
    the first of them ("any", which passes over tensors that need no gradient).

    Source: https://pytorch.org/docs/stable/generated/torch.autograd.graph.register_multi_grad_hook.html.
    Raises ValueError for another mode, AssertionError for a tensor that needs no gradient.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        begun: WeakSet[Any] = WeakSet()

        def once(g: Tensor) -> None:
            if state.task not in begun:
                begun.add(state.task)
                fn(g)

        return MultiHandle([register_tensor_hook(t, once) for t in tensors if t.requires_grad])
    edges = [edge_of(t) for t in tensors]
    nodes = [e.node for e in edges if e is not None]
    if len(nodes) < len(edges):
        raise AssertionError("Expected gradient function to be set")
    # A pass within a pass gathers for itself.
    passes: WeakKeyDictionary[Any, _Gathered] = WeakKeyDictionary()

    def gather(index: int, g: Tensor) -> None:
        task = state.task
        if task not in passes:
            passes[task] = _Gathered(sum(task.will_run(node) for node in nodes), len(nodes))
        now = passes[task]
        now.grads[index] = g
        now.due -= 1
        if now.due == 0:
            fn(now.grads)
            del passes[task]

    return MultiHandle([register_tensor_hook(t, partial(gather, i)) for i, t in enumerate(tensors)])


def answered(given: Any, count: int) -> list[Any]:
    """The answer of callbacks, checked: one entry per gradient."""
    if given is None or len(given) != count:
        raise RuntimeError(
            f"a pass was answered with {0 if given is None else len(given)} gradients, not {count}"
        )
    return list(given)


# Python's messages about wrong arguments show these names.
register_tensor_hook.__qualname__ = "Tensor.register_hook"
register_post_accumulate.__qualname__ = "Tensor.register_post_accumulate_grad_hook"
