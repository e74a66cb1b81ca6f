"""Tensors created by their class, `Tensor(2, 3)` or `FloatTensor([1, 2])`, and what `type(x)` prints.

As in https://pytorch.org/docs/stable/tensors.html; newer code uses `tensor` and `empty`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradd_engine.data import dtypes
from gradd_engine.tensor import Tensor as EngineTensor

from .overriding import ours, overrides

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradd_engine.data import DType


class TensorType(type):
    """The metaclass of `Tensor`, which is called with torch.Tensor's arguments and prints like it."""

    #: creates an instance from a class's arguments; set by `_surface.methods`
    make: ClassVar[Callable[..., Any]]
    #: told of the first class of a user's own that overrides functions; set by `_surface.overridable`
    began: ClassVar[Callable[[], None]]
    #: what such classes are derived from in the place of `Tensor`: (`Tensor`, its stand-in)
    derived: ClassVar[tuple[type, type] | None] = None

    def __new__(
        mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any
    ) -> TensorType:
        """Derive classes of users from what can be made of data."""
        by_users = not ours(namespace.get("__module__", ""))
        if mcls.derived is not None and by_users:
            plain, stand_in = mcls.derived
            bases = tuple(stand_in if base is plain else base for base in bases)
        made = super().__new__(mcls, name, bases, namespace, **kwargs)
        if by_users and overrides(made):
            TensorType.began()
        return made

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """A tensor of the default dtype; see `_surface.creation.made`. Subclasses are created as usual."""
        if cls.__dict__.get("_by_users"):
            if kwargs:
                raise TypeError(f"new() got an unexpected keyword argument {next(iter(kwargs))!r}")
            return TensorType.make(dtypes.default_dtype(), *args)
        return super().__call__(*args, **kwargs)

    def __repr__(cls) -> str:
        name = cls.__dict__.get("_printed")
        return f"<class '{name}'>" if name else super().__repr__()


class _OfDtype(type):
    """The metaclass of `FloatTensor` etc., whose instances are the tensors of one dtype."""

    dtype: DType

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, EngineTensor) and instance.dtype is cls.dtype

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        return TensorType.make(cls.dtype, *args)

    def __repr__(cls) -> str:
        return f"<class '{cls.dtype.tensor_type}'>"


def type_name(value: object) -> str:
    """The type of `value` as in PyTorch's messages: ``torch.FloatTensor``, ``int``, ``numpy.ndarray``."""
    if isinstance(value, EngineTensor):
        return value.dtype.tensor_type
    kind = type(value)
    return (
        kind.__qualname__ if kind.__module__ in ("", "builtins") else f"{kind.__module__}.{kind.__qualname__}"
    )


def dtype_of(kind: Any) -> Any:
    """The dtype of `FloatTensor` etc.; anything else unchanged."""
    return kind.dtype if isinstance(kind, _OfDtype) else kind


#: `FloatTensor`, `LongTensor` ... by PyTorch's names
TYPES: dict[str, Any] = {
    f"{d.title}Tensor": _OfDtype(
        f"{d.title}Tensor", (), {"dtype": d, "__doc__": f"Makes tensors of {d!r} (torch.{d.title}Tensor)."}
    )
    for d in dtypes.ALL
    if d.is_promoted and not d.is_complex
}
