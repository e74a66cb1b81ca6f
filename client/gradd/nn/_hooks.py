"""Module hooks, before and after `forward` and the module's part of a backward pass.

Behaviour and messages follow https://pytorch.org/docs/stable/generated/torch.nn.Module.html
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from gradd_engine.custom import Function
from gradd_engine.graph import is_grad_enabled
from gradd_engine.tensor import RemovableHandle

from .._tensor import Tensor
from ._tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LISTS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
_MIXED = (
    "Cannot use both regular backward hooks and full backward hooks on a single Module. "
    "Please use only one of them."
)


class Hooked(Tree):
    """The hooks of a module, in order of registration, and the call that runs them."""

    _forward_pre_hooks: list[Any]
    _forward_hooks: list[Any]
    _backward_pre_hooks: list[Any]
    _backward_hooks: list[Any]
    _is_full_backward_hook: bool | None

    def __init__(self) -> None:
        super().__init__()
        self.__dict__.update({name: [] for name in _LISTS}, _is_full_backward_hook=None)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the module's result; defined by subclasses."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._forward_pre_hooks or self._forward_hooks or self._backward_hooks or self._backward_pre_hooks:
            return self._with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    # -- running them ------------------------------------------------------------------------------

    def _with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        called: set[int] = set()
        result = None
        try:
            args, kwargs = self._before(args, kwargs)
            around = None
            hooks = [hook for ((hook, _, _),) in self._backward_hooks]
            full = hooks if self._is_full_backward_hook else []
            if full or self._backward_pre_hooks:
                around = _Around(self, full, [hook for ((hook, _, _),) in self._backward_pre_hooks])
                args = around.inputs(args)
            result = self.forward(*args, **kwargs)
            for entry in list(self._forward_hooks):
                called.add(id(entry))
                result = self._after(entry, args, kwargs, result)
            if around is not None:
                if not isinstance(result, (Tensor, tuple)):
                    warnings.warn(
                        "For backward hooks to be called, module output should be a Tensor or a tuple of "
                        f"Tensors but received {type(result)}",
                        stacklevel=3,
                    )
                result = around.outputs(result)
            if hooks and not full:
                self._at_node(hooks, args, result)
        except Exception:
            for entry in list(self._forward_hooks):
                if entry[0][2] and id(entry) not in called:
                    try:
                        result = self._after(entry, args, kwargs, result)
                    except Exception as error:
                        warnings.warn(
                            "module forward hook with ``always_call=True`` raised an exception that was "
                            f"silenced as another error was raised in forward: {error}",
                            stacklevel=3,
                        )
            raise
        return result

    def _before(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        for ((hook, with_kwargs, _),) in list(self._forward_pre_hooks):
            if with_kwargs:
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

    def _after(self, entry: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
        ((hook, with_kwargs, _),) = entry
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
            problem = _missed_by_one_node(node, args, result)
            if problem is not None:
                warnings.warn(f"Using {problem}", FutureWarning, stacklevel=4)

    # -- registering them --------------------------------------------------------------------------

    @staticmethod
    def _add_hook(
        registry: list[Any], hook: Any, prepend: bool, with_kwargs: bool = False, always: bool = False
    ) -> RemovableHandle:
        handle = RemovableHandle(registry, (hook, with_kwargs, always))  # type: ignore[arg-type]
        if prepend:
            registry.insert(0, registry.pop())
        return handle

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before forward; what it returns replaces the arguments."""
        return self._add_hook(self._forward_pre_hooks, hook, prepend, with_kwargs)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after forward; what it returns replaces the output."""
        return self._add_hook(self._forward_hooks, hook, prepend, with_kwargs, always_call)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are known.

        Both are tuples, with a gradient or None for each positional argument or output; a returned tuple
        replaces `grad_input`. RuntimeError if the module has deprecated backward hooks.
        """
        if self._is_full_backward_hook is False:
            raise RuntimeError(_MIXED)
        self._is_full_backward_hook = True
        return self._add_hook(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before the module's part of a pass; a returned tuple replaces
        `grad_output`."""
        return self._add_hook(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Deprecated: call ``hook(module, grad_input, grad_output)`` at the node that made the output.

        RuntimeError if the module has full backward hooks.
        """
        if self._is_full_backward_hook is True:
            raise RuntimeError(_MIXED)
        self._is_full_backward_hook = False
        return self._add_hook(self._backward_hooks, hook, prepend=False)


def _missed_by_one_node(node: Any, args: Any, result: Any) -> str | None:
    """PyTorch's warning about what deprecated hooks do not see of this call, or None."""
    later = "is deprecated and will be removed in future versions. This hook will be missing some"
    advice = "Please use register_full_backward_hook to get the documented behavior."
    given, made = (v if isinstance(v, tuple) else (v,) for v in (args, result))
    if not all(isinstance(v, Tensor) for v in made):
        return (
            "non-full backward hooks on a Module that does not return a single Tensor or a tuple of Tensors "
            f"{later} of the grad_output. {advice}"
        )
    if not all(isinstance(v, Tensor) for v in given):
        return (
            "non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of "
            f"Tensors {later} of the grad_input. {advice}"
        )
    nodes = {v.grad_fn for v in made if v.grad_fn is not None}
    if len(nodes) > 1:
        return (
            "a non-full backward hook when outputs are generated by different autograd Nodes "
            f"{later} grad_output. {advice}"
        )
    if {v.grad_fn for v in given if v.grad_fn is not None} != {n for n, _ in node.next_functions}:
        return (
            "a non-full backward hook when the forward contains multiple autograd Nodes "
            f"{later} grad_input. {advice}"
        )
    return None


class BackwardHookFunction(Function):
    """The identity, whose nodes before and after a module carry its hooks."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """The arguments."""
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """The gradients."""
        return grads


class _Around:
    """One call of a module with full backward hooks: `inputs` and `outputs` put nodes before and after it."""

    def __init__(
        self, module: Hooked, hooks: list[Callable[..., Any]], pre_hooks: list[Callable[..., Any]]
    ) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        # Gradients at the outputs, from one node to the other in a pass
        self.received: Sequence[Any] | None = None
        self.count_in = self.count_out = 0
        self.tensors_in: list[int] | None = None
        self.tensors_out: list[int] | None = None

    def inputs(self, args: Any) -> Any:
        """The arguments, each tensor behind the node at which the hooks run."""
        args, self.tensors_in = _through_node(args, self._leave)
        self.count_in = len(args)
        return args

    def outputs(self, result: Any) -> Any:
        """What the module returned, each tensor behind the node at which the pre-hooks run."""
        args = result if isinstance(result, tuple) else (result,)
        self.count_out = len(args)
        args, self.tensors_out = _through_node(args, self._enter)
        return args if isinstance(result, tuple) else args[0]

    def _enter(self, _: Any, grads: Sequence[Any]) -> Any:
        assert self.tensors_out is not None
        received: Sequence[Any] = _spread(self.tensors_out, grads, self.count_out)
        for hook in self.pre_hooks:
            changed = hook(self.module, received)
            if changed is not None:
                if len(changed) != len(received):
                    raise RuntimeError(
                        "Backward pre hook returned an invalid number of grad_output, "
                        f"got {len(changed)}, but expected {len(received)}"
                    )
                received = changed
        self.received = received
        if self.tensors_in is None:
            self._without_inputs(received)
        return tuple(received[i] for i in self.tensors_out)

    def _without_inputs(self, received: Sequence[Any]) -> None:
        """Call the hooks at the outputs, if no input requires a gradient and has a node."""
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module outputs since "
            "no inputs require gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
            "#torch.nn.Module.register_full_backward_hook for more details.",
            stacklevel=5,
        )
        for hook in self.hooks:
            changed = hook(self.module, (None,) * self.count_in, received)
            if changed is not None and not (isinstance(changed, tuple) and all(g is None for g in changed)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or "
                    "None for all gradients."
                )
        self.received = None

    def _leave(self, grads: Sequence[Any], _: Any) -> Any:
        # A double backward may reach the inputs without passing the outputs.
        if self.received is None:
            return None
        assert self.tensors_in is not None
        given: Sequence[Any] = _spread(self.tensors_in, grads, self.count_in)
        for hook in self.hooks:
            changed = hook(self.module, given, self.received)
            if changed is not None:
                if len(changed) != len(given):
                    raise RuntimeError(
                        "Backward hook returned an invalid number of grad_input, "
                        f"got {len(changed)}, but expected {len(given)}"
                    )
                given = changed
        self.received = None
        return tuple(given[i] for i in self.tensors_in)


def _spread(places: Sequence[int], values: Sequence[Any], count: int) -> tuple[Any, ...]:
    found = dict(zip(places, values, strict=True))
    return tuple(found.get(i) for i in range(count))


def _through_node(args: Any, told: Callable[..., Any]) -> tuple[Any, list[int] | None]:
    """`args` with their tensors behind a node that calls `told`, and their positions; unchanged if none
    requires a gradient.
    """
    places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
    if not (is_grad_enabled() and any(args[i].requires_grad for i in places)):
        return args, None

    def hook(given: Any, got: Any) -> Any:  # its name is in messages, as in PyTorch
        return told(given, got)

    changed = list(args)
    made = BackwardHookFunction.apply(*[args[i] for i in places])
    for i, tensor in zip(places, made, strict=True):
        changed[i] = tensor
    next(t.grad_fn for t in made if t.requires_grad).register_hook(hook)
    # Named tuples take their fields as arguments.
    return (tuple(changed) if type(args) is tuple else type(args)(*changed)), places
