"""The client's mirror: engine tensors over the meta backend, one backend a session.

It knows shapes, strides, dtypes, versions, graphs and which errors autograd will raise, without asking. What
it cannot know after a failure is *opaque* (`opaque`), and a state of it says so (`states`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from gradd_engine.backends.meta import MetaBackend
from gradd_engine.data import Meta, dtypes

if TYPE_CHECKING:
    from gradd_engine.data import DType
    from gradd_engine.tensor import Listener, Tensor


class MirrorHost(Protocol):
    """What a mirror asks of its session."""

    # A protocol's members have no code; `...` stands where a type checker would miss what is returned.

    def ready(self) -> None:
        """Make sure that the session can be used, and that the mirror agrees with it."""

    def upload(self, t: Tensor, array: Any, requires_grad: bool) -> None:
        """Record that `t` is made of the bytes of `array`, taken now."""

    def read(self, t: Tensor) -> Any:
        """The values of a tensor, fetched."""
        ...

    def blind(self) -> None:
        """The pass that runs reached a graph that the mirror cannot see."""


class MirrorBackend(MetaBackend):
    """The meta backend of one session; its listener hears what is run on it."""

    def __init__(self, session: MirrorHost, tensor_class: type[Tensor], listener: Listener) -> None:
        super().__init__("cpu", tensor_class, listener)
        self.session = session

    def from_array(self, array: Any, dtype: DType | None = None) -> Tensor:
        """A leaf of these numbers, also where the engine makes one (the list in ``x[[1, 0]]``)."""
        return self.leaf(array, dtype or dtypes.from_numpy(array.dtype))

    def leaf(self, array: Any, dtype: DType, requires_grad: bool = False) -> Tensor:
        """A leaf whose bytes are taken now: copied, to travel with the next batch, or sent ahead of it where
        they are many.
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
        """The values, fetched."""
        return self.session.read(t)
