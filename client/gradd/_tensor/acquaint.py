"""Makes tensors known to einops, which asks the backends that it finds.

https://einops.rocks/; a backend is a subclass of its `AbstractBackend`.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from gradd_engine.data import FLOAT
from gradd_engine.schema import named

from .tensor import Tensor

#: the backend, once there is one
_made: list[type] = []


def acquaint() -> None:
    """Give einops a backend for tensors, if it is imported and has none yet."""
    if "einops" in sys.modules and not _made:
        _made.append(_backend(importlib.import_module("einops._backends").AbstractBackend))


def _backend(base: Any) -> type:
    class GraddBackend(base):  # type: ignore[misc]  # of a library that may not be there
        """einops' operations on tensors."""

        framework_name = "gradd"

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, Tensor)

        def from_numpy(self, x: Any) -> Any:
            return importlib.import_module("gradd").from_numpy(x)

        def to_numpy(self, x: Any) -> Any:
            return x.detach().numpy()

        def arange(self, start: int, stop: int) -> Any:
            return importlib.import_module("gradd").arange(start, stop)

        def shape(self, x: Any) -> tuple[int, ...]:
            return tuple(x.shape)

        def reshape(self, x: Any, shape: Any) -> Any:
            return named.reshape(x, list(shape))

        def transpose(self, x: Any, axes: Any) -> Any:
            return named.permute(x, list(axes))

        def reduce(self, x: Any, operation: str, axes: Any) -> Any:
            if operation in ("prod", "any", "all"):
                for a in sorted(axes, reverse=True):
                    x = getattr(x, operation)(a)
                return x
            how = {"min": "amin", "max": "amax"}.get(operation, operation)
            return getattr(x, how)(tuple(axes))

        def stack_on_zeroth_dimension(self, tensors: Any) -> Any:
            return named.stack(list(tensors), 0)

        def add_axis(self, x: Any, new_position: int) -> Any:
            return named.unsqueeze(x, new_position)

        def add_axes(self, x: Any, n_axes: int, pos2len: dict[int, int]) -> Any:
            sizes = [-1] * n_axes
            for place, length in pos2len.items():
                x = self.add_axis(x, place)
                sizes[place] = length
            return x.expand(*sizes)

        def tile(self, x: Any, repeats: Any) -> Any:
            return x.repeat(*repeats)

        def concat(self, tensors: Any, axis: int) -> Any:
            return named.cat(list(tensors), axis)

        def is_float_type(self, x: Any) -> bool:
            return bool(x.dtype.category == FLOAT)

        def einsum(self, pattern: str, *x: Any) -> Any:
            return importlib.import_module("gradd").einsum(pattern, *x)

    return GraddBackend
