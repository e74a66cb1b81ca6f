"""Parameter and Buffer: tensors that a module registers when they are assigned to it."""

from __future__ import annotations

from typing import Any

from .._tensor import Tensor, TensorType, as_subclass, disabled, type_name


class Parameter(Tensor):
    """A leaf that shares the memory of `data`, registered when assigned to a `Module`.

    `data`: a tensor of a floating or complex dtype (None: an empty one); of any dtype without
    `requires_grad`.
    """

    _printed = "torch.nn.parameter.Parameter"
    __torch_function__ = staticmethod(disabled)

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
    __torch_function__ = staticmethod(disabled)

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Any:
        """Share the memory of `data`, without its history."""
        if data is None:
            from ._make import empty

            data = empty((0,))
        made: Any = data.detach().requires_grad_(data.requires_grad)
        made.persistent, made._is_buffer = persistent, True
        return made


class _Uninitialized:
    """A parameter or buffer whose shape is not known yet; see `LazyModuleMixin`."""

    cls_to_become: type

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a plain parameter or buffer of that shape, with arbitrary values."""
        from ._make import empty

        made = empty(tuple(shape), self.dtype if dtype is None else dtype)
        self.__class__ = self.cls_to_become
        self.data = made

    @property
    def shape(self) -> Any:
        """Not known yet: RuntimeError."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
            "`forward` to initialize the parameters before accessing their attributes."
        )

    def numel(self) -> int:
        """Not known yet: ValueError."""
        raise ValueError(
            "Attempted to use an uninitialized parameter in numel. This error happens when you are using a "
            f"`LazyModule` or explicitly manipulating `torch.nn.parameter.{type(self).__name__}` objects. "
            "When using LazyModules Call `forward` with a dummy batch to initialize the parameters before "
            "calling torch functions"
        )

    nelement = numel

    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        """One of another dtype."""
        data = self._plain().to(*args, **kwargs)
        return self if data.dtype is self.dtype else data

    def _plain(self: Any) -> Any:
        """What it holds, as a tensor of no elements."""
        from ._make import empty

        return empty((0,), self.dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    __str__ = __repr__


def is_lazy(param: Any) -> bool:
    """Whether `param` is an UninitializedParameter or UninitializedBuffer."""
    return isinstance(param, _Uninitialized)


class UninitializedParameter(_Uninitialized, Parameter):
    """A parameter whose shape is not known yet: it may be converted to a dtype, and materialized."""

    cls_to_become = Parameter
    _printed = "torch.nn.parameter.UninitializedParameter"

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        """One of no elements; the device has no effect."""
        from ._make import empty

        made = as_subclass(empty((0,), dtype), cls)
        made.requires_grad = requires_grad
        return made

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        """Does nothing: `__new__` returns a complete tensor."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, dtype=self.dtype)
        return memo[id(self)]


class UninitializedBuffer(_Uninitialized, Tensor):
    """A buffer whose shape is not known yet: it may be converted to a dtype, and materialized."""

    cls_to_become = Tensor
    __torch_function__ = staticmethod(disabled)
    _printed = "torch.nn.parameter.UninitializedBuffer"

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        """One of no elements; the device has no effect."""
        from ._make import empty

        made: Any = as_subclass(empty((0,), dtype), cls)
        made.requires_grad = requires_grad
        made.persistent, made._is_buffer = persistent, True
        return made

    def __init__(
        self, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> None:
        """Does nothing: `__new__` returns a complete tensor."""

    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        """One of another dtype."""
        dtype = self._plain().to(*args, **kwargs).dtype
        return self if dtype is self.dtype else type(self)(dtype=dtype, persistent=self.persistent)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            made: Any = type(self)(self.requires_grad, dtype=self.dtype)
            made.persistent = self.persistent  # type: ignore[attr-defined]
            memo[id(self)] = made
        return memo[id(self)]
