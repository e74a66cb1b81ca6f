"""Parameter and Buffer: tensors that a module registers when they are assigned to it."""

from __future__ import annotations

from typing import Any

from .._tensor import Tensor, TensorType, as_subclass, type_name


class Parameter(Tensor):
    """A leaf that shares the memory of `data`, registered when assigned to a `Module`.

    `data`: a tensor of a floating or complex dtype (None: an empty one); of any dtype without
    `requires_grad`.
    """

    _printed = "torch.nn.parameter.Parameter"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        """Share the memory of `data`; TypeError for a non-tensor, RuntimeError for a dtype without
        gradients.
        """
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
        """Does nothing: `__new__` returns a complete tensor."""

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
    """A tensor that shares the memory of `data`, registered as a buffer when assigned to a `Module`.

    A plain tensor with a mark. `data`: a tensor (None: an empty one); `persistent`: whether it is part of the
    module's state_dict.
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
