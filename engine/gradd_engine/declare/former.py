"""The order of arguments of PyTorch before 1.5, which it still takes: numbers before what they scale.

``exp_avg.add_(1 - beta, grad)`` for ``exp_avg.add_(grad, alpha=1 - beta)``.
"""

from __future__ import annotations

from numbers import Number
from typing import TYPE_CHECKING, Any

from ..data import warn
from ..tensor import Tensor
from .arguments import invalid_combination
from .dispatch import dispatch
from .out import store

if TYPE_CHECKING:
    from ..schema import Op

#: the ops that warned in this process: PyTorch warns once
_warned: list[str] = []


def reordered(op: Op, given: tuple[Any, ...], attrs: dict[str, Any], out: Any = None) -> Any:
    """Run `op` on more arguments than it has places for: numbers among them are, in order, what its
    declaration says (`Surface.numbers_first`), and not given by name too. TypeError for anything else.
    """
    named = op.surface.numbers_first.split()
    at = 0 if isinstance(given[0], Tensor) else 1
    if len(named) > 1 and _is_number(given[0]) and not _is_number(given[1]):
        at = 1  # the number may be a tensor, too
    rest, places = given[:at] + given[at + 1 :], len(op.tensor_slots) - 1
    numbers, tensors = rest[:-places], (given[at], *rest[-places:])
    if len(numbers) not in (1, len(named)) or not (
        all(isinstance(x, Tensor) for x in tensors)
        and all(map(_is_number, numbers))
        and all(attrs[name] is op.params[name].default for name in named)
    ):
        raise TypeError(invalid_combination(op.name, given, _forms(op)[1:]))
    if not _warned:
        _warned.append(op.name)
        former, today = _forms(op)
        warn(
            f"This overload of {op.name} is deprecated:\n\t{op.name}({former})\nConsider using one of the "
            f"following signatures instead:\n\t{op.name}({today})"
        )
    attrs = attrs | dict(zip(named, numbers, strict=False))
    return dispatch(op, tensors, attrs) if out is None else store(op, tensors, attrs, out)


def _is_number(x: Any) -> bool:
    return isinstance(x, Number) or (isinstance(x, Tensor) and not x.shape and not x.requires_grad)


def _forms(op: Op) -> tuple[str, str]:
    """The former signature and today's, as PyTorch's warning has them."""
    numbers = [f"Number {name}" for name in op.surface.numbers_first.split()]
    tensors = [f"Tensor {name}" for name in op.tensor_slots]
    first, *rest = tensors
    shown = [] if op.writes else [first]
    former = [*numbers[:-1], *shown, numbers[-1], *rest] if shown else [*numbers, *rest]
    today = [*shown, *rest, "*", *(f"{number} = 1" for number in numbers)]
    return ", ".join(former), ", ".join(today)
