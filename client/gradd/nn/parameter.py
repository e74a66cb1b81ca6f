"""Parameter and Buffer: the tensors that a module takes up by assignment."""

from __future__ import annotations

from typing import Any

from .._tensor import Tensor, TensorType, as_subclass, type_name


class Parameter(Tensor):
    """A leaf over the memory of `data`, which a `Module` takes up by assignment.

    `data`: a tensor of a floating or complex dtype (None: an empty one), of any if not `requires_grad`.
    """

    _printed = "torch.nn.parameter.Parameter"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        """Share the memory of `data`; TypeError for no tensor, RuntimeError for a dtype without gradients."""
        if data is None:
            from ._make import empty

            data = empty((0,))
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter data must be a Tensor, not {type_name(data)}")
        if requires_grad and not data.dtype.differentiable:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        made: Parameter = as_subclass(data.detach(), cls)
        if requires_grad:
            made.requires_grad = True
        return made

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        """The tensor is complete as `__new__` returns it."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        found: Parameter = memo[id(self)]
        return found

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    __str__ = __repr__


class _Buffers(TensorType):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_Buffers):
    """A tensor over the memory of `data` that a `Module` takes up by assignment, as a buffer.

    It is a plain tensor, marked. `data`: a tensor (None: an empty one); `persistent`: whether it is part of
    the module's state_dict.
    """

    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        """Share the memory of `data`, without its history."""
        if data is None:
            from ._make import empty

            data = empty((0,))
        made: Any = data.detach().requires_grad_(data.requires_grad)
        made.persistent, made._is_buffer = persistent, True
        return made
