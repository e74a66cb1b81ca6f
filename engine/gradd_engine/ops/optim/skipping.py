"""How optimizer steps are declared: each is skipped where gradients of a scaled loss were not finite.

Whether they were is a number of the session (torch.amp.GradScaler's), so that nobody waits for it.
Source: https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling
"""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import numpy as np

from ...declare import kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ...schema import Op
    from ...tensor import Tensor


def skippable(step: Callable[..., Any]) -> Callable[..., Any]:
    """``step(xp, params, grads, *state, **options)`` that takes `found_inf` after its state, and writes
    nothing where that is not 0. On a GPU nobody looks at it: each parameter and its state are put back.
    """

    def steps(xp: Any, params: Sequence[Any], grads: Sequence[Any], *more: Any, **options: Any) -> list[Any]:
        *state, found_inf = more
        if found_inf is None or (xp is np and found_inf == 0):
            return step(xp, params, grads, *state, **options)  # type: ignore[no-any-return]
        if xp is np:
            return []
        for i, p in enumerate(params):
            own = [each[i : i + 1] for each in state]
            written = [p, *(a for each in own for a in each)]
            before = [a.copy() for a in written]
            step(xp, [p], grads[i : i + 1], *own, **options)
            for a, old in zip(written, before, strict=True):
                a[...] = xp.where(found_inf != 0, old, a)
        return []

    return steps


def optimizer_step(signature: str, infer: Callable[..., Any], impl: Callable[..., Any], doc: str) -> Op:
    """Declare a step whose lists of tensors `signature` names, before its options: parameters, gradients, and
    what else has one tensor for each parameter.
    """
    name = signature.partition("(")[0]

    def checked(*tensors: Any, **options: Any) -> list[Any]:
        *lists, found_inf = tensors
        if found_inf is not None:
            check_number(name, "found_inf", found_inf)
        return infer(*lists, **options)  # type: ignore[no-any-return]

    return kernel(
        signature.replace(", *,", ", Tensor? found_inf=None, *,", 1),
        infer=checked,
        impl=skippable(impl),
        namespace="-",
        outside=True,
        raises=False,
        doc=f"{cleandoc(doc)}\n\nNothing is written where `found_inf`, a number, is not 0.",
    )


def check_number(name: str, what: str, t: Tensor) -> None:
    """Raise RuntimeError unless `t` is a 0-dim float32 tensor."""
    if tuple(t.shape) or t.dtype.name != "float32":
        raise RuntimeError(f"{name}(): {what} must be a 0-dim float32 tensor")
