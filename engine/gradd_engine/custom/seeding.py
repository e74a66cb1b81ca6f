"""The session's random stream: seeding, storing and restoring its position."""

from __future__ import annotations

from ..backward import dry_run
from ..data import Meta, state, uint8
from ..declare import stateful
from ..schema import Histories, StreamUse
from ..tensor import Tensor


def _seed(seed: int) -> None:
    if state.generator is not None:
        state.generator.manual_seed(seed)


manual_seed = stateful(
    "manual_seed(value int seed) -> ()",
    body=_seed,
    traced=False,
    doc="Restart the session's random stream (torch.manual_seed).",
    dry_run=dry_run.nothing,
    stream=StreamUse.SEEDS,
    wide=False,
    histories=Histories.NONE,
)


def _stored(like: Tensor) -> Tensor:
    token: Tensor = like.backend.empty(Meta((0,), uint8))
    if state.generator is not None:
        token._holds = (state.generator.seed, state.generator.step)
    return token


stored_rng = stateful(
    "stored_rng(Tensor like) -> Tensor",
    body=_stored,
    traced=False,
    doc="A token of the random stream's position, for `restore_rng`.",
    stream=StreamUse.STORES,
    wide=False,
    histories=Histories.NONE,
)


def _restore(token: Tensor) -> Tensor:
    if token.dtype is not uint8:
        raise TypeError("RNG state must be a torch.ByteTensor")
    now = _stored(token)
    if state.generator is not None and isinstance(token._holds, tuple):
        state.generator.seed, state.generator.step = token._holds
    return now


restore_rng = stateful(
    "restore_rng(Tensor token) -> Tensor",
    body=_restore,
    traced=False,
    doc="Set the random stream back to the position of `token`; returns a token of the position before.",
    stream=StreamUse.RESTORES,
    wide=False,
    histories=Histories.NONE,
)
