"""Parameters as one vector, and back (torch.nn.utils.convert_parameters)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradd_engine.graph import no_grad

from ..._surface import namespace
from ..._tensor import Tensor, type_name

__all__ = ["parameters_to_vector", "vector_to_parameters"]

_TOP = namespace("")


def parameters_to_vector(parameters: Iterable[Tensor]) -> Any:
    """All elements as one vector."""
    return _TOP["cat"]([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Tensor]) -> None:
    """Write the elements of one vector into the parameters; TypeError if it is no tensor."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type_name(vec)}")
    given: Any = vec
    at = 0
    with no_grad():
        for p in parameters:
            n = p.numel()
            p.copy_(given[at : at + n].view(p.shape))
            at += n
