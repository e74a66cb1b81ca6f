"""One operation on each tensor of a list: ``torch._foreach_add_`` etc., by which optimizers save launches on
a GPU. What is recorded is sent together, so here each is the operation of its tensors, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradd_engine.tensor import Tensor

_UNARY = (
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg "
    "reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"
)
_MORE = "add addcdiv addcmul clamp_max clamp_min div lerp maximum minimum mul pow sub"
_ONE_WAY = "clone copy_ max mm norm zero_"
#: what takes a number in the place of a tensor, where no method of that name does
_OF_NUMBERS: dict[str, Callable[[Any, Any], Any]] = {
    "maximum": lambda tensor, number: tensor.clamp_min(number),
    "maximum_": lambda tensor, number: tensor.clamp_min_(number),
    "minimum": lambda tensor, number: tensor.clamp_max(number),
    "minimum_": lambda tensor, number: tensor.clamp_max_(number),
}


def _check(tensors: Sequence[Any], others: Sequence[Any]) -> None:
    """RuntimeError for lists that are empty or not as long as the first."""
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")
    for other in others:
        if not isinstance(other, (list, tuple)) or len(other) == len(tensors):
            continue
        if other and not isinstance(other[0], Tensor):
            raise RuntimeError("Tensor list must have same number of elements as scalar list.")
        raise RuntimeError(
            f"Tensor lists must have the same number of tensors, got {len(tensors)} and {len(other)}"
        )


def _of(argument: Any, i: int) -> Any:
    """What an argument says of the i-th tensor: a list its own, else the same for each."""
    return argument[i] if isinstance(argument, (list, tuple)) else argument


def _each(name: str) -> Callable[..., Any]:
    """A function of a list of tensors, and of lists, tensors or numbers, that calls a method of each."""
    inplace, with_value = name.endswith("_"), name.startswith("addc")

    def each(self: Any, *others: Any, **options: Any) -> Any:
        _check(self, (*others, *options.values()))
        given = [*others, *(options.pop(word) for word in ("other", "scalar", "scalars") if word in options)]
        if with_value and len(given) == 3:
            options["value"] = given.pop()
        if isinstance(options.get("value"), Tensor):
            options["value"] = options["value"].tolist()
        made = []
        for i, tensor in enumerate(self):
            mine = [_of(argument, i) for argument in given]
            if name in _OF_NUMBERS and not isinstance(mine[0], Tensor):
                made.append(_OF_NUMBERS[name](tensor, *mine))
            else:
                named = {word: _of(value, i) for word, value in options.items()}
                made.append(getattr(tensor, name)(*mine, **named))
        return self if inplace else tuple(made)

    each.__name__ = each.__qualname__ = f"_foreach_{name}"
    each.__doc__ = f"`Tensor.{name}` of each tensor of a list. RuntimeError for lists of different lengths."
    return each


def _pow(self: Any, exponent: Any) -> Any:
    """Each tensor to a power, or a number to the power of each."""
    if isinstance(self, (list, tuple)):
        return _each("pow")(self, exponent)
    _check(exponent, ())
    return tuple(self**tensor for tensor in exponent)


_names = [*_UNARY.split(), *_MORE.split()]
#: the functions by their names in torch
FOREACH: dict[str, Callable[..., Any]] = {
    f"_foreach_{name}": _each(name) for name in (*_names, *(f"{n}_" for n in _names), *_ONE_WAY.split())
} | {"_foreach_pow": _pow}
