"""The classes of tensors on a GPU, `torch.cuda.FloatTensor` etc., which older code creates and casts with."""

from __future__ import annotations

from typing import Any

from .._tensor import TYPES as _HERE
from ._devices import is_available


class _OnGpu(type(_HERE["FloatTensor"])):  # type: ignore[misc]
    """The metaclass of `cuda.FloatTensor` etc., whose instances are a GPU session's tensors of one dtype."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return is_available() and super().__instancecheck__(instance)

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        if not is_available():
            raise TypeError(f"type {cls._printed} not available. Torch not compiled with CUDA enabled.")
        return super().__call__(*args, device=device)

    @property
    def _printed(cls) -> str:
        return f"torch.cuda.{cls.__name__}"

    def __repr__(cls) -> str:
        return f"<class '{cls._printed}'>"


#: `FloatTensor`, `LongTensor` ... by PyTorch's names
TYPES: dict[str, Any] = {
    name: _OnGpu(name, (), {"dtype": kind.dtype, "__doc__": f"Makes tensors of {kind.dtype!r} on a GPU."})
    for name, kind in _HERE.items()
}
