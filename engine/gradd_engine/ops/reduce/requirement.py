"""An op that raises unless a condition holds: a check of values without waiting for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import Meta, dtypes, holds
from ...declare import kernel
from ...tensor import Tensor, format_tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...schema import Op

#: stands for a tensor in a message
BLANK = "\x1a"


#: what may be raised
_ERRORS: dict[str, type[Exception]] = {"ValueError": ValueError, "RuntimeError": RuntimeError}
#: by name, what numbers are compared with and how: each takes the numbers and its bounds
_TESTS: dict[str, tuple[int, Callable[..., Any]]] = {
    "number": (0, lambda a: a == a),
    "truth": (0, lambda a: (a == 0) | (a == 1)),
    "above": (1, lambda a, low: a > low),
    "from": (1, lambda a, low: a >= low),
    "below": (1, lambda a, high: a < high),
    "between": (2, lambda a, low, high: (low <= a) & (a <= high)),
    "between, without the end": (2, lambda a, low, high: (low <= a) & (a < high)),
}


def _infer(
    ok: Tensor,
    shown: Sequence[Tensor],
    message: str,
    test: str,
    bounds: Sequence[float],
    grad_fn: str,
    requires_grad: bool,
    error: str,
) -> Meta:
    if error not in _ERRORS:
        raise RuntimeError(f"require(): {error} is not raised")
    if not test and ok.dtype is not dtypes.bool_:
        raise RuntimeError(f"require(): expected a condition of Bool, but got {ok.dtype.title}")
    if test and (test not in _TESTS or _TESTS[test][0] != len(bounds) or ok.dtype.is_complex):
        raise RuntimeError(f"require(): no test {test!r} with {len(bounds)} bounds of {ok.dtype.title}")
    if message.count(BLANK) != len(shown):
        raise RuntimeError(f"require(): {len(shown)} tensors for {message.count(BLANK)} blanks")
    return Meta((), dtypes.bool_)


def _text(a: Any, grad_fn: str, requires_grad: bool) -> str:
    """How a tensor prints within a message: one without dimensions as a number."""
    host = a.get() if hasattr(a, "get") else a
    dtype = dtypes.from_numpy(host.dtype)
    if not host.ndim:
        return str((host.astype("float32") if dtype.is_half else host).item())
    return format_tensor(host, dtype, grad_fn_name=grad_fn or None, requires_grad=requires_grad)


def _impl(
    xp: Any,
    ok: Any,
    shown: Sequence[Any],
    message: str,
    test: str,
    bounds: Sequence[float],
    grad_fn: str,
    requires_grad: bool,
    error: str,
) -> Any:
    held = _TESTS[test][1](ok, *map(float, bounds)) if test else ok
    if not isinstance(held, (np.ndarray, np.generic)):
        # no values of the tensors that are shown, unless somebody keeps them
        texts = [f"values of shape {list(a.shape)}" for a in shown]
        parts = zip(message.split(BLANK), [*texts, ""], strict=True)
        holds(~held, _ERRORS[error], "".join(m + t for m, t in parts), "require")
    elif not bool(held.all()):
        first, *rest = message.split(BLANK)
        last = len(shown) - 1
        texts = [
            _text(a, grad_fn if i == last else "", requires_grad and i == last) for i, a in enumerate(shown)
        ]
        raise _ERRORS[error](first + "".join(t + r for t, r in zip(texts, rest, strict=True)))
    return xp.ones((), xp.bool_)


require: Op = kernel(
    "require(Tensor ok, Tensor[] shown, str message, *, str test='', float[] bounds=[], str grad_fn='', "
    "bool requires_grad=False, str error='ValueError') -> Tensor",
    infer=_infer,
    impl=_impl,
    namespace="-",
    outside=True,
    doc="True, or `error` (ValueError or RuntimeError) with `message` unless all elements of `ok` are true; "
    'or, with `test`, numbers that are "above" the one of the `bounds`, "from" it on, "below" it, "between" '
    'two, a "number" and not NaN, or a "truth", 0 or 1. Each U+001A in it is for one of the tensors `shown`; '
    "of the last, `grad_fn` and `requires_grad` are named too.",
)
