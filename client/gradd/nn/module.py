"""Module: the base of all layers and models (torch.nn.Module)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from gradd_engine.backward import zero_grad
from gradd_engine.data import DType, dtypes
from gradd_engine.graph import no_grad

from .._surface import namespace
from .._tensor import Tensor
from ..compiler import note
from ._overview import html_of
from ._state_dict import Loadable
from ._tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


class Module(Loadable):
    """Holds parameters, buffers and other modules; calling it runs `forward` and its hooks."""

    training: bool
    #: whether `__init__` goes on to the bases beside it, with its arguments
    call_super_init: bool = False
    dump_patches: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if not self.call_super_init and (args or kwargs):
            name = f"{type(self).__name__}.__init__()"
            if kwargs:
                raise TypeError(f"{name} got an unexpected keyword argument '{next(iter(kwargs))}'")
            raise TypeError(f"{name} takes 1 positional argument but {len(args) + 1} were given")
        super().__init__()
        self.__dict__["training"] = True
        if self.call_super_init:
            super(Tree, self).__init__(*args, **kwargs)

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
        """Convert floating parameters and buffers to a dtype; devices have no effect.

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

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """Replace the values of all parameters and buffers by arbitrary ones; devices have no effect."""
        empty_like = namespace("")["empty_like"]
        return self._apply(lambda t: empty_like(t), recurse)

    def share_memory(self) -> Self:
        """This module: what a session holds is shared by all who attach to it."""
        return self

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Does nothing, and says so once: a step that repeats is compiled in the daemon by itself."""
        note("torch.nn.Module.compile")

    def cpu(self) -> Self:
        """This module, since a session has one device."""
        return self

    def cuda(self, device: Any = None) -> Self:
        """This module, since a session has one device."""
        return self

    def xpu(self, device: Any = None) -> Self:
        """This module, since a session has one device."""
        return self

    ipu = mtia = xpu

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

    # -- text --------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """The text between the parentheses of this module's own line."""
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

    def _repr_html_(self) -> str:
        return html_of(self)
