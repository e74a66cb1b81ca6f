"""Comparison of results with expected ones (torch.testing).

Source: https://pytorch.org/docs/stable/testing.html
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_engine.data import dtypes

from ._surface import as_tensor, namespace
from ._tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gradd_engine.data import DType

_TOP = namespace("")
#: default (rtol, atol); other dtypes are compared exactly
_TOLERANCES: dict[DType, tuple[float, float]] = {
    dtypes.float16: (0.001, 1e-5),
    dtypes.bfloat16: (0.016, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
    dtypes.complex64: (1.3e-6, 1e-5),
    dtypes.complex128: (1e-7, 1e-7),
}
_NUMBERS: dict[type, DType] = {int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}


class _Different(Exception):
    """A difference: the class of the error, its message, and the keys that lead to it."""

    def __init__(self, kind: type[Exception], text: str, path: tuple[Any, ...]) -> None:
        super().__init__(text)
        self.kind, self.text, self.path = kind, text, path


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """`assert_close` for anything that `as_tensor` takes, of any dtypes (torch.testing.assert_allclose)."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. "
        "Please use `torch.testing.assert_close()` instead. You can find detailed upgrade instructions in "
        "https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    assert_close(
        as_tensor(actual),
        as_tensor(expected),
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_dtype=False,
        msg=msg or None,
    )


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Check that |actual - expected| <= atol + rtol * |expected| (torch.testing.assert_close).

    For tensors, numbers, arrays, and sequences and mappings of these; tolerances are the dtype's unless both
    are given. AssertionError tells the greatest differences; TypeError for types that cannot be compared.
    """
    try:
        for left, right, path in list(_pairs(actual, expected, (), allow_subclasses)):
            if not isinstance(left, Tensor):
                if isinstance(left, (bool, np.bool_)):
                    _same_truth(left, right, path)
                elif isinstance(left, tuple(_NUMBERS)):
                    _close_numbers(left, right, _agreed(rtol, atol, path), equal_nan, check_dtype, path)
                elif left is not None or right is not None:
                    raise _Different(AssertionError, f"None mismatch: {left} is not {right}", path)
                continue
            _same_kind(left, right, check_dtype, check_stride, path)
            _close(left, right, _agreed(rtol, atol, path), equal_nan, path)
    except _Different as found:
        text = found.text
        if found.path:
            text += f"\n\nThe failure occurred for item {''.join(str([key]) for key in found.path)}"
        raise found.kind(msg(text) if callable(msg) else text if msg is None else msg) from None


def _agreed(rtol: float | None, atol: float | None, path: tuple[Any, ...]) -> tuple[float, float] | None:
    if (rtol is None) != (atol is None):
        raise _Different(
            ValueError,
            "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
            f"{'rtol' if rtol is None else 'atol'}.",
            path,
        )
    return None if rtol is None or atol is None else (rtol, atol)


def _pairs(
    a: Any, b: Any, path: tuple[Any, ...], subclasses: bool
) -> Iterator[tuple[Any, Any, tuple[Any, ...]]]:
    if (
        isinstance(a, Sequence)
        and isinstance(b, Sequence)
        and not isinstance(a, str)
        and not isinstance(b, str)
    ):
        if len(a) != len(b):
            raise _Different(
                AssertionError, f"The length of the sequences mismatch: {len(a)} != {len(b)}", path
            )
        for i, (left, right) in enumerate(zip(a, b, strict=True)):
            yield from _pairs(left, right, (*path, i), subclasses)
    elif isinstance(a, Mapping) and isinstance(b, Mapping):
        if set(a) != set(b):
            raise _Different(
                AssertionError,
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(set(b) - set(a))}\n"
                f"Additional keys in the actual mapping: {sorted(set(a) - set(b))}",
                path,
            )
        for key in sorted(a) if all(isinstance(key, str) for key in a) else a:
            yield from _pairs(a[key], b[key], (*path, key), subclasses)
    else:
        left, right = _comparable(a, b, path, subclasses)
        yield left, right, path


def _comparable(a: Any, b: Any, path: tuple[Any, ...], subclasses: bool) -> Sequence[Any]:
    """Both as numbers, bools or tensors; TypeError if they cannot be compared."""
    if a is None or b is None:
        return a, b
    truths, numbers = (bool, np.bool_), (*_NUMBERS, np.number)
    if isinstance(a, truths) and isinstance(b, truths):
        return bool(a), bool(b)
    if isinstance(a, numbers) and isinstance(b, numbers):
        return [x.item() if isinstance(x, np.number) else x for x in (a, b)]
    related = isinstance(a, type(b)) or isinstance(b, type(a)) if subclasses else type(a) is type(b)
    if related and isinstance(a, (Tensor, np.ndarray)):
        return as_tensor(a), as_tensor(b)
    raise _Different(
        TypeError, f"No comparison pair was able to handle inputs of type {type(a)} and {type(b)}.", path
    )


def _same_truth(a: Any, b: Any, path: tuple[Any, ...]) -> None:
    if a is not b:
        raise _Different(AssertionError, f"Booleans mismatch: {a} is not {b}", path)


def _same_kind(a: Tensor, b: Tensor, dtype: bool, stride: bool, path: tuple[Any, ...]) -> None:
    for name, mine, other, wanted in (
        ("shape", a.shape, b.shape, True),
        ("stride()", a.stride(), b.stride(), stride),
        ("dtype", a.dtype, b.dtype, dtype),
    ):
        if wanted and mine != other:
            raise _Different(
                AssertionError, f"The values for attribute '{name}' do not match: {mine} != {other}.", path
            )


def _tolerances(given: tuple[float, float] | None, *of: DType) -> tuple[float, float]:
    if given is not None:
        return given
    known = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in of]
    return max(rtol for rtol, _ in known), max(atol for _, atol in known)


def _far(
    name: str, more: str, apart: tuple[float, Any], relative: tuple[float, Any], rtol: float, atol: float
) -> str:
    """The message for values that are not close: the greatest differences with their indices."""
    exact = rtol == 0 and atol == 0
    text = f"{name} are not {'equal' if exact else 'close'}!\n\n{more}"
    for kind, (most, at), allowed in (("absolute", apart, atol), ("relative", relative, rtol)):
        text += f"\n{kind.title()}" if at is None else f"\nGreatest {kind}"
        text += f" difference: {most}" if at is None else f" difference: {most} at index {at}"
        text += "" if exact else f" (up to {allowed} allowed)"
    return text


def _scalars_differ(a: Any, b: Any, rtol: float, atol: float, path: tuple[Any, ...]) -> _Different:
    apart = abs(a - b)
    relative = float("inf") if b == 0 else apart / abs(b)
    text = _far("Scalars", f"Expected {b} but got {a}.", (apart, None), (relative, None), rtol, atol)
    return _Different(AssertionError, text, path)


def _close_numbers(
    a: Any, b: Any, given: Any, equal_nan: bool, check_dtype: bool, path: tuple[Any, ...]
) -> None:
    if check_dtype and type(a) is not type(b):
        raise _Different(AssertionError, f"The (d)types do not match: {type(a)} != {type(b)}.", path)
    rtol, atol = _tolerances(given, _NUMBERS[type(a)], _NUMBERS[type(b)])
    if a == b or (equal_nan and a != a and b != b):
        return
    if not (abs(a - b) < float("inf") and abs(a - b) <= atol + rtol * abs(b)):
        raise _scalars_differ(a, b, rtol, atol, path)


def _close(a: Any, b: Any, given: Any, equal_nan: bool, path: tuple[Any, ...]) -> None:
    rtol, atol = _tolerances(given, a.dtype, b.dtype)
    a, b = a.detach(), b.detach()
    if a.dtype != b.dtype:
        common = dtypes.promote(a.dtype, b.dtype)
        a, b = a.to(common), b.to(common)
    matches = _TOP["isclose"](a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if matches.all():
        return
    if not a.shape:
        raise _scalars_differ(a.item(), b.item(), rtol, atol, path)
    count, wrong = matches.numel(), int((~matches).sum())
    flat = matches.flatten()
    a, b = a.flatten(), b.flatten()
    if not a.dtype.differentiable:
        a, b = a.to(dtypes.int64), b.to(dtypes.int64)

    def greatest(difference: Any) -> tuple[float, Any]:
        most, at = difference.masked_fill(flat, 0).max(0)
        return most.item(), tuple(int(i) for i in np.unravel_index(int(at), matches.shape))

    apart = (a - b).abs()
    text = _far(
        "Tensor-likes",
        f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})",
        greatest(apart),
        greatest(apart / b.abs()),
        rtol,
        atol,
    )
    raise _Different(AssertionError, text, path)
