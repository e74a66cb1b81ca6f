"""Forward-mode automatic differentiation: levels, dual tensors, and the ops that a client records for them.

Source: https://pytorch.org/docs/stable/autograd.html#forward-mode-automatic-differentiation. In a session, a
level is held by a *token*, an empty tensor by which other ops refer to it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ..batching import lifted
from ..data import Meta, ambient, is_dense, overlaps_itself, state, uint8
from ..declare import stateful, view
from ..graph import LEVELS, Level, has_tangent, tangent_of
from ..schema import named
from ..tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..tensor import Backend

NESTED = "Nested forward mode AD is not supported at the moment"
NO_LEVEL = (
    "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() "
    "first."
)


class UnpackedDualTensor(NamedTuple):
    """The result of `unpack_dual`; ``tangent`` is None if the tensor has none."""

    primal: Tensor
    tangent: Tensor | None


# -- ops -------------------------------------------------------------------------------------------


def _enter(depth: int) -> Tensor:
    token: Tensor = state.backend.empty(Meta((0,), uint8))
    token._holds = Level(depth)
    return token


def _level(token: Tensor) -> Level:
    while isinstance(token.array, Tensor):
        # A vmap level wraps the token.
        token = token.array
    level = token._holds
    if not isinstance(level, Level):
        raise RuntimeError("the tensor given as a forward AD level is not what enter_dual_level() returned")
    if not level.alive:
        raise RuntimeError("the forward AD level has been exited")
    return level


def _exit(level: Tensor) -> None:
    _level(level).end()


def _make(primal: Tensor, tangent: Tensor, level: Tensor) -> Tensor:
    found = _level(level)
    for what, t in (("primal", primal), ("tangent", tangent)):
        if not t.dtype.differentiable:
            raise ValueError(f"Expected {what} to be floating point or complex, but got: {t.dtype}")
    if has_tangent(primal, found):
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level "
            f"{found.depth} is not supported."
        )
    if has_tangent(tangent, found):
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same "
            f"level{found.depth} is not supported."
        )
    _check_size(primal, tangent)
    out: Tensor = named.view(primal, list(primal.shape))
    found.give(out, _laid(tangent, primal))
    return out


def _laid(tangent: Tensor, primal: Tensor) -> Tensor:
    """`tangent` in the layout of `primal`, so that views and writes act alike on both."""
    layouts = zip(primal.shape, tangent.strides, primal.strides, strict=True)
    if all(a == b for n, a, b in layouts if n > 1) and not overlaps_itself(tangent.shape, tangent.strides):
        return tangent
    if not is_dense(primal.shape, primal.strides):
        return named.clone(tangent)  # type: ignore[no-any-return]
    return named.to_layout(tangent, list(primal.strides))  # type: ignore[no-any-return]


def _hold(input: Tensor, tangent: Tensor | None, level: Tensor) -> None:
    if tangent is not None:
        _check_size(input, tangent)
    _level(level).give(input, tangent)


def _check_size(primal: Tensor, tangent: Tensor) -> None:
    if tuple(primal.shape) != tuple(tangent.shape):
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, "
            f"this is not supported. Tensor is of size {list(primal.shape)} while the given forward gradient "
            f"is of size {list(tangent.shape)}."
        )


def _primal(input: Tensor, level: Tensor) -> Tensor:
    out: Tensor = _identity(input)
    _level(level).give(out, None)
    return out


def _tangent(input: Tensor, level: Tensor) -> Tensor:
    found = tangent_of(input, _level(level))
    if found is None:
        raise RuntimeError("the tensor has no tangent at this forward AD level")
    return found


enter_level = stateful(
    "enter_dual_level(int depth=0) -> Tensor",
    body=_enter,
    traced=False,
    doc="""A token of a new forward AD level inside `depth` others.

    See https://pytorch.org/docs/stable/generated/torch.autograd.forward_ad.enter_dual_level.html.
    """,
    wide=False,
)
exit_level = stateful(
    "exit_dual_level(Tensor level) -> ()",
    body=_exit,
    traced=False,
    doc="End a forward AD level and drop its tangents.",
)
_make_dual = stateful(
    "make_dual(Tensor primal, Tensor tangent, Tensor level) -> Tensor",
    body=_make,
    traced=False,
    doc="""A view of `primal` with `tangent`, of the same shape, at a forward AD level.

    See https://pytorch.org/docs/stable/generated/torch.autograd.forward_ad.make_dual.html.
    """,
    wide=False,
)
hold_tangent = stateful(
    "hold_tangent(Tensor input, Tensor? tangent, Tensor level) -> ()",
    body=_hold,
    traced=False,
    doc="Set or remove the tangent of `input` itself at a forward AD level.",
    wide=False,
)
_identity = view(
    "dual_primal_view(Tensor(a) input) -> Tensor(a)",
    infer=lambda input: Meta(tuple(input.shape), input.dtype, input.strides, input.offset),
    vjp=lambda g: g,
    node="torch::autograd::Identity",
    namespace="-",
    outside=True,
    doc="The same tensor as a view, from which `dual_primal` removes the tangent.",
    stateful=True,
    dry_run=True,
    relative=True,
)
primal_of_dual = stateful(
    "dual_primal(Tensor input, Tensor level) -> Tensor",
    body=_primal,
    traced=False,
    doc="A view of `input` without its tangent at a forward AD level.",
    wide=False,
)
tangent_of_dual = stateful(
    "dual_tangent(Tensor input, Tensor level) -> Tensor",
    body=_tangent,
    traced=False,
    doc="The tangent of `input` at a forward AD level, not a copy; RuntimeError if it has none.",
    wide=False,
)


# -- levels of a thread ----------------------------------------------------------------------------


class Entered:
    """A level entered by this thread, with one token per session, made on first use.

    ``public``: entered by `enter_dual_level`, which does not nest.
    """

    def __init__(self, public: bool) -> None:
        self.public = public
        self.depth = len(state.entered)
        self._tokens: dict[Backend, Tensor] = {}
        state.entered = (*state.entered, self)

    def token(self, t: Tensor) -> Tensor:
        """The token of this level in the session of `t`."""
        backend: Backend = getattr(t.backend, "root", t.backend)
        found = self._tokens.get(backend)
        if found is None:
            with ambient(backend=backend):
                found = self._tokens[backend] = enter_level(depth=self.depth)
        return found

    def dual(self, primal: Tensor, tangent: Tensor) -> Tensor:
        """`primal` with a tangent at this level."""
        out: Tensor = _make_dual(lifted(primal), tangent, self.token(primal))
        return out

    def unpack(self, t: Tensor) -> UnpackedDualTensor:
        """`t` without its tangent at this level, and that tangent."""
        token = self.token(t)
        has = has_tangent(t, token._holds)
        return UnpackedDualTensor(primal_of_dual(t, token), tangent_of_dual(t, token) if has else None)

    def exit(self) -> None:
        """End the level in every session."""
        state.entered = tuple(e for e in state.entered if e is not self)
        for token in self._tokens.values():
            exit_level(token)


@contextmanager
def level() -> Iterator[Entered]:
    """A level for a transform; these nest, in each other and in `dual_level`."""
    entered = Entered(public=False)
    try:
        yield entered
    finally:
        entered.exit()


def _current() -> Entered | None:
    return next((e for e in state.entered if e.public), None)


def enter_dual_level() -> int:
    """Enter a level in which dual tensors can be made, and return its number.

    RuntimeError if one is already entered: they do not nest. See
    https://pytorch.org/docs/stable/generated/torch.autograd.forward_ad.enter_dual_level.html.
    """
    if _current() is not None:
        raise RuntimeError(NESTED)
    Entered(public=True)
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Exit the level and drop its tangents. RuntimeError unless `level` is the current one."""
    found = _current()
    if level is not None and level != (-1 if found is None else 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not "
            "supported."
        )
    if found is None:
        raise RuntimeError("Dual level must be a positive number.")
    found.exit()


@contextmanager
def dual_level() -> Iterator[int]:
    """A context (or decorator) for dual tensors, whose tangents end with it.

    See https://pytorch.org/docs/stable/generated/torch.autograd.forward_ad.dual_level.html.
    """
    level = enter_dual_level()
    try:
        yield level
    finally:
        exit_dual_level(level=level)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A view of `tensor` with `tangent`, a tensor of the same shape; both floating-point or complex.

    RuntimeError and ValueError as in PyTorch, AttributeError for non-tensors. See
    https://pytorch.org/docs/stable/generated/torch.autograd.forward_ad.make_dual.html.
    """
    found = _current()
    if (found is None and level is None) or (level is not None and level < 0):
        raise RuntimeError(NO_LEVEL)
    if found is None or level not in (None, 0):
        raise RuntimeError("Invalid level given to _make_dual")
    for given in (tensor, tangent):
        if not isinstance(given, Tensor):
            raise AttributeError(f"'{type(given).__name__}' object has no attribute 'is_floating_point'")
    return found.dual(tensor, tangent)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal and tangent of `tensor`; the tangent is None if it has none or no level is entered.

    See https://pytorch.org/docs/stable/generated/torch.autograd.forward_ad.unpack_dual.html.
    """
    found = _current()
    if found is None or (level is not None and level < 0):
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type(tensor).__name__}"
        )
    if level not in (None, 0):
        raise RuntimeError("Invalid level given to _fw_primal")
    return found.unpack(tensor)


def tangent_at_hand(tensor: Tensor) -> Tensor | None:
    """The tangent of `tensor`; None if it has none or no level is entered."""
    found = _current()
    if found is None or not LEVELS:
        return None
    token = found.token(tensor)
    return tangent_of_dual(tensor, token) if has_tangent(tensor, token._holds) else None


__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]
