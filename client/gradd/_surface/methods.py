"""Attaches more methods to `Tensor`, once, when `gradd` is imported."""

from __future__ import annotations

from gradd_engine.data import read_only

from .._tensor import Tensor, TensorType
from .creation import made, reduced
from .exchange import EXCHANGE
from .facts import METHODS, PROPERTIES
from .generator import drawing_methods
from .overridable import prepare
from .sparse_methods import SPARSE
from .storages import MEMORY
from .typed_storages import TYPED


def attach() -> None:
    """Give `Tensor` the methods that need the current session, and the queries of `facts`."""
    TensorType.make = made
    Tensor.__reduce_ex__ = reduced  # type: ignore[assignment]
    members = {**METHODS, **MEMORY, **TYPED, **PROPERTIES, **EXCHANGE, **SPARSE, **drawing_methods()}
    for name, member in members.items():
        setattr(Tensor, name, member)
    read_only(Tensor, *PROPERTIES, "is_cuda")
    prepare()
