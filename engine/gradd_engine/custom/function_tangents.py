"""Forward mode of `autograd.Function`: its jvp replaces the rules of the ops inside.

Source: https://pytorch.org/docs/stable/notes/extending.html (forward mode AD).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..data import state
from ..graph import LEVELS, has_tangent
from ..ops.shared import zeros_like
from ..tensor import Tensor
from ..transforms import hold_tangent, tangent_of_dual
from .context import Context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .function_node import BackwardNode


class _Taken:
    """The arguments' tangents at one level, removed until they are put back."""

    def __init__(self, token: Tensor, given: Sequence[Any]) -> None:
        self.token = token
        self.tangents = [
            tangent_of_dual(x, token) if isinstance(x, Tensor) and has_tangent(x, token._holds) else None
            for x in given
        ]
        for x, t in zip(given, self.tangents, strict=True):
            if t is not None:
                hold_tangent(x, None, token)

    def put_back(self, given: Sequence[Any]) -> None:
        for x, t in zip(given, self.tangents, strict=True):
            if t is not None:
                hold_tangent(x, t, self.token)


class Tangents:
    """The tangents of a Function's arguments: forward runs without them, then `give` calls its jvp.

    `put_back` restores them at the end, even after an error.
    """

    def __init__(self, given: Sequence[Any]) -> None:
        self._given = given
        self._taken: list[_Taken] = []
        tensors = [x for x in given if isinstance(x, Tensor)]
        for entered in state.entered if LEVELS and tensors else ():
            token = entered.token(tensors[0])
            if any(has_tangent(x, token._holds) for x in tensors):
                self._taken.append(_Taken(token, given))

    def put_back(self) -> None:
        """Restore the arguments' tangents."""
        while self._taken:
            self._taken.pop().put_back(self._given)

    def give(self, outputs: Sequence[Any], ctx: BackwardNode) -> None:
        """Call jvp level by level and give the outputs its tangents; it sees those of outer levels."""
        while self._taken:
            self._level(self._taken[0], outputs, ctx)
            self._taken.pop(0).put_back(self._given)

    def _level(self, taken: _Taken, outputs: Sequence[Any], ctx: BackwardNode) -> None:
        dirty, constant = ctx._dirty, ctx._constant
        tangents = [
            zeros_like(x)
            if t is None and ctx._materialize and isinstance(x, Tensor) and x.dtype.differentiable
            else t
            for x, t in zip(self._given, taken.tangents, strict=True)
        ]
        versions = [None if t is None else t._vc.n for t in taken.tangents]
        ctx._pushing = True
        try:
            found = ctx.forward_cls.jvp(Context(ctx), *tangents)
        finally:
            ctx._pushing = False
        made = list(found) if isinstance(found, tuple) else [found]
        if len(made) != len(outputs):
            raise RuntimeError(
                "Function's jvp returned an invalid number of forward gradients (expected "
                f"{len(outputs)} but got {len(made)})"
            )
        for i, (o, t) in enumerate(zip(outputs, made, strict=True)):
            if t is None:
                continue
            if not isinstance(t, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(t).__name__}) for grad output {i}.")
            if not isinstance(o, Tensor) or not o.dtype.differentiable or any(o is c for c in constant):
                raise RuntimeError(
                    f"Function's jvp returned a gradient at position {i}, but  the corresponding forward "
                    "output is not a differentiable Tensor.You should return None at that position instead."
                )
            if any(o is d for d in dirty):
                self._check_written(o, t, taken.tangents, versions)
            elif o._base is not None:
                self._check_view(o, t, taken.tangents)
            hold_tangent(o, t, taken.token)
            for k, x in enumerate(self._given):
                if x is o:
                    taken.tangents[k] = t

    def _check_written(
        self, o: Tensor, t: Tensor, tangents: Sequence[Any], versions: Sequence[int | None]
    ) -> None:
        """Raise RuntimeError if a value was changed in place but its tangent was not, or was replaced."""
        at = next((i for i, x in enumerate(self._given) if x is o), None)
        if at is None or tangents[at] is None:
            return
        if t._vc.n == versions[at]:
            raise RuntimeError(
                "An inplace custom Function is not modifying the forward mode gradients inplace. If the "
                "forward is modifying an input inplace, then the jvp function must modify the corresponding "
                "gradient inplace."
            )
        if t is not tangents[at]:
            raise RuntimeError(
                "An inplace custom Function is not returning the forward mode gradients as-is. If the "
                "forward is modifying an input inplace, then the jvp function must modify the gradient "
                "inplace and return it as-is."
            )

    def _check_view(self, o: Tensor, t: Tensor, tangents: Sequence[Any]) -> None:
        """Raise RuntimeError if a value is a view of an argument, but its tangent not of that one's."""
        whole = ((x if x._base is None else x._base) if isinstance(x, Tensor) else None for x in self._given)
        at = next((i for i, base in enumerate(whole) if base is o._base), None)
        given = None if at is None else tangents[at]
        if given is None:
            return
        if t._base is None:
            raise RuntimeError(
                "A custom Function's forward is returning a view (or an input as-is) but the jvp is not "
                "returning a view."
            )
        if given._base is not None and t._base is not given._base:
            raise RuntimeError(
                "A custom Function is returning a view but the jvp is not returning a view of the same base "
                "as the given grad input."
            )
        if given._base is None and t._base is not given:
            raise RuntimeError(
                "A custom Function is returning a view but the jvp is not returning a view of the given grad "
                "input."
            )
