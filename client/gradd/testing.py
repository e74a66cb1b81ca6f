"""Comparison of results with expected ones, and tensors to try things with (torch.testing).

Source: https://pytorch.org/docs/stable/testing.html
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gradd_engine.data import dtypes

from ._surface import as_tensor, finfo, iinfo, namespace
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


def make_tensor(
    *shape: Any,
    dtype: DType,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of numbers that are drawn from [low, high) (torch.testing.make_tensor): by default from 0 to
    2, bool, to 10, uint8, or from -9 to 10, integers, to 9, others. `noncontiguous` lies in every second
    place of its memory.

    ValueError for an empty interval or NaN, for `requires_grad` of integers, and for both a memory format and
    `noncontiguous`; TypeError for what is no dtype.
    """
    if dtype not in dtypes.ALL:
        raise TypeError(
            f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor(). To request "
            "support, file an issue at: https://github.com/pytorch/pytorch/issues"
        )
    sizes = list(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else list(shape)
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"{noncontiguous=} and {memory_format=}"
        )
    if requires_grad and not dtype.differentiable:
        raise ValueError(
            f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}"
        )
    low, high = _interval(dtype, low, high)
    whole = [*sizes[:-1], 2 * sizes[-1]] if noncontiguous and sizes and math.prod(sizes) > 1 else sizes
    found: Tensor = _drawn(whole, dtype, low, high)
    if whole is not sizes:
        found = found[..., ::2]
    elif memory_format is not None:
        found = found.contiguous(memory_format=memory_format)
    if exclude_zero:
        least = 1 if not dtype.differentiable else float(np.finfo(dtype.to_real().np).tiny)
        found[found == 0] = complex(least, least) if dtype.is_complex else least
    found.requires_grad = requires_grad
    return found


def _interval(dtype: DType, low: float | None, high: float | None) -> tuple[float, float]:
    """What is drawn from, within what the dtype can hold."""
    unsigned = not dtype.is_signed
    least, past = (0, 2) if dtype is dtypes.bool_ else (0, 10) if unsigned else (-9, 10)
    if dtype.differentiable:
        least, past = -9, 9
    low, high = least if low is None else low, past if high is None else high
    if math.isnan(low) or math.isnan(high):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and dtype.differentiable:
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated "
            "since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=3,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    first, last = _bounds(dtype)
    if low > last or high <= first:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports "
            f"[{first}, {last + 1 if not dtype.differentiable else last}"
            f"{')' if not dtype.differentiable else ']'}"
        )
    low, high = max(low, first), min(high, last + (not dtype.differentiable))
    return (low, high) if dtype.differentiable else (math.ceil(low), math.ceil(high))


def _bounds(dtype: DType) -> tuple[Any, Any]:
    if dtype is dtypes.bool_:
        return 0, 1
    info = iinfo(dtype) if not dtype.differentiable else finfo(dtype.to_real())
    return info.min, info.max


def _drawn(sizes: list[int], dtype: DType, low: float, high: float) -> Any:
    if not dtype.differentiable:
        return _TOP["randint"](int(low), int(high), sizes, dtype=dtype)
    real = dtype.to_real()
    found = _TOP["empty"]([*sizes, 2] if dtype.is_complex else sizes, dtype=real)
    found = found.uniform_(low, high) if low < high else found.fill_(low)
    return _TOP["view_as_complex"](found) if dtype.is_complex else found
