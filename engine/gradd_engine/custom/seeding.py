"""The session's random stream, as steps: restarted, and taken back to where it was."""

from __future__ import annotations

from ..data import Meta, uint8
from ..data.state import state
from ..declare import op
from ..tensor import Tensor


def _seed(seed: int) -> None:
    if state.generator is not None:
        state.generator.manual_seed(seed)


manual_seed = op(
    "manual_seed(value int seed)",
    composite=_seed,
    traced=False,
    namespace="-",
    outside=True,
    doc="Restart the session's random stream; see torch.manual_seed.",
    stateful=True,
)


def _stored(like: Tensor) -> Tensor:
    token: Tensor = like.backend.empty(Meta((0,), uint8))
    if state.generator is not None:
        token._holds = (state.generator.seed, state.generator.step)
    return token


stored_rng = op(
    "stored_rng(Tensor like)",
    composite=_stored,
    traced=False,
    namespace="-",
    outside=True,
    doc="A token of where the session's random stream is, for `restore_rng`.",
    stateful=True,
)


def _restore(token: Tensor) -> Tensor:
    if token.dtype is not uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    now = _stored(token)
    if state.generator is not None and isinstance(token._holds, tuple):
        state.generator.seed, state.generator.step = token._holds
    return now


restore_rng = op(
    "restore_rng(Tensor token)",
    composite=_restore,
    traced=False,
    namespace="-",
    outside=True,
    doc="Take the session's random stream back to where `token` was made; gives a token of where it was.",
    stateful=True,
)
