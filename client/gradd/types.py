"""Names for annotations (torch.types)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import IO, TypeAlias

from gradd_engine.data import Device as _device
from gradd_engine.data import DType as _dtype
from gradd_engine.data import MemoryFormat, Size

from ._tensor import Tensor

__all__ = ["Device", "FileLike", "Number"]

_size: TypeAlias = Size | list[int] | tuple[int, ...]
_bool, _int, _float, _complex = bool, int, float, complex
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_memory_format = MemoryFormat
#: a Python number that operations take
Number: TypeAlias = int | float | bool
#: what names a device
Device: TypeAlias = _device | str | int | None
#: what `save` and `load` take
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
_dtypes: TypeAlias = _dtype
