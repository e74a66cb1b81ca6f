"""``.grad`` as such: assigning, clearing, its dtype. Checks and messages: torch.Tensor.grad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..data import DType, Meta, preserved_strides, state
from ..declare import kernel, stateful
from ..schema import Histories, named, type_name
from ..tensor import Tensor, detached
from . import dry_run

if TYPE_CHECKING:
    from collections.abc import Sequence


def set_grad(t: Tensor, value: Any) -> None:
    """Assign ``t.grad`` after PyTorch's checks."""
    if value is None:
        if t._grad is not None:
            assign_grad(t, None)
        return
    if not isinstance(value, Tensor):
        raise TypeError(
            f"assigned grad expected to be a Tensor or None but got grad of type {type_name(value)}"
        )
    if value is t:
        raise RuntimeError("can't assign Variable as its own grad")
    if value is t._grad:
        return
    assign_grad(t, value)


def _assign(t: Tensor, value: Tensor | None) -> None:
    if value is not None:
        expected = t.dtype if t._grad_dtype is ... else t._grad_dtype
        if expected is not None and value.dtype is not expected:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{_scalar_name(value)}' to a tensor with "
                f"grad_dtype '{expected.title}'. The gradient must match the tensor's grad_dtype (defaults "
                "to the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific "
                "dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a "
                "tensor and its gradient may break downstream systems that assume they match."
            )
        if str(value.device) != str(t.device):
            raise RuntimeError(
                f"attempting to assign a gradient with device type '{value.device.type}' to a tensor with "
                f"device type '{t.device.type}'. Please ensure that the gradient and the tensor are on the "
                "same device"
            )
        if tuple(value.shape) != tuple(t.shape):
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
                f"'{list(t.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
    t._grad = value


def _scalar_name(t: Tensor) -> str:
    return _C_NAMES.get(t.dtype.name, t.dtype.name)


_C_NAMES = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16",
    "int64": "long int", "int32": "int", "int16": "short int", "int8": "signed char",
    "uint8": "unsigned char",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip


assign_grad = stateful(
    "set_grad(Tensor(a!) input, Tensor? grad=None) -> ()",
    body=_assign,
    doc="Assign or clear ``input.grad``.",
    dry_run=dry_run.nothing,
    histories=Histories.NONE,
    spares_nodes=True,
)


def _clear(tensors: Sequence[Tensor], set_to_none: bool) -> None:
    for t in tensors:
        g = t._grad
        if g is None:
            continue
        if set_to_none:
            t._grad = None
        else:
            kept = detached(g) if g._fn is not None else g
            kept._requires_grad = False
            if kept is not g:
                t._grad = kept
            if g._sparse:
                kept._by_lookups((), g)
            before, state.grad = state.grad, False
            try:
                named.zero_(kept)
            finally:
                state.grad = before


get_grad = stateful(
    "get_grad(Tensor input) -> Tensor?",
    body=lambda input: input._grad,
    doc="``input.grad`` as a tensor of its own.",
    wide=False,
    histories=Histories.NONE,
    spares_nodes=True,
)

zero_grad = stateful(
    "zero_grad(Tensor[] tensors, bool set_to_none=True) -> ()",
    body=_clear,
    doc="Clear ``.grad`` of many leaves in one step; see torch.optim.Optimizer.zero_grad.",
    dry_run=dry_run.nothing,
    histories=Histories.NONE,
    spares_nodes=True,
)


undefined_grad = kernel(
    "undefined_grad(Tensor input) -> Tensor",
    infer=lambda input: Meta(tuple(input.shape), input.dtype, preserved_strides(input)),
    impl=lambda xp, a: a.copy(order="K"),
    vjp=lambda g: None,
    namespace="-",
    outside=True,
    doc="A copy through which no gradient comes back: what lies before it gets an undefined one.",
    stateful=True,
    dry_run=True,
)


def set_grad_dtype(t: Tensor, value: DType | None) -> None:
    """Set the dtype that .grad will have; RuntimeError on non-leaf tensors and where a gradient of another
    dtype is there.
    """
    if value is not None and not isinstance(value, DType):
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(value).__name__}")
    if t._node() is not None:
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    if value is not None and t._grad is not None and t._grad.dtype is not value:
        raise RuntimeError(
            f"Cannot set grad_dtype to '{value.title}' because there is already a gradient with dtype "
            f"'{_scalar_name(t._grad)}'. Please clear the gradient (.grad = None) before changing "
            "grad_dtype, or ensure the new grad_dtype matches the existing gradient's dtype."
        )
    grad_dtype(t, value)


def _set_dtype(t: Tensor, dtype: DType | None) -> None:
    t._grad_dtype = dtype


grad_dtype = stateful(
    "set_grad_dtype(Tensor input, dtype? dtype=None) -> ()",
    body=_set_dtype,
    doc="Set the dtype of ``input.grad`` (torch.Tensor.grad_dtype); None allows any.",
    dry_run=dry_run.nothing,
    wide=False,
)
