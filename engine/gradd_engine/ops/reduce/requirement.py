"""An op that raises unless a condition holds: a check of values without waiting for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...data import Meta, dtypes
from ...declare import kernel
from ...tensor import Tensor, format_tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...schema import Op

#: stands for a tensor in a message
BLANK = "\x1a"


def _infer(ok: Tensor, shown: Sequence[Tensor], message: str, grad_fn: str, requires_grad: bool) -> Meta:
    if ok.dtype is not dtypes.bool_:
        raise RuntimeError(f"require(): expected a condition of Bool, but got {ok.dtype.title}")
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


def _impl(xp: Any, ok: Any, shown: Sequence[Any], message: str, grad_fn: str, requires_grad: bool) -> Any:
    if not bool(ok.all()):
        first, *rest = message.split(BLANK)
        last = len(shown) - 1
        texts = [
            _text(a, grad_fn if i == last else "", requires_grad and i == last) for i, a in enumerate(shown)
        ]
        raise ValueError(first + "".join(t + r for t, r in zip(texts, rest, strict=True)))
    return xp.ones((), xp.bool_)


require: Op = kernel(
    "require(Tensor ok, Tensor[] shown, str message, *, str grad_fn='', bool requires_grad=False) -> Tensor",
    infer=_infer,
    impl=_impl,
    namespace="-",
    outside=True,
    doc="True, or ValueError with `message` unless all elements of `ok` are true. Each U+001A in it is for "
    "one of the tensors `shown`; of the last, `grad_fn` and `requires_grad` are named too.",
)
