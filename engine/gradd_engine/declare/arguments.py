"""The arguments of a call: whether tensors stand where tensors are due."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..schema import REQUIRED, check_int, position, type_name
from ..tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..schema import Op

_NUMBERS = (bool, int, float, complex)
#: asked of a call that is about to be refused, ``(function, args, kwargs)``: what an argument that is no
#: tensor makes of it (a client's ``__torch_function__``), or NotImplemented
REFUSED: list[Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]] = []


def refused(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What an argument makes of a call that was refused; NotImplemented where there is none that does."""
    for decide in REFUSED:
        found = decide(function, args, kwargs)
        if found is not NotImplemented:
            return found
    return NotImplemented


def as_given(
    op: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments and keywords of a call: what has no default, and what is not the default."""
    values = dict(zip(op.tensor_slots, inputs, strict=True)) | attrs
    args = tuple(values[p.name] for p in op.schema.params if p.default is REQUIRED)
    rest = {p.name: values[p.name] for p in op.schema.params if p.default is not REQUIRED}
    usual = {p.name: tuple(p.default) if isinstance(p.default, list) else p.default for p in op.schema.params}
    return args, {name: x for name, x in rest.items() if x is not usual[name]}


def flat_tensors(inputs: Any) -> Iterator[Tensor]:
    """The tensors among (nested) inputs, in order."""
    for x in inputs:
        if isinstance(x, Tensor):
            yield x
        elif type(x) is list or type(x) is tuple:
            yield from flat_tensors(x)


def check_inputs(op: Op, inputs: tuple[Any, ...]) -> None:
    """TypeError in PyTorch's words where an argument that must be a tensor is not; OverflowError where an
    integer in its place is too big.
    """
    if op.numbers_too and not _fit_overloads(op, inputs):
        raise TypeError(invalid_combination(op.name, inputs, _overloads(op)))
    for p, x in zip(op.tensor_params, inputs, strict=True):
        kind = p.kind
        if isinstance(x, Tensor) and "[" not in kind:
            continue
        if x is None and (kind.endswith("?") or p.default is None):
            continue
        if "Number" in kind and isinstance(x, _NUMBERS):
            if isinstance(x, int):
                check_int(x)
            continue
        if "[" in kind and isinstance(x, (list, tuple)):
            bad = next(
                (
                    i
                    for i, e in enumerate(x)
                    if not isinstance(e, Tensor) and (e is not None or "?" not in kind)
                ),
                None,
            )
            if bad is None:
                continue
            raise TypeError(
                f"expected Tensor as element {bad} in argument {op.schema.params.index(p)}, but got "
                f"{type(x[bad]).__name__}"
            )
        at = position(op.name, op.schema.params.index(p))
        want = "tuple of Tensors" if "[" in kind else "Tensor"
        raise TypeError(
            f"{op.name}(): argument '{p.name}' (position {at}) must be {want}, not {type_name(x)}"
        )


def invalid_combination(name: str, given: Sequence[Any], forms: Sequence[str]) -> str:
    """PyTorch's words for arguments that fit none of several signatures."""
    kinds = ", ".join("Tensor" if isinstance(x, Tensor) else type(x).__name__ for x in given)
    listed = "".join(f"\n * ({form})" for form in forms)
    return (
        f"{name}() received an invalid combination of arguments - got ({kinds}), but expected one of:{listed}"
    )


def _fit_overloads(op: Op, inputs: tuple[Any, ...]) -> bool:
    """Whether what stands in tensors' places are tensors, and numbers where there is a tensor beside them."""
    for accepted, x in zip(op.accepts, inputs, strict=True):
        if not isinstance(x, Tensor) and not isinstance(x, tuple(accepted)):
            return False
    return not op.never_alone or any(isinstance(x, Tensor) for x in inputs)


def _overloads(op: Op) -> list[str]:
    """The signatures that stand for one whose tensors may be numbers."""
    forms: list[list[str]] = [[]]
    for p in op.tensor_params:
        kinds = p.kind.rstrip("?").split("|")
        forms = [[*form, f"{kind} {p.name}"] for form in forms for kind in kinds]
    return [", ".join(form) for form in forms if any(part.startswith("Tensor") for part in form)]
