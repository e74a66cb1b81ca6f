"""Kernels in CUDA C++ on the stand-in: the same source as host code, with its bounds checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.cuda import host

from .array import Array
from .counting import launch
from .graphs import writing
from .wrapping import bare

#: whether blocks and threads run backwards: what differs then depends on their order
ORDER = {"turned": False}


class RawKernel:
    """``cupy.RawKernel`` of a module."""

    def __init__(self, code: str, names: tuple[str, ...], name: str) -> None:
        self._code, self._names, self._name = code, names, name

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any]) -> None:
        assert block[1:] == (1, 1), "the shim knows threads of one dimension"
        # what is not of the device is passed by value
        args = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
        self._start(grid, block, args)

    @writing
    def _start(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any]) -> None:
        launch(self._name.partition("<")[0])
        given = [bare(x) if isinstance(x, Array) else x for x in args]
        host.built(self._code, self._names).launch(self._name, grid, block[0], given, ORDER["turned"])


class RawModule:
    """``cupy.RawModule`` by source."""

    def __init__(
        self,
        *,
        code: str,
        options: Sequence[str] = (),
        name_expressions: Sequence[str] = (),
        backend: str = "",
    ) -> None:
        assert any(o.startswith(("-std=c++", "--std=c++")) for o in options), "templates need -std"
        self._code, self._names = code, tuple(name_expressions)

    def get_function(self, name: str) -> RawKernel:
        """A kernel by one of the expressions."""
        assert name in self._names, f"{name} is none of {self._names}"
        return RawKernel(self._code, self._names, name)
