"""Names of PyTorch before 0.4: `Variable`, ``volatile``, ``reinforce``.

Source: https://pytorch.org/docs/stable/autograd.html#variable-deprecated
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from .data import Size, state
from .declare import attach_as_is
from .ops.shape import detach
from .tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

_NO_VOLATILE = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."


class _AllTensors(type):
    """Every tensor is an instance, although no tensor is made by the class."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)

    def __call__(cls, data: Any, requires_grad: bool = False, volatile: bool = False) -> Any:
        if not isinstance(data, Tensor):
            kind = type(data)
            name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
            raise TypeError(f"Variable data has to be a tensor, but got {name}")
        if volatile:
            warnings.warn(_NO_VOLATILE, UserWarning, stacklevel=2)
            if requires_grad:
                raise ValueError("Variable can't be volatile and require_grad at the same time!")
        if requires_grad and not data.dtype.differentiable:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        made = detach(data)
        made.requires_grad = bool(requires_grad)
        return made


class _Engine:
    """`Variable._execution_engine`."""

    @staticmethod
    def queue_callback(callback: Callable[[], Any]) -> None:
        """Call `callback` when the pass that is running is through; RuntimeError outside of one."""
        if state.task is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        state.task.callbacks.append(callback)


class Variable(metaclass=_AllTensors):
    """``Variable(data, requires_grad=False, volatile=False)``: a leaf over the memory of a tensor
    (torch.autograd.Variable, deprecated).

    TypeError where `data` is no tensor, RuntimeError where its dtype can have no gradients.
    """

    _execution_engine = _Engine


def _volatile(self: Tensor) -> bool:
    """False: volatile was removed (a UserWarning says so)."""
    warnings.warn("volatile was removed (Variable.volatile is always False)", UserWarning, stacklevel=2)
    return False


def _set_volatile(self: Tensor, value: Any) -> None:
    warnings.warn(_NO_VOLATILE, UserWarning, stacklevel=2)


def _reinforce(self: Tensor, reward: Any) -> None:
    """RuntimeError: the score of a sample is the gradient of its log-probability times the reward."""
    raise RuntimeError(
        "reinforce() was removed.\nMultiply the log-probability of the sample by the reward, and call "
        "backward() on the negative of it."
    )


def _new(self: Tensor, *given: Any, device: Any = None) -> Any:
    """A tensor of the same dtype: of the sizes given, which hold anything, or of a list's values
    (torch.Tensor.new, deprecated).
    """
    if len(given) == 1 and isinstance(given[0], Tensor):
        return detach(given[0])
    if len(given) == 1 and not isinstance(given[0], (int, Size)):
        return self.new_tensor(given[0])  # type: ignore[attr-defined]
    sizes = given[0] if len(given) == 1 and isinstance(given[0], Size) else given or (0,)
    return self.new_empty(list(sizes))  # type: ignore[attr-defined]


_new.__name__, _new.__qualname__ = "new", "Tensor.new"
attach_as_is("new", _new)
attach_as_is("volatile", property(_volatile, _set_volatile))
_reinforce.__name__, _reinforce.__qualname__ = "reinforce", "Tensor.reinforce"
attach_as_is("reinforce", _reinforce)
