"""gradcheck and gradgradcheck compare a function's derivatives with finite differences.

All checks record what they need before any of them compares, so that one fetch serves all. Behaviour and
messages follow https://pytorch.org/docs/stable/autograd.html#numerical-gradient-checking
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backward import autograd, grad_op
from ..data import dtypes
from ..schema import named
from ..tensor import Tensor
from . import gradcheck_compare as verdicts
from .gradcheck_compare import GradcheckError
from .jacobians import Reading, Subject, Tolerances, floating, tensor_like, unrecorded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .gradcheck_compare import Check

    Function = Callable[..., Any]


def _judge(checks: Iterable[Check], reading: Reading) -> None:
    """Let every check record, fetch all values at once, then let every check compare, in order.

    An error while a check records is raised after the earlier checks have compared.
    """
    recorded: list[Check] = []
    failure: Exception | None = None
    try:
        for check in checks:
            next(check)
            recorded.append(check)
    except Exception as error:
        failure = error
    reading.fetch()
    for check in recorded:
        next(check, None)
    if failure is not None:
        try:
            raise failure
        finally:
            del failure  # its traceback refers to this frame


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    tracked = [(i, x) for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    for i, x in tracked:
        if x.dtype not in (dtypes.float64, dtypes.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This "
                "check will likely fail if all the inputs are not of double precision floating point or "
                "complex. ",
                stacklevel=4,
            )
        if any(stride == 0 and size > 1 for stride, size in zip(x.strides, x.shape, strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
    if not tracked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )


def _as_tuple(x: Any) -> tuple[Any, ...]:
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def gradcheck(
    func: Function,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of `func` at `inputs` with central differences of step `eps`; returns True or
    raises.

    `inputs` is a tensor or a tuple; those that require grad are perturbed in place and should be float64 or
    complex128. A complex output counts as two, its real and imaginary parts. In a session all values are read
    in one round trip. See https://pytorch.org/docs/stable/generated/torch.autograd.gradcheck.gradcheck.html

    Raises GradcheckError (or returns False without `raise_exception`), ValueError if no input requires grad,
    RuntimeError for an input whose elements share memory.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    given = _as_tuple(inputs)
    _check_inputs(given)
    subject = Subject(func, given, Tolerances(eps, atol, rtol, nondet_tol, check_grad_dtypes), fast_mode)
    some = bool(subject.outputs)
    checks = (
        (check_backward_ad and some, verdicts.backward),
        (check_forward_ad and some, verdicts.forward),
        (not some, verdicts.flat),
        (check_forward_ad and check_undefined_grad, verdicts.undefined_tangents),
        (check_batched_forward_grad, verdicts.batched_tangents),
        (check_batched_grad, verdicts.batched),
        (check_backward_ad and some, lambda s: verdicts.zero_in_zero_out(s, masked)),
        (check_backward_ad and check_undefined_grad and some, verdicts.undefined_grads),
    )
    try:
        _judge((check(subject) for wanted, check in checks if wanted), subject.reading)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Function,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """`gradcheck` of the gradients of `func`, with respect to `inputs` and `grad_outputs` (random by
    default).

    See https://pytorch.org/docs/stable/generated/torch.autograd.gradcheck.gradgradcheck.html
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    for name, value in (
        ("check_undefined_grad", check_undefined_grad),
        ("check_batched_grad", check_batched_grad),
    ):
        if value and not check_rev_over_rev:
            raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    given = _as_tuple(inputs)
    if grad_outputs is None:
        outputs = [o for o in floating(func(*given)) if o.requires_grad]
        cotangents = _random_cotangents(outputs, gen_non_contig_grad_outputs)
    else:
        cotangents = _as_tuple(grad_outputs)
    count = len(given)
    tracked = [isinstance(x, Tensor) and x.requires_grad for x in (*given, *cotangents)]

    def gradients(*args: Any) -> tuple[Tensor, ...]:
        # Forward mode passes aliases that do not require grad.
        args = tuple(autograd.requires_grad_(x) if yes else x for x, yes in zip(args, tracked, strict=True))
        wanted = [x for x, yes in zip(args[:count], tracked, strict=False) if yes]
        outputs = [o for o in floating(func(*args[:count])) if o.requires_grad]
        found = grad_op.grad(outputs, wanted, args[count:], create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradients,
        (*given, *cotangents),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        fast_mode=fast_mode,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        masked=masked,
    )


def _random_cotangents(outputs: Sequence[Tensor], apart: bool) -> tuple[Tensor, ...]:
    """Leaves with the geometry of `outputs`, not contiguous if `apart`; does not use the session's random
    stream.
    """
    chance = np.random.default_rng(0)
    found = []
    for o in outputs:
        values = chance.uniform(-1.0, 1.0, o.numel())
        if o.dtype.is_complex:
            values = values + 1j * chance.uniform(-1.0, 1.0, o.numel())
        leaf = tensor_like(o, values)
        if apart and o.ndim and o.numel() > 1:
            with unrecorded():
                leaf = named.detach(named.select(named.stack([leaf, leaf], -1), -1, 0))
        found.append(autograd.requires_grad_(leaf))
    return tuple(found)
