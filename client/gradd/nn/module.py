"""Module: the base of all layers and models (torch.nn.Module)."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, ClassVar, Self

from gradd_engine import dtypes
from gradd_engine.dtypes import DType
from gradd_engine.gradients import zero_grad
from gradd_engine.modes import no_grad
from gradd_engine.nodes import RemovableHandle

from .._tensor import Tensor
from . import _state_dict
from ._backward_hooks import Around
from ._tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


class Module(Tree):
    """Holds parameters, buffers and other modules; calling it runs `forward` and its hooks."""

    training: bool
    _hook_lists: ClassVar[tuple[str, ...]] = (
        "_forward_pre_hooks",
        "_forward_hooks",
        "_backward_pre_hooks",
        "_backward_hooks",
    )
    _forward_pre_hooks: list[Any]
    _forward_hooks: list[Any]
    _backward_pre_hooks: list[Any]
    _backward_hooks: list[Any]

    def __init__(self) -> None:
        super().__init__()
        self.__dict__.update(training=True, **{name: [] for name in self._hook_lists})

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; every subclass gives its own."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (
            self._forward_pre_hooks or self._forward_hooks or self._backward_hooks or self._backward_pre_hooks
        ):
            return self.forward(*args, **kwargs)
        return self._with_hooks(args, kwargs)

    # -- hooks -------------------------------------------------------------------------------------

    def _with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        called: set[int] = set()
        try:
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
            around = None
            if self._backward_hooks or self._backward_pre_hooks:
                hooks, pre_hooks = (
                    [hook for ((hook, _, _),) in some]
                    for some in (self._backward_hooks, self._backward_pre_hooks)
                )
                around = Around(self, hooks, pre_hooks)
                args = around.before(args)
            result = self.forward(*args, **kwargs)
            for entry in list(self._forward_hooks):
                called.add(id(entry))
                result = self._after(entry, args, kwargs, result)
            if around is not None:
                result = around.after(result)
        except Exception:
            for entry in list(self._forward_hooks):
                if entry[0][2] and id(entry) not in called:
                    self._after(entry, args, kwargs, None)
            raise
        return result

    def _after(self, entry: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
        ((hook, with_kwargs, _),) = entry
        changed = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
        return result if changed is None else changed

    @staticmethod
    def _add_hook(
        registry: list[Any], hook: Any, prepend: bool, with_kwargs: bool, always: bool = False
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
        """Call ``hook(module, grad_input, grad_output)`` in a pass once the gradients of the module's inputs
        are known; what it returns replaces them. None stands for what needs no gradient.
        """
        return self._add_hook(self._backward_hooks, hook, prepend, False)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` in a pass before the gradients of the module's inputs are
        computed; what it returns, a tuple, replaces those of its outputs.
        """
        return self._add_hook(self._backward_pre_hooks, hook, prepend, False)

    # -- modes and flags ---------------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Set training mode for this module and all below it."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self) -> Self:
        """The same as ``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether the parameters get gradients."""
        for p in self.parameters():
            p.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters, in one recorded step."""
        held = [p for p in self.parameters() if p.requires_grad or p._grad is not None]
        if held:
            zero_grad(held, set_to_none=set_to_none)

    # -- conversions -------------------------------------------------------------------------------

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        for child in self.children() if recurse else ():
            child._apply(fn)
        for param in self._parameters.values():
            if param is None:
                continue
            with no_grad():
                changed = fn(param)
            if changed is not param:
                gradient = param.grad
                if gradient is not None:
                    with no_grad():
                        gradient = fn(gradient).requires_grad_(gradient.requires_grad)
                    param.grad = None
                param.data = changed
                param.grad = gradient
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def _to_dtype(self, dtype: DType) -> Self:
        return self._apply(lambda t: t.to(dtype) if t.dtype.is_floating_point else t)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Convert floating parameters and buffers to a dtype; devices are accepted and are the session's.

        Called as ``to(device, dtype)``, ``to(dtype)`` or ``to(tensor)``; TypeError for an integer dtype.
        """
        given = [*args, kwargs.get("dtype"), kwargs.get("tensor")]
        dtype = next((a for a in given if isinstance(a, DType)), None)
        other = next((a for a in given if isinstance(a, Tensor)), None)
        dtype = other.dtype if dtype is None and other is not None else dtype
        if dtype is None:
            return self
        if not dtype.differentiable:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )
        wanted = dtype
        return self._apply(lambda t: t.to(wanted) if t.dtype.differentiable else t)

    def type(self, dst_type: DType) -> Self:
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda t: t.to(dst_type))

    def cpu(self) -> Self:
        """This module: a session has one device."""
        return self

    def cuda(self, device: Any = None) -> Self:
        """This module: a session has one device."""
        return self

    def float(self) -> Self:
        """Convert floating parameters and buffers to float32."""
        return self._to_dtype(dtypes.float32)

    def double(self) -> Self:
        """Convert floating parameters and buffers to float64."""
        return self._to_dtype(dtypes.float64)

    def half(self) -> Self:
        """Convert floating parameters and buffers to float16."""
        return self._to_dtype(dtypes.float16)

    def bfloat16(self) -> Self:
        """Convert floating parameters and buffers to bfloat16."""
        return self._to_dtype(dtypes.bfloat16)

    # -- state -------------------------------------------------------------------------------------

    def state_dict(
        self, *, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Parameters and persistent buffers by dotted name: detached, or themselves with `keep_vars`."""
        into = OrderedDict() if destination is None else destination
        _state_dict.collect(self, into, prefix, keep_vars)
        return into

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _state_dict._IncompatibleKeys:
        """Copy `state_dict` into this module's tensors, or put its tensors in their place with `assign`.

        RuntimeError lists every size that does not fit and, when `strict`, every missing and unexpected name.
        """
        return _state_dict.load(self, state_dict, strict, assign)

    # -- text --------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What to print between the parentheses of this module's own line."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        own = extra.split("\n") if extra else []
        lines = own + [f"({name}): {_indented(repr(child))}" for name, child in self._modules.items()]
        if len(lines) == 1 and own:
            body = lines[0]
        else:
            body = "".join(f"\n  {line}" for line in lines) + ("\n" if lines else "")
        return f"{self._get_name()}({body})"
