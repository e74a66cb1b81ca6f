"""What losses' `reduction` stands for, and the arguments before it (torch.nn._reduction)."""

from __future__ import annotations

import warnings

_NUMBERS = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """Its number: 0 for none, 1 for mean, 2 for sum. ValueError for others."""
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=2
        )
    return _NUMBERS[reduction]


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The reduction that the older arguments mean; None is True. Warns unless told not to."""
    averaged, reduced = (flag is None or flag for flag in (size_average, reduce))
    found = "none" if not reduced else "mean" if averaged else "sum"
    if emit_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{found}' instead.",
            stacklevel=2,
        )
    return found


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number of the reduction that the older arguments mean."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
