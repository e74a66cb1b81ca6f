"""What a function may not do inside a transform, since transforms decide what is differentiated.

Source: https://pytorch.org/docs/stable/func.ux_limitations.html
"""

from __future__ import annotations

from ..data import state

_CALLS = (
    "You are attempting to call Tensor.{0}() {1}inside of a function being transformed by a functorch "
    "transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, "
    "jacfwd, hessian) or call {0}() outside of a function being transformed instead."
)
REQUIRES = _CALLS.format("requires_grad_", "(or perhaps using torch.autograd.functional.* APIs) ")
RETAINS = _CALLS.format("retain_grad", "")
BACKWARD = (
    "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
    "functorch.vjp instead or call backward() outside of functorch transforms."
)


def refuse(message: str) -> None:
    """Raise RuntimeError with `message` if a transform is running a function in this thread."""
    if state.transform or state.vmaps:
        raise RuntimeError(message)


__all__ = ["BACKWARD", "REQUIRES", "RETAINS", "refuse"]
