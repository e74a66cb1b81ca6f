"""Where tensors and arrays share memory in PyTorch, and do not here: a warning says which write is lost.

https://pytorch.org/docs/stable/generated/torch.from_numpy.html, torch.Tensor.numpy.html beside it.
"""

from __future__ import annotations

import warnings
import weakref
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._exceptions import LostWriteWarning, line_of
from .sites import call_site, user_frame

if TYPE_CHECKING:
    from .._exceptions import Site

#: bytes of an array that are looked at
_SAMPLE = 1 << 14
#: what was warned of, for warnings that belong to a line that is over
_warned: dict[Any, Any] = {}


class _Taken(NamedTuple):
    """An array whose values a tensor took."""

    array: weakref.ref[Any]
    tensor: weakref.ref[Any]
    sum: int
    site: Site


def written_to(storage: Any) -> None:
    """A storage that gave an array of its values was written to: warn if the array is in use."""
    given, storage.given = storage.given(), None
    if given is None:
        return
    frame = user_frame()
    warnings.warn_explicit(
        "a tensor is written to while an array of its values is in use, which keeps the earlier ones: "
        "t.numpy() is a copy here (in PyTorch it shares the memory). Call numpy() again, or copy the "
        "array where the earlier values are meant.",
        LostWriteWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=frame.f_globals.get("__name__"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


class Sharing:
    """The arrays that a session's tensors took, while these are alive."""

    def __init__(self) -> None:
        #: since the last batch
        self.taken: list[_Taken] = []

    def take(self, t: Any, array: np.ndarray[Any, Any]) -> None:
        """`t` took the values of an array: `check` warns if it was written to until the next batch."""
        if array.flags.writeable and array.size:
            self.taken.append(_Taken(weakref.ref(array), weakref.ref(t), _sum(array), call_site()))

    def keep(self, t: Any) -> None:
        """`t` is moved to another device, where PyTorch's shares no memory either."""
        self.taken = [each for each in self.taken if each.tensor() is not t]

    def check(self) -> None:
        """A batch is sent: its tensors have the values that they took."""
        taken, self.taken = self.taken, []
        for array, tensor, before, site in taken:
            now, t = array(), tensor()
            if now is None or t is None or _sum(now) == before:
                continue
            file, line = line_of(site)
            warnings.warn_explicit(
                "the array was written to after a tensor took its values, which keeps the earlier ones: "
                "from_numpy() and as_tensor() copy here (in PyTorch they share the memory). Make the tensor "
                "after the write.",
                LostWriteWarning,
                file,
                line,
                registry=_warned,
            )


def _sum(array: np.ndarray[Any, Any]) -> int:
    """A checksum of an array, or of a sample of a large one."""
    every = 1 + array.nbytes // _SAMPLE
    return zlib.crc32((array.flat[::every] if every > 1 else array).tobytes())
