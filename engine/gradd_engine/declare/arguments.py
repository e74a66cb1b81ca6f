"""The arguments of a call: whether tensors stand where tensors are due."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..schema import check_int, position, type_name
from ..tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..schema import Op

_NUMBERS = (bool, int, float, complex)


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
