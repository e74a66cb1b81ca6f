"""The client's mirror: engine tensors on the meta backend, one backend per session.

It knows shapes, strides, dtypes, versions, graphs and autograd's errors without asking the server. What it
cannot know after a failure is opaque (`opaque`), as its state says (`states`).
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from gradd_engine.backends.meta import MetaBackend, MetaStorage
from gradd_engine.data import Meta, dtypes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradd_engine.data import DType
    from gradd_engine.schema import InferCache, Op
    from gradd_engine.tensor import Listener, Node, Tensor


class MirrorHost(Protocol):
    """What a mirror needs of its session."""

    def ready(self) -> object:
        """Make sure that the session is usable, and that the mirror agrees with it."""

    def upload(self, t: Tensor, array: Any, requires_grad: bool) -> None:
        """Record that `t` is created from the bytes of `array`, taken now."""

    def read(self, t: Tensor) -> Any:
        """Fetch the values of a tensor."""

    def blind(self) -> None:
        """The running pass reached a graph that the mirror does not know."""


class MirrorBackend(MetaBackend):
    """The meta backend of one session, which is the listener to its ops."""

    def __init__(self, session: MirrorHost, tensor_class: type[Tensor], listener: Listener) -> None:
        super().__init__("cpu", tensor_class, listener)
        self.session = session
        #: the nodes of graphs that were lost sight of
        self.opaque: weakref.WeakSet[Node] = weakref.WeakSet()
        #: how often the op that runs, or ran last, has drawn from the random stream
        self.drawn = 0

    def run(
        self, op: Op, metas: Sequence[Meta], inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> list[Tensor]:
        """See MetaBackend.run."""
        self.drawn += op.random
        return super().run(op, metas, inputs, attrs)

    def run_plain(self, op: Op, known: InferCache, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Tensor:
        """See MetaBackend.run_plain."""
        if known.asks:
            self.drawn += op.random
        meta, storage = known.meta, MetaStorage(known.nbytes)
        return self.made(self, storage, meta.shape, meta.strides, 0, meta.dtype, None)

    def run_into(
        self, op: Op, target: Tensor, meta: Meta, inputs: tuple[Any, ...], attrs: dict[str, Any]
    ) -> None:
        """See MetaBackend.run_into."""
        self.drawn += op.random

    def from_array(self, array: Any, dtype: DType | None = None) -> Tensor:
        """A leaf of these numbers, also if created by the engine (the list in ``x[[1, 0]]``)."""
        return self.leaf(array, dtype or dtypes.from_numpy(array.dtype))

    def leaf(self, array: Any, dtype: DType, requires_grad: bool = False) -> Tensor:
        """A leaf whose bytes are taken now: copied for the next batch, or sent ahead of it if they are
        many.
        """
        if array.dtype != dtype.np:
            with np.errstate(all="ignore"):
                array = array != 0 if dtype is dtypes.bool_ else array.astype(dtype.np)
        self.session.ready()
        t = self.empty(Meta(tuple(array.shape), dtype))
        t._requires_grad = requires_grad
        self.session.upload(t, array, requires_grad)
        return t

    def to_numpy(self, t: Tensor) -> Any:
        """Fetch the values."""
        return self.session.read(t)
